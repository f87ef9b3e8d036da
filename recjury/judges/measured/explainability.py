"""Explainability: of the turns that recommend a film, the share that gives a reason."""

from recjury.judges.measured.anchors import Finding, Outcome, from_share, listed, not_applicable
from recjury.judges.measured.anchors import scored as _scored
from recjury.judges.measured.asks import reason_in
from recjury.judges.measured.genres import canonical, genres_of
from recjury.judges.measured.reading import Reading, ReadTurn


def reason(turn: ReadTurn, reading: Reading) -> str | None:
    """The reason that a recommending turn gives: words of explanation, or something true of the
    film that the catalogue has (a genre, a person), or one of the wishes."""
    words = reason_in(turn.utterance)
    if words is not None:
        return repr(words)
    said = turn.utterance.plain
    spoken = {genre for word in turn.utterance.words for genre in canonical(word)}
    # Each film once: one that is named all over a long text has its people looked for once.
    films = dict.fromkeys(film.id for film in turn.new_films if film.id is not None)
    for id_ in films:
        if id_ not in reading.catalogue:
            continue
        item = reading.catalogue.item(id_)
        for genre in sorted(spoken & genres_of(item)):
            return f"genre {genre!r}"
        for person in (*item.directors, *item.actors, *item.writers):
            if len(person) > 4 and person.lower() in said:
                return f"person {person!r}"
    for wish in reading.log.scenario.wishes:
        if canonical(wish) & spoken:
            return f"wish {wish!r}"
    return None


def explainability(reading: Reading) -> Outcome:
    """Always 4, mostly 3, about half 2, rarely 1, never 0; no score without a recommendation."""
    turns = [turn for turn in reading.spoken if turn.new_films]
    if not turns:
        return not_applicable("the text recommends nothing")
    reasons = [(turn.number, reason(turn, reading)) for turn in turns]
    found = [Finding(number, text) for number, text in reasons if text is not None]
    summary = f"{len(found)} of {len(turns)} recommending turns give a reason"
    score = from_share(len(found), len(turns))
    return _scored(score, f"{summary}: {listed(found)}" if found else summary)
