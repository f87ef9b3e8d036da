"""What a user's turn wishes for, as far as the catalogue can tell whether an item has it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedText, AnnotatedTurn
from recjury.judges.measured.genres import NEIGHBOURS, genres_of
from recjury.judges.measured.similarity import ItemTraits, Similarity, similarity, traits_of
from recjury.judges.measured.text import TITLE
from recjury.judges.measured.wished_genres import CLAUSE, REFUSED, refused_genres, wanted_genres
from recjury.knowledge import Catalogue
from recjury.records import Attribute, Item, Speaker

_DECADE = re.compile(r"\b(?:(19|20)(\d)0'?s|'?([2-9]0)'?s)\b")
_OF_WORDS = {
    "fifties": 1950,
    "sixties": 1960,
    "seventies": 1970,
    "eighties": 1980,
    "nineties": 1990,
}
_THIS_CENTURY = re.compile(r"\bthis century\b")
_RECENT = re.compile(r"\b(?:fairly|quite|something|one that is) recent\b|\bthe last few years\b")
_YEAR = re.compile(r"\b(?:from|in|of|around) ((?:19|20)\d\d)\b")
_ALIKE = re.compile(
    r"\b(?:film|movie|book|song|story|something|anything|one|ones|films|movies|books|songs|more|"
    r"others?|nothing|much|similar|vein|do you know anything)\b[^.!?]{0,40}"
    rf"\b(?:like|similar to|in the vein of|vein of|in common with|such as) (?:the )?(?:{TITLE})"
)
_DIFFERENT = re.compile(
    rf"(?:i )?liked ({TITLE})[^.!?]{{0,20}}, but|going from ({TITLE}) to|like ({TITLE}), really"
)
_LONGEST_NAME = 4
_DECADE_LONG = 9
_NEWER = re.compile(
    r"(?:older than what|quite old|dated|before my time|too old|(?:less old|newer) than|"
    r"more recent|something newer|a newer)"
)
_OLDER = re.compile(
    r"(?:too (?:recent|new)\b|rather new|an older one|something older|older than (?!what)|"
    r"newer than what|from before|ones before)"
)
_MISSED = re.compile(
    r"\b(?:isn't|wasn't|not|without) (?:in|by|with|from|made by)?\b|nothing to do with"
)


class Wish(NamedTuple):
    """What is wanted of an item; an empty field asks for nothing.

    `genres` are canonical, one is enough. `years` are first and last ones. `people` are ids of the
    items that a named person made or takes part in. `like` are ids of items that it should be
    like. It should have come out after `newer` and before `older`. `without` are genres that it
    should not have. `words` are those of the wish, for a rationale.
    """

    genres: frozenset[str] = frozenset()
    years: tuple[tuple[int, int], ...] = ()
    people: frozenset[str] = frozenset()
    like: tuple[str, ...] = ()
    newer: int | None = None
    older: int | None = None
    without: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is wanted, or to be left out."""
        return bool(self.words or self.without)

    def __str__(self) -> str:
        """What is wanted, in words."""
        return ", ".join(self.words)


