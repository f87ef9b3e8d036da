"""Explainability: of the turns that recommend a film, the share that gives a reason."""

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


def reason(turn: AnnotatedTurn, annotated: AnnotatedLog) -> str | None:
    """The reason that a recommending turn gives, or None.

    A reason is an explaining phrase, a person whom the catalogue has for a recommended film, or a
    genre of the film that somebody wished for. A bare genre is none, nor is a phrase with a genre
    that no recommended film of the turn has.
    """
    said = turn.utterance.plain
    spoken = {genre for word in turn.utterance.words for genre in canonical_genres(word)}
    ids = dict.fromkeys(film.id for film in turn.new_films if film.id is not None)
    items = [annotated.catalogue.item(id_) for id_ in ids if id_ in annotated.catalogue]
    for item in items:
        for person in (*item.directors, *item.actors, *item.writers):
            if len(person) > 4 and person.lower() in said:
                return f"person {person!r}"
        for genre in sorted(spoken & genres_of(item) & _wished(turn, annotated)):
            return f"genre {genre!r}, as wished"
    wrong = sorted(genre for genre in spoken if items and all(excluded(genre, i) for i in items))
    words = reason_in(turn.utterance)
    return None if words is None or wrong else repr(words)


def _wished(turn: AnnotatedTurn, annotated: AnnotatedLog) -> set[str]:
    """The genres of the wishes, and those that the user has spoken of before the turn."""
    heard = [each.utterance for each in annotated.turns[: turn.number - 1] if not each.by_system]
    heard += [text.utterance for text in annotated.history]
    words = [*annotated.log.scenario.wishes, *(word for text in heard for word in text.words)]
    return {genre for word in words for genre in canonical_genres(word)}


def explainability(annotated: AnnotatedLog) -> Outcome:
    """A reason always 4, mostly 3, about half 2, rarely 1, never 0. No score without a film."""
    turns = [turn for turn in annotated.spoken if turn.new_films]
    if not turns:
        return not_applicable("the text recommends nothing")
    reasons = [(turn.number, reason(turn, annotated)) for turn in turns]
    found = [Occurrence(number, text) for number, text in reasons if text is not None]
    summary = f"{len(found)} of {len(turns)} recommending turns give a reason"
    score = from_share(len(found), len(turns))
    return score_of(score, f"{summary}: {join_first(found)}" if found else summary)
