"""Extracts the user's preferences from a conversation with rules."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.words import content_words, plain_words
from recjury.knowledge import FILM
from recjury.knowledge.spoken_wishes import SpokenWish, inside
from recjury.records import Conversation, Domain, Speaker, Turn

_FADING = 0.75  # factor by which each earlier user turn counts less
_SYSTEM_WEIGHT = 0.2  # a system turn is only indirect evidence of the user's taste

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
_IT = re.compile(r" (?:it|that|them|those|these|both|all|one)\b", re.IGNORECASE)
_ASKS_ABOUT = re.compile(
    r"\btell me (?:more|a bit|a little|something|about)|\bmore about\b|\bintroduce\b|"
    r"\bwhat(?:['’]s| is| are|s) (?:it|that|this|they|the (?:plot|story|mood|best)|so good|"
    r"[\w\s:'’()-]{1,60} (?:about|like(?=\s*(?:[?!.]|$)))\b)|\bwhat happens in\b|"
    r"\bwhat should i expect\b|"
    r"\bwho (?:directed|stars|starred|plays|played|wrote|made|is in|acts|acted|else is)|"
    r"\bwhen (?:was|did)|\bhow long has it\b|"
    r"\bdo you know (?!any|some|of any|a\b|what|if|more|other)|"
    r"\bhave you (?:seen|heard)|\bdescribe\b|\bhow (?:is|was) (?:it|that|the mood)\b|"
    r"\bwhat (?:do you|did people) think (?:of|about)\b|\bwhat else should i know\b|"
    r"\banything i should know\b|\bcompare it to\b|\bwhat makes (?:it|that|this|you think)\b|"
    r"\bwhy (?:do you think|would i|would you pick|should i|that|this|it)\b|"
    r"\bwould you (?:watch|read|try|buy|pick|listen to) it\b|\bis there [^?]{1,40} in it\b|"
    r"\b(?:is|does|would you say) it(?:['’]s)? (?:slow|something for|move|end well|more serious)|"
    r"\bsounds? (?:interesting|good|great|intriguing|perfect|promising|right|like a good idea)",
    re.IGNORECASE,
)


# Only of an item that the text names: "what about a comedy?" asks for something else.
_ASKS_ABOUT_NAMED = re.compile(
    r"\bwhat about\b|\b(?:hear|asking|a word) about\b|\bstay with\b|\binterested in\b",
    re.IGNORECASE,
)


@dataclass
class Understanding:
    """The extracted preferences. Items are row numbers of the library; weights are at most 1.

    `words`, `wanted` (attributes by folded name) and `years` (first and last) describe the wish;
    `unwanted` has attributes that the user does not want. `liked` are items that the user named
    without rejecting them; `recommended` those that a system named, in order; `rejected` those that
    the user rejected or has seen. `asked_about` is the item about which the last user turn asks.
    `declined` tells whether that turn rejects the items just offered. `questions` counts the
    system turns that asked without naming an item. `domain` is what the user looks for, if it is
    known.
    """

    words: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    wanted: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    years: dict[tuple[int, int], float] = field(default_factory=dict)
    unwanted: set[str] = field(default_factory=set)
    liked: dict[int, float] = field(default_factory=dict)
    recommended: list[int] = field(default_factory=list)
    rejected: set[int] = field(default_factory=set)
    asked_about: int | None = None
    declined: bool = False
    questions: int = 0
    domain: Domain | None = None

    @property
    def is_vague(self) -> bool:
        """Whether the user has stated no preference by which an item could be chosen."""
        return not (self.words or self.wanted or self.years or self.liked)


def understand(conversation: Conversation, library: Library) -> Understanding:
    """Read all turns in order; later turns have a higher weight."""
    found = Understanding(domain=_domain(conversation, library))
    users = sum(turn.speaker is Speaker.USER for turn in conversation.turns)
    offered: list[int] = []
    for turn in conversation.turns:
        if turn.speaker is Speaker.USER:
            users -= 1
            _hear(found, library, turn.text, _FADING**users, offered)
        else:
            offered = _recall(found, library, turn)
    return found


def _domain(conversation: Conversation, library: Library) -> Domain | None:
    """The domain that the conversation names, or else the one that the user spoke of last."""
    domains = library.catalogue.domains
    if conversation.domain:
        return library.catalogue.domain_named(conversation.domain)
    for turn in reversed(conversation.turns):
        spoken = set(plain_words(turn.text.casefold())) if turn.speaker is Speaker.USER else set()
        meant = [domain for domain in domains if not spoken.isdisjoint(domain.all_words)]
        if len(meant) == 1:
            return meant[0]
    return None


def _recall(found: Understanding, library: Library, turn: Turn) -> list[int]:
    """The items that a system turn named; a question without an item is counted."""
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
    wish = SpokenWish(text)
    titles = library.catalogue.link(text)
    _take_titles(found, library, text, weight, offered)
    taken = [(mention.start, mention.end) for mention in titles]
    found.years |= {span: weight for start, span in wish.years() if not inside(start, taken)}
    for mention in library.attribute_mentions(text):
        if inside(mention.start, taken):
            continue
        refused = wish.refuses_value(mention.start, mention.end)
        _take_attribute(found, mention.id, weight, wanted=not refused)
        if not library.attributes[mention.id].is_category:
            taken.append((mention.start, mention.end))
    for word in content_words(text):
        if library.knows(word) and not inside(word.start, wish.refused + taken):
            found.words[str(word)] = max(weight, found.words[word])


def _take_titles(
    found: Understanding, library: Library, text: str, weight: float, offered: list[int]
) -> None:
    """Sort the named and just offered items into liked, asked about and rejected."""
    wish = SpokenWish(text)
    named = [(mention, library.rows[mention.id]) for mention in library.catalogue.link(text)]
    found.asked_about = _asked_about(text, [row for _, row in named], offered)
    down: set[int] = set()
    had = _had(tuple(each.done for each in library.catalogue.domains if each.name != FILM))
    has_it = any(_IT.match(text, match.end()) for match in had.finditer(text))
    if found.asked_about is None and (_TURNED_DOWN.search(text) or has_it):
        down.update(row for row in offered if row not in {row for _, row in named})
    for mention, row in named:
        negative = wish.refuses_item(mention.start, mention.end)
        if row in offered and row != found.asked_about and not wish.praises:
            negative = True  # naming an offered item without praise counts as rejection
        if negative:
            down.add(row)
            found.liked.pop(row, None)
        else:
            found.liked[row] = max(weight, found.liked.get(row, 0.0))
        if _is_seen(text, wish.clause_start(mention.start), mention.start, had):
            found.rejected.add(row)
    found.declined = not down.isdisjoint(offered)
    found.rejected |= down


def _take_attribute(found: Understanding, name: str, weight: float, *, wanted: bool) -> None:
    """Record an attribute as wanted or unwanted; the latest statement counts."""
    if wanted:
        found.wanted[name] = max(weight, found.wanted[name])
        found.unwanted.discard(name)
    else:
        found.unwanted.add(name)
        found.wanted.pop(name, None)


@cache
def _had(done: tuple[str, ...]) -> re.Pattern[str]:
    """What says that the user has had an item of a domain that is no film ("I have read")."""
    words = "|".join(re.escape(each) for each in done)
    said = rf"\b(?:i['’]?ve|i have|i|have|already) (?:already |just )?(?:{words})(?=\W|$)"
    return re.compile(said if done else r"(?!)", re.IGNORECASE)


def _is_seen(text: str, begin: int, end: int, had: re.Pattern[str]) -> bool:
    """Whether the part of a clause before an item says that the user has seen it."""
    return any(each.search(text, begin, end) for each in (_SEEN, had))


def _asked_about(text: str, named: list[int], offered: list[int]) -> int | None:
    if not (_ASKS_ABOUT.search(text) or (named and _ASKS_ABOUT_NAMED.search(text))):
        return None
    return named[-1] if named else offered[0] if offered else None
