"""Effectiveness: is a target in the session list, and if not, how like it are the items?"""

from recjury.judges.measured.anchors import (
    Outcome,
    listed,
    not_applicable,
    not_measured,
    scored,
)
from recjury.judges.measured.likeness import Likeness, Targets, traits_of
from recjury.judges.measured.reading import Reading
from recjury.knowledge import KnowledgeGraph


def similarity_score(very: int, somewhat: int, total: int) -> int:
    """The anchors below a hit: `very` and `somewhat` similar among `total` items (at least 1).

    Most (more than half) very similar 3; most at least somewhat, or a few (one or more) very, 2;
    a few somewhat 1; none 0.
    """
    if 2 * very > total:
        return 3
    if very or 2 * (very + somewhat) > total:
        return 2
    return 1 if somewhat else 0


def effectiveness(reading: Reading, graph: KnowledgeGraph | None) -> Outcome:
    """A target in the list is 4; below that `similarity_score`, of the nearest target."""
    targets = reading.log.scenario.targets
    if not targets:
        return not_applicable("no target")
    if not reading.session:
        return not_applicable("no recommendation list")
    wanted = {target.id for target in targets if target.id is not None}
    hits = [item.name for item in reading.session if item.id in wanted]
    if hits:
        return scored(4, f"in the list: {listed(hits)}")
    nearest = Targets(traits_of(item, graph) for item in reading.targets)
    if not nearest:
        return not_measured("no target in the list, and nothing known of the targets")
    alike = [(item, nearest.nearest(traits_of(item, graph))) for item in reading.session_items]
    very = [item.name for item, how in alike if how is Likeness.VERY]
    somewhat = [item.name for item, how in alike if how is Likeness.SOMEWHAT]
    total = len(reading.session)
    return scored(
        similarity_score(len(very), len(somewhat), total),
        f"no target in the list; of {total} items {len(very)} very similar ({listed(very)}), "
        f"{len(somewhat)} somewhat ({listed(somewhat)})",
    )
