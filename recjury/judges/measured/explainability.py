"""Explainability: of the turns that recommend a film, the share that gives a reason."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    from_share,
    join_first,
    not_applicable,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedTurn
from recjury.judges.measured.asks import reason_in
from recjury.judges.measured.genres import canonical_genres, excluded, genres_of
from recjury.judges.measured.naturalness import broken_sentences
from recjury.knowledge import split_year
from recjury.records import Item

_COMPARED = "as well as "


class GivenReason(NamedTuple):
    """A reason, and what it comes to: one that holds for many items says less the second time."""

    words: str
    value: str
    is_known: bool = True
    is_genre: bool = False


def reason(turn: AnnotatedTurn, annotated: AnnotatedLog) -> GivenReason | None:
    """The reason that a recommending turn gives, or None.

    A reason is an explaining phrase, a person whom the catalogue has for a recommended film, or a
    genre of the film that somebody wished for. A bare genre is none, nor is a phrase with a genre
    that no recommended film of the turn has; that a film shares its director with itself is none
    either. A person is known if the user has named the person or a film of theirs.
    """
    said = turn.utterance.plain
    spoken = {genre for word in turn.utterance.words for genre in canonical_genres(word)}
    ids = dict.fromkeys(film.id for film in turn.new_films if film.id is not None)
    items = [annotated.catalogue.item(id_) for id_ in ids if id_ in annotated.catalogue]
    people = [p for item in items for p in _people(item) if len(p) > 4 and p.lower() in said]
    if _likens_to_itself(turn):
        people = []
    known = _known_people(turn, annotated, people)
    for person in sorted(people, key=lambda each: each not in known)[:1]:
        return GivenReason(f"person {person!r}", person, person in known)
    for item in items:
        for genre in sorted(spoken & genres_of(item) & _wished(turn, annotated)):
            return GivenReason(f"genre {genre!r}, as wished", genre, is_genre=True)
    wrong = sorted(genre for genre in spoken if items and all(excluded(genre, i) for i in items))
    senseless = any(True for each in turn.utterance.sentences for _ in broken_sentences(each))
    words = None if senseless else reason_in(turn.utterance)
    return None if words is None or wrong else GivenReason(repr(words), "")


def _likens_to_itself(turn: AnnotatedTurn) -> bool:
    """Whether a film is compared with one of its own title: "Ann Lee wrote it, as well as it"."""
    titles: set[str] = set()
    for film in turn.said.named:
        title = split_year(film.text).title.casefold()
        before = turn.utterance.text[max(0, film.start - len(_COMPARED)) : film.start]
        if title in titles and before == _COMPARED:
            return True
        titles.add(title)
    return False


def _people(item: Item) -> tuple[str, ...]:
    return (*item.directors, *item.actors, *item.writers)


def _known_people(
    turn: AnnotatedTurn, annotated: AnnotatedLog, people: Sequence[str]
) -> frozenset[str]:
    """The people among these whom the user has named before the turn, or a film of theirs."""
    if not people:
        return frozenset()
    told = [each.said for each in annotated.turns[: turn.number - 1] if not each.by_system]
    heard = [*annotated.history, *told]
    words = " ".join(text.utterance.plain for text in heard)
    named = {film.id for text in heard for film in text.named if film.id is not None}
    theirs = {p for id_ in named for p in _people(annotated.catalogue.item(id_))}
    return frozenset(
        p for p in people if p in theirs or p.lower() in words or p.lower().split()[-1] in words
    )


def _wished(turn: AnnotatedTurn, annotated: AnnotatedLog) -> set[str]:
    """The genres of the wishes, and those that the user has spoken of before the turn."""
    heard = [each.utterance for each in annotated.turns[: turn.number - 1] if not each.by_system]
    heard += [text.utterance for text in annotated.history]
    words = [*annotated.log.scenario.wishes, *(word for text in heard for word in text.words)]
    return {genre for word in words for genre in canonical_genres(word)}


def explainability(annotated: AnnotatedLog) -> Outcome:
    """A reason always 4, mostly 3, about half 2, rarely 1, never 0. No score without a film.

    A genre that was the reason before counts half, and so does a person of whom the user has never
    spoken.
    """
    turns = [turn for turn in annotated.spoken if turn.new_films]
    if not turns:
        return not_applicable("the text recommends nothing")
    found: list[Occurrence] = []
    genres: set[str] = set()
    halves = 0
    for turn in turns:
        given = reason(turn, annotated)
        if given is None:
            continue
        again = given.value in genres
        if given.is_genre:
            genres.add(given.value)
        halves += 1 if again or not given.is_known else 2
        half = ", again, half" if again else "" if given.is_known else ", not asked for, half"
        found.append(Occurrence(turn.number, given.words + half))
    summary = f"{halves / 2:g} of {len(turns)} recommending turns give a reason"
    score = from_share(halves, 2 * len(turns))
    return score_of(score, f"{summary}: {join_first(found)}" if found else summary)