class Wishes:
    """Reads wishes with a catalogue, and compares items with them."""

    def __init__(self, catalogue: Catalogue):
        self._catalogue = catalogue
        self.of = lru_cache(4096)(self._of)
        self._traits = lru_cache(4096)(self._traits_of)

    def _of(self, said: AnnotatedText) -> Wish:
        """What a user's text wishes for."""
        plain = said.utterance.plain
        genres = wanted_genres(plain) & self._genres
        years = tuple(dict.fromkeys(_wanted_years(plain)))
        people = dict(self._people(said))
        named = [film.id for film in said.named if film.id is not None]
        like = tuple(dict.fromkeys(self._like(plain, said)))
        known = [self._catalogue.item(id_).year for id_ in named if id_ not in like]
        rejected = [year for year in known if year is not None]
        newer = max(rejected) if rejected and _NEWER.search(plain) else None
        older = min(rejected) if rejected and _OLDER.search(plain) and newer is None else None
        words = [*sorted(genres)]
        words += [_era(first, last) for first, last in years]
        words += list(people)
        words += [f"like {self._catalogue.item(id_).name}" for id_ in like]
        words += [f"newer than {newer}"] * (newer is not None)
        words += [f"older than {older}"] * (older is not None)
        without = (refused_genres(plain) & self._genres) - genres
        ids = frozenset(id_ for found in people.values() for id_ in found)
        return Wish(genres, years, ids, like, newer, older, without, tuple(words))

    def has(self, item: Item, wish: Wish) -> bool | None:
        """Whether the item is what the wish asks for; None if the catalogue cannot tell."""
        found = list(self._checks(item, wish))
        if False in found:
            return False
        return True if True in found else None

    def _checks(self, item: Item, wish: Wish) -> Iterator[bool | None]:
        genres = genres_of(item)
        if wish.genres:
            yield _is_of(genres, wish.genres) if genres else None
        if wish.years:
            year = item.year
            yield None if year is None else any(a <= year <= b for a, b in wish.years)
        if wish.people:
            domain = self._catalogue.domain_of(item)
            known = any(each.of(item) for each in domain.of_kind("maker", "cast"))
            yield (item.id in wish.people) if known or item.id in wish.people else None
        if wish.like:
            yield self._is_like(item, wish.like)
        if wish.newer is not None:
            yield None if item.year is None else item.year > wish.newer
        if wish.older is not None:
            yield None if item.year is None else item.year < wish.older
        if wish.without:
            # "A drama, no comedy": of one that is both, nobody can tell.
            mixed = not genres or bool(wish.without & genres and wish.genres & genres)
            yield None if mixed else not wish.without & genres

    def _is_like(self, item: Item, like: tuple[str, ...]) -> bool | None:
        traits = self._traits(item.id)
        others = [self._traits(id_) for id_ in like]
        known = [each for each in others if any(each)]
        if not any(traits) or not known:
            return None
        return any(similarity(traits, each) is not Similarity.UNLIKE for each in known)

    def _traits_of(self, id_: str) -> ItemTraits:
        item = self._catalogue.item(id_)
        return traits_of(item, self._catalogue.domain_of(item), None)

    def _like(self, plain: str, said: AnnotatedText) -> Iterator[str]:
        """The items after "like" and the like, in a text in which titles are masked."""
        linked = [film.id for film in said.named if film.id is not None]
        places = [at for at, letter in enumerate(plain) if letter == TITLE]
        if len(places) != len(linked):
            return
        for pattern in (_ALIKE, _DIFFERENT):
            for match in pattern.finditer(plain):
                at = plain.rindex(TITLE, match.start(), match.end())
                if pattern is _DIFFERENT:
                    at = plain.index(TITLE, match.start())
                yield linked[places.index(at)]

    def _people(self, said: AnnotatedText) -> Iterator[tuple[str, frozenset[str]]]:
        """The people that the text names, each with the items of theirs."""
        text = said.utterance.text
        spans, refused = said.utterance.spans, _refused_clauses(text)
        for name, start in _names(text):
            if _within(start, spans) or _within(start, refused):
                continue
            for attribute in self._naming:
                ids = self._catalogue.attributes.items_meant_by(Attribute(attribute, name))
                if ids:
                    yield name, frozenset(ids)
                    break

    @cached_property
    def _naming(self) -> tuple[str, ...]:
        """One attribute whose values are names: `items_meant_by` finds a name in any role."""
        domains = self._catalogue.domains
        names = [each.name for domain in domains for each in domain.of_kind("maker", "cast")]
        return tuple(names[:1])

    @cached_property
    def _genres(self) -> frozenset[str]:
        """The genres that the catalogue knows at all."""
        return frozenset(genre for item in self._catalogue for genre in genres_of(item))


def _is_of(genres: frozenset[str], wanted: frozenset[str]) -> bool | None:
    """Whether one of the wanted genres is among an item's; None if only a similar one is."""
    if genres & wanted:
        return True
    near = {each for genre in wanted for each in NEIGHBOURS.get(genre, ())}
    return None if genres & near else False


