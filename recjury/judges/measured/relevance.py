"""Semantic Relevance: which of the films that the text recommends stand in the session list."""

from recjury.judges.measured.anchors import (
    Outcome,
    counted,
    from_share,
    listed,
    not_applicable,
    scored,
)
from recjury.judges.measured.reading import Named, Reading


def recommended(reading: Reading) -> tuple[Named, ...]:
    """The films that the system names before the user does, once each, in order."""
    films: dict[str, Named] = {}
    for turn in reading.spoken:
        for film in turn.new_films:
            films.setdefault(film.key, film)
    return tuple(films.values())


def semantic_relevance(reading: Reading) -> Outcome:
    """All in the list 4, half 2, none 0, nothing recommended 0; between by `from_share`.

    A title that the catalogue does not have cannot stand in the list.
    """
    if not reading.system:
        return not_applicable("the system had no turn")
    if not reading.session:
        return not_applicable("no recommendation list")
    films = recommended(reading)
    if not films:
        return scored(0, "the text recommends nothing")
    ids = {item.id for item in reading.session if item.id is not None}
    missing = [film.name for film in films if film.id is None or film.id not in ids]
    there = len(films) - len(missing)
    summary = f"{there} of {counted(len(films), 'recommended film')} in the list"
    return scored(
        from_share(there, len(films)), f"{summary}; not: {listed(missing)}" if missing else summary
    )
