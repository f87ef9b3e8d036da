"""Effectiveness: whether a target is in the session list, or else how similar the items are."""

from collections.abc import Sequence

from recjury.judges.measured.anchors import (
    Outcome,
    join_first,
    not_applicable,
    not_measured,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.similarity import Similarity, Targets, traits_of
from recjury.knowledge import KnowledgeGraph


def similarity_score(very: int, somewhat: int, total: int) -> int:
    """The score without a hit, for `very` and `somewhat` similar items among `total` (at least 1).

    Most (more than half) very similar 3; most at least somewhat, or a few (one or more) very, 2;
    a few somewhat 1; none 0.
    """
    if 2 * very > total:
        return 3
    if very or 2 * (very + somewhat) > total:
        return 2
    return 1 if somewhat else 0


def effectiveness(annotated: AnnotatedLog, graph: KnowledgeGraph | None) -> Outcome:
    """4 if a target is in the list; otherwise `similarity_score` with the nearest target."""
    targets = annotated.log.scenario.targets
    if not targets:
        return not_applicable("no target")
    if not annotated.session:
        return not_applicable("no recommendation list")
    wanted = {target.id for target in targets if target.id is not None}
    hits = [item.name for item in annotated.session if item.id in wanted]
    if hits:
        return score_of(4, f"in the list: {join_first(hits)}")
    traits = {
        item.id: traits_of(item, annotated.catalogue.domain_of(item), graph)
        for item in (*annotated.targets, *annotated.session_items)
    }
    nearest = Targets(traits[item.id] for item in annotated.targets)
    if not nearest:
        return not_measured("no target in the list, and nothing known of the targets")
    alike = [(item, nearest.nearest(traits[item.id])) for item in annotated.session_items]
    very = [item.name for item, how in alike if how is Similarity.VERY]
    somewhat = [item.name for item, how in alike if how is Similarity.SOMEWHAT]
    total = len(annotated.session)
    return score_of(
        similarity_score(len(very), len(somewhat), total),
        f"no target in the list; of {total} items {_listed(very, 'very similar')}, "
        f"{_listed(somewhat, 'somewhat')}",
    )


def _listed(names: Sequence[str], how: str) -> str:
    """ "0 very similar", "1 very similar (Heat)"."""
    return f"{len(names)} {how} ({join_first(names)})" if names else f"0 {how}"
