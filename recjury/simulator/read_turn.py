"""What the rule user understands of a system's turn: items, questions, and repetition."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from recjury.knowledge import Catalogue
from recjury.records import Domain, Speaker, Turn, UserContext

Question = Literal[
    "done", "more", "direction", "liked", "well", "category", "era", "cast", "maker", "other"
]

_QUESTION = re.compile(r"[^.!?\n]*\?")
_LONGEST_READ = 2000
_ASKS: Mapping[Question, str] = {
    "done": r"\b(?:have|did|do) you (?:ever )?(?:seen|see|read|watched|watch|heard|tried|know)\b|"
    r"\bseen (?:it|any|that|them|those)\b",
    "more": r"\b(?:tell|know|hear|say) (?:you )?(?:a (?:bit|little) )?more\b|\bwhich one shall\b",
    "direction": r"\b(?:right direction|appeal|sound (?:like|good|interesting)|"
    r"what do you think|would you (?:watch|read|try|like)(?: (?:it|that|to))|interested|"
    r"how does that|do you like (?:it|that))\b",
    "liked": r"\b(?:(?:film|movie|book|song|title|one)s? (?:that )?(?:you|have) (?:\w+ )?"
    r"(?:liked?|enjoyed?|loved?|stayed)|stayed with you|favou?rite (?:film|movie|book|song)|"
    r"which films|name a (?:film|movie|book)|(?:seen|watched|read) (?:lately|recently))\b",
    "well": r"\bhow are you\b|\bhow(?:'s| is) it going\b",
}
_ERA = re.compile(
    r"\b(?:era|years?|decades?|older?|newer?|recent|period|classics?)\b", re.IGNORECASE
)
_CATEGORY = re.compile(
    r"\b(?:genres?|kinds?|types?|sort|mood|style|light|serious|looking for|prefer|"
    r"what (?:do|would) you like)\b",
    re.IGNORECASE,
)


class ReadTurn(NamedTuple):
    """What was understood of the system's last turn.

    `named` are the items that its text names, in order; `questions` what it asks, in the order in
    which the user answers; `repeated` says that it gave the same text before.
    """

    named: tuple[str, ...]
    questions: tuple[Question, ...]
    repeated: bool
    words: int


def hear(context: UserContext, catalogue: Catalogue, domain: Domain) -> ReadTurn:
    """Understand the system's last turn; it must have spoken."""
    turns = [turn for turn in context.interaction if turn.speaker is Speaker.SYSTEM]
    text = turns[-1].text
    named = dict.fromkeys(mention.id for mention in catalogue.link(text))
    return ReadTurn(
        named=tuple(named),
        questions=_questions(text, domain),
        repeated=any(_same(text) == _same(turn.text) for turn in turns[:-1]),
        words=len(text.split()),
    )


def named_before(turns: tuple[Turn, ...], catalogue: Catalogue) -> frozenset[str]:
    """The items that these turns name."""
    return frozenset(mention.id for turn in turns for mention in catalogue.link(turn.text))


def _questions(text: str, domain: Domain) -> tuple[Question, ...]:
    asked = " ".join(_QUESTION.findall(text[-_LONGEST_READ:]))
    if not asked:
        return ()
    found: list[Question] = [
        kind for kind, words in _ASKS.items() if re.search(words, asked, re.IGNORECASE)
    ]
    for attribute in domain.attributes:
        words = "|".join(map(re.escape, (attribute.word, attribute.words, *attribute.asked)))
        if re.search(rf"\b(?:{words})\b", asked, re.IGNORECASE):
            is_other = bool(attribute.by) and attribute.kind == "category"
            found.append("other" if is_other else attribute.kind)
    found += ["era"] if _ERA.search(asked) else []
    found += ["category"] if _CATEGORY.search(asked) else []
    return tuple(dict.fromkeys(found)) or ("other",)


def _same(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
