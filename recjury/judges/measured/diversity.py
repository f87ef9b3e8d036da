"""Diversity: how many genres, directors, lead actors and decades the session list spans."""

from collections.abc import Mapping, Sequence

from recjury.judges.measured.anchors import Outcome, not_applicable, not_measured, score_of
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.genres import genres_of
from recjury.records import Item

_ENOUGH_KNOWN = 0.5
# With ten items or more, nearly every list has the top score: 5,331 of 5,344 recorded session
# lists have more than four characteristics in two dimensions (docs/measured-judges.md).
_TOO_LONG = 10


def characteristics(items: Sequence[Item]) -> dict[str, int]:
    """The number of different values in each dimension (CoRE, appendix A.1.9, movies).

    The first actor of an item is its lead actor.
    """
    return {
        "genres": len({genre for item in items for genre in genres_of(item)}),
        "directors": len({director for item in items for director in item.directors}),
        "lead actors": len({item.actors[0] for item in items if item.actors}),
        "decades": len({item.year // 10 for item in items if item.year is not None}),
    }


def diversity_score(counts: Mapping[str, int]) -> int:
    """The highest anchor that applies.

    More than four in two dimensions 4; more than three in two, or more than four in one, 3;
    more than two in two, or more than three in one, 2; more than one in any 1; else 0.
    """
    highest, second = sorted((*counts.values(), 0, 0), reverse=True)[:2]
    for score, in_two, in_one in ((4, 4, None), (3, 3, 4), (2, 2, 3)):
        if second > in_two or (in_one is not None and highest > in_one):
            return score
    return 1 if highest > 1 else 0


def diversity(annotated: AnnotatedLog) -> Outcome:
    """Apply the anchors to the session list.

    There is no score if most items have no known attributes, and none for lists of ten items or
    more, because the anchors do not distinguish them.
    """
    session = annotated.session
    if not session:
        return not_applicable("no recommendation list")
    if len(session) >= _TOO_LONG:
        return not_measured(f"{len(session)} items: nearly every list this long has the top score")
    known = [
        item
        for item in annotated.session_items
        if item.genres or item.directors or item.actors or item.year is not None
    ]
    if len(known) < _ENOUGH_KNOWN * len(session):
        return not_measured(f"attributes known for {len(known)} of {len(session)} items only")
    counts = characteristics(known)
    shown = ", ".join(f"{count} {dimension}" for dimension, count in counts.items())
    return score_of(diversity_score(counts), f"{shown} in {len(known)} items")
