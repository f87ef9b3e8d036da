"""What the rule user understands of a system's turn: items, questions, repetition, nonsense."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from recjury.knowledge import Catalogue
from recjury.records import Domain, Speaker, Turn, UserContext
from recjury.simulator.own_words import without_titles

Question = Literal[
    "done", "more", "direction", "liked", "well", "category", "era", "cast", "maker", "other"
]

_QUESTION = re.compile(r"[^.!?\n]*\?")
_LONGEST_READ = 2000
# What stands before an item to which a suggestion is compared ("as well as Heat").
_COMPARED = re.compile(r"\b(?:like|as well as|similar to|than)\s+\W?$", re.IGNORECASE)
# What a text tells of an item, by the words that tell it.
Topic = Literal["age", "people", "fit", "story"]
_TELLS: Mapping[Topic, str] = {
    "age": r"\b(?:1[89]|20)\d\d\b|\bcame out\b|\bold\b|\brecent\b",
    "people": r"\b(?:directed|star(?:s|ring|red)?|wrote|written by|is in it|actors?|director)\b",
    "fit": r"\b(?:you (?:asked|wanted|said|like)|because|my reason|mainly this|for you)\b",
    "story": r"\b(?:story|about|plot|follows|genre|counts as)\b",
}
# The same word on both sides ("tense and tense"), or again behind a verb ("music is music").
_SAME_TWICE = re.compile(
    r"\b(?P<all>(?:(?:a|an|the|and|his|it is|is|one) )*"
    r"(?P<word>(?!more\b|again\b|over\b|very\b|two\b|years?\b|day\b)"
    r"[a-z]{3,})(?:,)? "
    r"(?:and|or|but|is|and it is|and it is a|and a|and the|of) (?:(?:a|an|the|very|also|still) )*"
    r"(?P=word))\b(?! (?:again|by))",
    re.IGNORECASE,
)
# Words that end no sentence, and that no noun or verb follows.
_BROKEN = re.compile(
    r"\b(?:a|an|the|of|with|and|or|without|his|very|who|that|about)[.!?](?:\s|$)|"
    r"\b(?:the|a|an) (?:the|a|an|and|or|is|of)\b|\b(?:may|can|will|to) \w+s (?:a|the)\b|"
    r"\b(?:one|a|an) (?:\w+ ){1,2}who (?:have|become|are)\b|\b(?:two|three) (?:young )?"
    r"(?!people|men|women|children)[a-rt-z]+[.,]|\bwho is (?:wonderful )?music\b|"
    r"\bwithout any new\b|, which very\b",
    re.IGNORECASE,
)
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


Closing = Literal["would", "sounds", ""]
_CLOSING: Mapping[Closing, str] = {
    "would": r"\bwould you (?:watch|read|try|like|listen|go|take|play)\b",
    "sounds": r"\b(?:does|do|is|are) (?:that|it|this|these|those|they|one|any)\b|\bsound\b",
}


class ReadTurn(NamedTuple):
    """What was understood of the system's last turn.

    `named` are the items that its text names, in order, without those to which it compares others;
    `questions` what it asks, in the order in
    which the user answers; `repeated` says that it gave the same text before, `template` that it
    did so with other titles in it. `topics` are what it tells, `garbled` is a part of it that makes
    no sense, or "-" where there is none to quote; `closing` is the kind of question with which it
    ends, `told` what it says without titles and questions.
    """

    named: tuple[str, ...]
    questions: tuple[Question, ...]
    repeated: bool
    words: int
    template: bool = False
    topics: frozenset[Topic] = frozenset()
    garbled: str = ""
    asks_only: bool = False
    closing: Closing = ""
    told: str = ""


def hear(context: UserContext, catalogue: Catalogue, domain: Domain) -> ReadTurn:
    """Understand the system's last turn; it must have spoken."""
    turns = [turn.text for turn in context.interaction if turn.speaker is Speaker.SYSTEM]
    return hear_turn(turns[-1], turns[:-1], catalogue, domain)


def hear_turn(text: str, earlier: Sequence[str], catalogue: Catalogue, domain: Domain) -> ReadTurn:
    """Understand a text of the system, which has said the `earlier` ones before."""
    mentions = catalogue.link(text)
    meant = [each for each in mentions if not _COMPARED.search(text[: each.start])]
    named = dict.fromkeys(mention.id for mention in meant or mentions)
    bare = without_titles(text, catalogue)
    told = _QUESTION.sub("", bare)
    return ReadTurn(
        named=tuple(named),
        questions=_questions(text, domain),
        repeated=any(_same(text) == _same(each) for each in earlier),
        words=len(text.split()),
        template=any(_same(bare) == _same(without_titles(each, catalogue)) for each in earlier),
        topics=frozenset(
            topic for topic, words in _TELLS.items() if re.search(words, told, re.IGNORECASE)
        ),
        garbled=_garbled(told),
        closing=_closing(text),
        told=told,
        asks_only="?" in text and not named and not re.search(r"\w", told),
    )


def _closing(text: str) -> Closing:
    last = re.search(r"[^.!?\n]*\?\s*$", text)
    asked = last.group() if last else ""
    found = (kind for kind, words in _CLOSING.items() if re.search(words, asked, re.IGNORECASE))
    return next(found, "")


def _garbled(text: str) -> str:
    twice = _SAME_TWICE.search(text)
    if twice is not None:
        return twice["all"][twice.start("word") - twice.start("all") :].strip()
    return "-" if _BROKEN.search(text) else ""


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


def answers(question: str, heard: ReadTurn) -> bool:
    """Whether a turn tells the topic that a question of the user is about."""
    asked: Topic = "story"
    if re.search(r"\b(?:who|author\w*|wrote|director|actors?)\b", question, re.IGNORECASE):
        asked = "people"
    elif re.search(r"\b(?:when|old|year|long)\b", question, re.IGNORECASE):
        asked = "age"
    return asked in heard.topics
