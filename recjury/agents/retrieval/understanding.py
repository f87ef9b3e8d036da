"""What a conversation says about the user's taste, read with rules."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.words import content_words
from recjury.records import Conversation, Speaker, Turn

_FADING = 0.75  # how much less each earlier user turn counts
_SYSTEM_WEIGHT = 0.2  # what a system says is about the user's taste only at second hand

_NEGATION = re.compile(
    r"\b(?:not|no|never|without|except|hate[ds]?|dislike[ds]?|avoid|tired of|sick of|bored of|"
    r"nothing|isn['’]?t|wasn['’]?t|don['’]?t|didn['’]?t|doesn['’]?t|can['’]?t stand|"
    r"couldn['’]?t|wouldn['’]?t|won['’]?t)\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:don['’]?t|do not|didn['’]?t|not) (?:know|mind|sure|only|remember|matter)|"
    r"\bno (?:problem|idea|preference|matter|wonder)|\bwhy not|\bnever (?:seen|saw|heard)|"
    r"\bhave(?:n['’]?t| not) (?:seen|heard)|\bnot (?:too|very|so) (?:sure|picky)",
    re.IGNORECASE,
)
_SCOPE_END = re.compile(r"[.;!?\n]|\bbut\b|\bjust\b|\bthough\b", re.IGNORECASE)
_SEEN = re.compile(
    r"\b(?:already (?:seen|saw|watched|know)|(?:i['’]?ve|have|i) (?:seen|watched)|saw)\b",
    re.IGNORECASE,
)
_TURNED_DOWN = re.compile(
    r"\b(?:something|anything|someone) (?:else|different)|\bany (?:other|more)s?\b|"
    r"\bnot (?:really |quite )?(?:for me|my (?:thing|taste|cup)|interested|what i)|"
    r"\bno,? thank|\b(?:seen|saw|watched) (?:it|that|them|those|these|both|all|one)|"
    r"\b(?:didn['’]?t|don['’]?t) (?:really )?(?:like|enjoy|want|care for) (?:it|that|them|those)|"
    r"^\s*(?:no|nope|nah|hmm)\b",
    re.IGNORECASE,
)
_ASKS_ABOUT = re.compile(
    r"\btell me (?:more|a bit|something|about)|\bwhat(?:['’]s| is| are|s) (?:it|that|this|they|the"
    r" (?:plot|story)|[\w\s:'’()-]{1,60} about)|\bmore about\b|\bintroduce\b|\bwho (?:directed|"
    r"stars|starred|plays|played|wrote|made|is in|acts|acted)|\bwhen (?:was|did)|"
    r"\bdo you know (?!any|some|of any|a\b|what|if|more|other)|"
    r"\bhave you (?:seen|heard)|\bdescribe\b|\bhow (?:is|was) (?:it|that)\b|"
    r"\bwhat do you think (?:of|about)\b|\bsounds? (?:interesting|good|great|intriguing|perfect)",
    re.IGNORECASE,
)


@dataclass
class Understanding:
    """What was understood. Items are row numbers of the library, weights are at most 1.

    `words` and `wanted` (attributes by folded name) describe the wish, `unwanted` what it is
    not. `liked` are items the user named without turning them down; `recommended` those that a
    system named, in order; `rejected` those the user turned down or has seen. `asked_about` is
    the item the last user turn wants to hear about, `declined` whether that turn turned
    something down. `questions` counts system turns that asked
    without naming an item.
    """

    words: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    wanted: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    unwanted: set[str] = field(default_factory=set)
    liked: dict[int, float] = field(default_factory=dict)
    recommended: list[int] = field(default_factory=list)
    rejected: set[int] = field(default_factory=set)
    asked_about: int | None = None
    declined: bool = False
    questions: int = 0

    @property
    def is_vague(self) -> bool:
        """Whether nothing was said that an item could be chosen by."""
        return not (self.words or self.wanted or self.liked)


def understand(conversation: Conversation, library: Library) -> Understanding:
    """Read all turns in order; later ones weigh more."""
    found = Understanding()
    users = sum(turn.speaker is Speaker.USER for turn in conversation.turns)
    offered: list[int] = []
    for turn in conversation.turns:
        if turn.speaker is Speaker.USER:
            users -= 1
            _hear(found, library, turn.text, _FADING**users, offered)
        else:
            offered = _recall(found, library, turn)
    return found


def _recall(found: Understanding, library: Library, turn: Turn) -> list[int]:
    """What a system turn named; a turn that names nothing keeps the floor with a question."""
    named = [library.rows[mention.id] for mention in library.catalogue.link(turn.text)]
    found.recommended += [row for row in named if row not in found.recommended]
    found.questions += not named and "?" in turn.text
    if not named:
        for mention in library.attribute_mentions(turn.text):
            found.wanted[mention.id] = max(found.wanted[mention.id], _SYSTEM_WEIGHT)
    return named


def _hear(
    found: Understanding, library: Library, text: str, weight: float, offered: list[int]
) -> None:
    refused = _negative_spans(text)
    titles = library.catalogue.link(text)
    named = [library.rows[mention.id] for mention in titles]
    found.asked_about = _asked_about(text, named, offered)
    refuses = found.asked_about is None and _TURNED_DOWN.search(text) is not None
    if refuses:
        found.rejected.update(row for row in offered if row not in named)
    found.declined = refuses and bool(offered)
    for mention, row in zip(titles, named, strict=True):
        negative = _inside(mention.start, refused)
        found.declined |= negative
        if negative or _is_seen(text, mention.start):
            found.rejected.add(row)
        if not negative:
            found.liked[row] = max(weight, found.liked.get(row, 0.0))
    taken = [(mention.start, mention.end) for mention in titles]
    for mention in library.attribute_mentions(text):
        if _inside(mention.start, taken):
            continue
        _take_attribute(found, mention.id, weight, wanted=not _inside(mention.start, refused))
        if "genre" not in library.attributes[mention.id].rows:
            taken.append((mention.start, mention.end))
    for word in content_words(text):
        if library.knows(word) and not _inside(word.start, refused + taken):
            found.words[str(word)] = max(weight, found.words[word])


def _take_attribute(found: Understanding, name: str, weight: float, *, wanted: bool) -> None:
    """The latest word on an attribute counts."""
    if wanted:
        found.wanted[name] = max(weight, found.wanted[name])
        found.unwanted.discard(name)
    else:
        found.unwanted.add(name)
        found.wanted.pop(name, None)


def _negative_spans(text: str) -> list[tuple[int, int]]:
    """From each negation to the end of what it is about."""
    harmless = [match.span() for match in _HARMLESS.finditer(text)]
    spans = []
    for match in _NEGATION.finditer(text):
        if not _inside(match.start(), harmless):
            end = _SCOPE_END.search(text, match.end())
            spans.append((match.start(), end.start() if end else len(text)))
    return spans


def _is_seen(text: str, start: int) -> bool:
    """Whether the sentence up to `start` says that what follows was seen."""
    begin = max((match.end() for match in _SCOPE_END.finditer(text, 0, start)), default=0)
    return _SEEN.search(text, begin, start) is not None


def _asked_about(text: str, named: list[int], offered: list[int]) -> int | None:
    if not _ASKS_ABOUT.search(text):
        return None
    return named[-1] if named else offered[0] if offered else None


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)
