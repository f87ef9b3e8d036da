"""The user's preferences, from what `recjury.language` reads of each turn."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from recjury.agents.retrieval.heard_turn import HeardTurn, hear
from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.words import content_words, plain_words
from recjury.language.wishes import is_refused, spoken_in
from recjury.records import Act, Attribute, Conversation, Domain, Speaker, Turn

_FADING = 0.75  # factor by which each earlier user turn counts less
_SYSTEM_WEIGHT = 0.2  # a system turn is only indirect evidence of the user's taste


@dataclass
class Understanding:
    """The extracted preferences. Items are row numbers of the library; weights are at most 1.

    `words`, `wanted` (attributes by folded name) and `years` (first and last) describe the wish;
    `unwanted` has attributes that the user does not want. `liked` are items that the user named
    without rejecting them; `recommended` those that a system named, in order; `rejected` those that
    the user rejected or has seen. `asked_about` is the item that the last user turn asks about or
    accepts. `declined` tells whether that turn rejects the items just offered. `questions` counts
    the system turns that asked without naming an item. `domain` is what the user looks for, if it
    is known.
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
    wish = Understanding(domain=_domain(conversation, library))
    turns = conversation.turns
    users = sum(turn.speaker is Speaker.USER for turn in turns)
    offered: list[int] = []
    for index, turn in enumerate(turns):
        if turn.speaker is Speaker.USER:
            users -= 1
            weight = _FADING**users
            _take_values(wish, library, turn.text, weight)
            heard = hear(turn, turns[:index], library.catalogue)
            _take_titles(wish, library, heard, weight, offered)
        else:
            offered = _take_reply(wish, library, turn)
    return wish


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


def _take_reply(wish: Understanding, library: Library, turn: Turn) -> list[int]:
    """The items that a system turn named; a question without an item is counted."""
    named = [library.rows[mention.id] for mention in library.catalogue.link(turn.text)]
    wish.recommended += [row for row in named if row not in wish.recommended]
    wish.questions += not named and "?" in turn.text
    if not named:
        for mention in spoken_in(turn.text, library.catalogue):
            for name in library.names_of(mention.attribute):
                wish.wanted[name] = max(wish.wanted[name], _SYSTEM_WEIGHT)
    return named


def _take_values(wish: Understanding, library: Library, text: str, weight: float) -> None:
    """The attributes, years and words that a user turn wants and refuses."""
    taken = [(mention.start, mention.end) for mention in library.catalogue.link(text)]
    for value in spoken_in(text, library.catalogue):
        if _inside(value.start, taken):
            continue
        if years := _years(value.attribute):
            wish.years[years] = weight
        for name in library.names_of(value.attribute):
            _take_attribute(wish, name, 0.0 if value.refused else weight)
            if not library.attributes[name].is_category:
                taken.append((value.start, value.end))
    for word in content_words(text):
        unread = library.knows(word) and not _inside(word.start, taken)
        if unread and not is_refused(text, word.start):
            wish.words[str(word)] = max(weight, wish.words[word])


def _take_attribute(wish: Understanding, name: str, weight: float) -> None:
    """Record an attribute as wanted, or with weight 0 as unwanted; the latest statement counts."""
    if weight:
        wish.wanted[name] = max(weight, wish.wanted[name])
        wish.unwanted.discard(name)
    else:
        wish.unwanted.add(name)
        wish.wanted.pop(name, None)


def _years(attribute: Attribute) -> tuple[int, int] | None:
    """The first and last year of a decade or a year; None for another attribute."""
    if attribute.kind not in ("decade", "year"):
        return None
    first = int(attribute.value[:4])
    return first, first + 9 * (attribute.kind == "decade")


def _take_titles(
    wish: Understanding, library: Library, heard: HeardTurn, weight: float, offered: Sequence[int]
) -> None:
    """Sort the named and just offered items into liked, asked about and rejected."""
    rows = {id_: library.rows[id_] for id_ in heard.named}
    topics = [row for id_, row in rows.items() if _is_topic(heard, id_, row in offered)]
    wish.asked_about = _asked_about(heard, topics, offered)
    down = {rows[id_] for id_ in heard.refused}
    if heard.does(Act.REFUSE, Act.SEEN, Act.WISH) and wish.asked_about is None:
        down.update(row for row in offered if row not in topics)
    if not heard.does(Act.ACCEPT):  # who comes back to an offer without praise goes on
        down.update(row for row in offered if row in topics)
    down.discard(wish.asked_about)
    for row in rows.values():
        if row in down:
            wish.liked.pop(row, None)
        else:
            wish.liked[row] = max(weight, wish.liked.get(row, 0.0))
    wish.declined = not down.isdisjoint(offered)
    wish.rejected |= down.union(rows[id_] for id_ in heard.seen)


def _is_topic(heard: HeardTurn, id_: str, is_offered: bool) -> bool:
    """Whether a turn may be about an item that it names: it is neither turned down nor an example.

    A new item must be asked about, or be all that is wished for.
    """
    if id_ in heard.refused | heard.seen:
        return False
    if is_offered:
        return not (id_ in heard.examples and heard.does(Act.WISH))
    alone = id_ in heard.requested and not heard.wants
    return id_ not in heard.examples and (heard.does(Act.ASK) or alone)


def _asked_about(heard: HeardTurn, topics: Sequence[int], offered: Sequence[int]) -> int | None:
    """The item that a turn asks about, accepts, or wishes for: named, or the first one offered.

    A turn that does nothing else stays with the offer.
    """
    if heard.does(Act.ASK, Act.ACCEPT) or not heard.acts:
        goes_on = heard.wants or heard.does(Act.REFUSE, Act.SEEN, Act.WISH)
        return topics[-1] if topics else offered[0] if offered and not goes_on else None
    return topics[-1] if topics and heard.acts == {Act.WISH} and not heard.wants else None


def _inside(position: int, spans: Collection[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)