def _wanted_years(plain: str) -> Iterator[tuple[int, int]]:
    for clause in CLAUSE.findall(plain):
        if REFUSED.search(clause):
            continue
        for match in _DECADE.finditer(clause):
            century, tens, short = match.groups()
            first = int(f"{century}{tens}0") if century else 1900 + int(short)
            yield first, first + 9
        for match in _YEAR.finditer(clause):
            yield int(match[1]), int(match[1])
        for pattern, since in ((_THIS_CENTURY, 2000), (_RECENT, 2005)):
            if pattern.search(clause):
                yield since, 2099
        for word, first in _OF_WORDS.items():
            if word in clause.split():
                yield first, first + 9


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place is in one of the spans, which are in order and do not overlap."""
    before = bisect_right(spans, place, key=lambda span: span[0])
    return before > 0 and place < spans[before - 1][1]


def _refused_clauses(text: str) -> list[tuple[int, int]]:
    """The clauses of refusal: "I don't like Ann Lee"; but "isn't by Ann Lee" asks for her."""
    found: list[tuple[int, int]] = []
    for clause in CLAUSE.finditer(text):
        said = clause.group().lower().replace("’", "'")
        if REFUSED.search(said) is not None and _MISSED.search(said) is None:
            found.append(clause.span())
    return found


def _era(first: int, last: int) -> str:
    if last - first > _DECADE_LONG:
        return f"{first} or later"
    return f"{first}s" if last > first else str(first)


def _names(text: str) -> Iterator[tuple[str, int]]:
    """Runs of two to four capitalised words, the longest first, each with its place."""
    words = [(m.group(), m.start(), m.end()) for m in re.finditer(r"[^\s,;!?()\"“”]+", text)]
    at = 0
    while at < len(words):
        run = 0
        while (
            run < _LONGEST_NAME and at + run < len(words) and _is_capital(words[at + run][0], run)
        ):
            run += 1
        for length in range(run, 1, -1):
            yield " ".join(_bare(word) for word, _, _ in words[at : at + length]), words[at][1]
        at += 1


def _is_capital(word: str, at: int) -> bool:
    return word[:1].isupper() or (at > 0 and word in {"de", "del", "van", "von", "da", "la"})


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s").rstrip(".,'’-:") if len(word) > 2 else word


def wish_before(annotated: AnnotatedLog, turn: AnnotatedTurn, wishes: Wishes) -> Wish:
    """What the user wishes for when a system's turn begins.

    It is the wish of the turn that is answered, or without one, the last that the user spoke of.
    What is to be left out stays so until the user asks for it.
    """
    said = [each.said for each in annotated.turns[: turn.number - 1] if not each.by_system]
    history = zip(annotated.history, annotated.log.scenario.history, strict=True)
    heard = [text for text, told in history if told.speaker is Speaker.USER]
    last = Wish()
    without: dict[str, None] = {}
    wanted: set[str] = set()
    for text in reversed([*heard, *said]):
        wish = wishes.of(text)
        if wish.without:
            without |= dict.fromkeys(sorted(wish.without - wanted))
        wanted |= wish.genres
        if not last.words:
            last = wish._replace(without=frozenset())
    words = (*last.words, *(f"no {genre}" for genre in without))
    return last._replace(without=frozenset(without), words=words)


def unmet(turn: AnnotatedTurn, wish: Wish, wishes: Wishes, catalogue: Catalogue) -> str | None:
    """Why the items that a turn is the first to name do not have what is wished for.

    None if the first one or half of them have it, or if the catalogue knows too little of them.
    """
    ids = [film.id for film in turn.new_films if film.id is not None and film.id in catalogue]
    if not wish or not ids:
        return None
    found = [wishes.has(catalogue.item(id_), wish) for id_ in ids]
    unknown = found.count(None) + len(turn.new_films) - len(ids)
    good, bad = found.count(True), found.count(False)
    begins = found[0] is not False or turn.new_films[0].key != ids[0]
    if bad <= unknown or bad <= good or (good and begins):
        return None
    wrong = catalogue.item(ids[found.index(False)]).name
    return f"wished for {wish}, offered {wrong!r}"
