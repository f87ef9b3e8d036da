"""What the person of a history said of its items: which it named, has not seen, and has chosen."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from recjury.knowledge import Catalogue
from recjury.records import Speaker, Turn
from recjury.simulator.own_words import without_titles

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_UNSEEN = re.compile(
    r"\b(?:(?:have|had|did)(?:n['’]?t| not|nt)|never|not yet|neither|none of (?:them|those))\b"
    r"[^.!?]{0,30}\b(?:seen|see|saw|watch(?:ed)?|read|heard)\b|"
    r"\b(?:not familiar|don['’]?t know (?:it|that|them|those)|never heard|"
    r"(?:i )?ha(?:ve|d)(?:n['’]?t| not|nt)\W*$)",
    re.IGNORECASE,
)
_NOT = re.compile(r"^\W*(?:no|nope|nah|not yet|never(?! again))\b", re.IGNORECASE)
_SEEN = re.compile(
    r"\b(?:i(?:['’]?ve| have| did)? (?:(?:already|just|actually|only) )?(?:saw|seen?|watched|read) "
    r"(?:it|that|this|them|those|these|both|all)|(?:what|which|the one) i saw|"
    r"already (?:seen|saw))\b",
    re.IGNORECASE,
)
_ASKS_SEEN = re.compile(
    r"\b(?:have|did|do) (?:you|u) (?:ever |already )?(?:seen|see|watched|watch|read|heard|know)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:tell me|let me know|what about|how about|(?:can|could|would|do|have) you)\b",
    re.IGNORECASE,
)
_WILL = (
    r"\b(?:i(?:['’]?ll| will| might| may| can| should| could|['’]?m going to| am going to)|"
    r"we(?:['’]?ll| will)|let me)"
)
_TAKE = r"(?:watch|read|try|check|go with|take|look|add|put|give|see|rent|get)\b(?! not\b)"
_CHOOSES = (
    rf"(?:{_WILL} (?:(?!(?:not|never|hardly|no)\b)\w+ ){{0,2}}?{_TAKE}|"
    r"\b(?:sounds?|looks?) (?:like )?(?:really |very |pretty |so |a )?(?:fun|good|great|perfect|"
    r"nice|interesting|intriguing|lovely|cool|amazing|awesome)\b|"
    r"\bthat(?:['’]?s| is| was)? (?:exactly|settle[sd])\b|"
    r"\b(?:will do|on my list|time to fill)\b)"
)
_CHOICE = re.compile(_CHOOSES, re.IGNORECASE)
_REFUSED_CHOICE = re.compile(
    r"\b(?:(?<!why )not|never|hardly|doubt|neither|nothing|none of (?:them|those|these)|no way|"
    r"(?:do|does|did|is|are|wo|would|could|should)n['’]?t) "
    r"(?:(?:think|thought|say|believe|suppose|sure|certain|know (?:if|whether)|that|if|whether|it|"
    r"i['’]?d|this|these|those|them|they|one|really|very|too|all|particularly|quite|even|"
    r"exactly) ){0,4}"
    rf"{_CHOOSES}|"
    rf"(?:{_WILL} (?:\w+ )?(?:not|never|hardly)|\b(?:i|we) won['’]?t) "
    rf"(?:(?:be|ever|even|actually|really|probably|want|bother|to) ){{0,3}}{_TAKE}",
    re.IGNORECASE,
)
_TURNS_DOWN = re.compile(
    r"(?:\bnot|n['’]?t) (?:(?:exactly|really|quite|so|at all|much|that) ){0,2}"
    r"(?:my|for me|into|interested|a fan|in the mood)\b|"
    r"\b(?:do|did|does)(?:n['’]?t| not) (?:\w+ )?(?:like|care|enjoy|think so)\b",
    re.IGNORECASE,
)
_THANKS = re.compile(r"\b(?:thanks?|thank you|thx|good ?bye|bye|enjoy your)\b", re.IGNORECASE)
_WANTS_MORE = re.compile(
    r"\?|\b(?:but (?!it\b|that\b|i (?:never|haven['’]?t|have not)\b)|else|another|other|"
    r"more|looking|instead|anything|something|any|want|need|prefer|suggest|recommend)\b",
    re.IGNORECASE,
)


class PastItems(NamedTuple):
    """What the person said of the items of a history, by id.

    `named` are those that it named itself, `seen` those of them that it knows, `unseen` those that
    it does not know yet, `chosen` those that it means to watch or read. `settled` tells that the
    history ends with such a choice, or with thanks for a suggestion, and with no further wish.
    """

    named: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()
    settled: bool = False


def past_items(history: Sequence[Turn], catalogue: Catalogue) -> PastItems:
    """Read what the person says of the items that it names, or that were named last before."""
    reader = _Reader(catalogue)
    settled = False
    for turn in history:
        if turn.speaker is Speaker.USER:
            settled = reader.read(turn.text)
        else:
            reader.hear(turn.text)
    unseen = reader.unseen - reader.seen
    return PastItems(
        named=frozenset(reader.named),
        seen=frozenset(reader.seen),
        unseen=frozenset(unseen),
        chosen=frozenset(reader.chosen - reader.seen),
        settled=settled,
    )


class _Reader:
    """Reads the turns of a history in order."""

    def __init__(self, catalogue: Catalogue):
        self._catalogue = catalogue
        self._recent: list[str] = []
        self._asked: list[str] = []  # whether it has seen these was the last question
        self.named: set[str] = set()
        self.seen: set[str] = set()
        self.unseen: set[str] = set()
        self.chosen: set[str] = set()

    def hear(self, text: str) -> None:
        """Take a turn of the system."""
        named = self._linked(text)
        self._asked = named if _ASKS_SEEN.search(text) else []
        self._recent = named

    def read(self, text: str) -> bool:
        """Take a turn of the person; whether it settles on something."""
        if _NOT.match(text) and not _SEEN.search(text):
            self.unseen.update(self._asked)
        chosen = refused = False
        about = bool(self._recent)
        for match in _SENTENCE.finditer(text):
            sentence = match.group()
            named = self._linked(sentence)
            self.named.update(named)
            items = named or self._recent
            bare = without_titles(sentence, self._catalogue)
            asks = bare.rstrip().endswith("?") or _ASKS.search(bare) is not None
            kept = _REFUSED_CHOICE.sub(";", bare)
            chooses = _CHOICE.search(kept) is not None and not asks
            if _UNSEEN.search(bare) and not (named and "others" in bare):
                self.unseen.update(items)
            elif not asks and not chooses and kept == bare:
                self.seen.update(named)
            if chooses:
                self.chosen.update(items)
            chosen = chosen or chooses
            refused = refused or kept != bare or _turns_down(bare)
            self._recent = items
        rest = without_titles(text, self._catalogue)
        if not about or _WANTS_MORE.search(rest):
            return False
        return chosen or (_THANKS.search(rest) is not None and not refused)

    def _linked(self, text: str) -> list[str]:
        return list(dict.fromkeys(mention.id for mention in self._catalogue.link(text)))


def _turns_down(sentence: str) -> bool:
    """Whether it refuses a suggestion, or says that it was seen before."""
    return _TURNS_DOWN.search(sentence) is not None or _SEEN.search(sentence) is not None
