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
from recjury.judges.measured.genres import canonical_genres, genres_of


def reason(turn: AnnotatedTurn, annotated: AnnotatedLog) -> str | None:
    """The reason that a recommending turn gives, or None.

    A reason is an explaining phrase, a genre or a person that the catalogue has for a recommended
    film, or one of the user's wishes.
    """
    words = reason_in(turn.utterance)
    if words is not None:
        return repr(words)
    said = turn.utterance.plain
    spoken = {genre for word in turn.utterance.words for genre in canonical_genres(word)}
    # Each film once, so that repeats in a long text do not repeat the search for its people.
    films = dict.fromkeys(film.id for film in turn.new_films if film.id is not None)
    for id_ in films:
        if id_ not in annotated.catalogue:
            continue
        item = annotated.catalogue.item(id_)
        for genre in sorted(spoken & genres_of(item)):
            return f"genre {genre!r}"
        for person in (*item.directors, *item.actors, *item.writers):
            if len(person) > 4 and person.lower() in said:
                return f"person {person!r}"
    for wish in annotated.log.scenario.wishes:
        if canonical_genres(wish) & spoken:
            return f"wish {wish!r}"
    return None


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
