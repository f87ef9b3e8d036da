"""Effectiveness: whether a target is in the session list, or else how similar the items are."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Finding, Outcome, join_first, scored, unscored
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


def effectiveness(log: AnnotatedLog, graph: KnowledgeGraph | None) -> Outcome:
    """4 if a target is in the list; otherwise `similarity_score` with the nearest target."""
    wanted = {target.id for target in log.log.scenario.targets} - {None}
    hits = [item for item in log.session if item.id in wanted]
    if hits:
        names = [item.name for item in hits]
        turns = [log.listed_in[item.id] for item in hits if item.id is not None]
        findings = [Finding(turns[0], "target", f"lists the target {names[0]!r}")]
        return scored(4, "a target is in the list", findings, quoted=join_first(names))
    traits = {
        item.id: traits_of(item, log.catalogue.domain_of(item), graph)
        for item in (*log.targets, *log.session_items)
    }
    nearest = Targets(traits[item.id] for item in log.targets)
    if not nearest:
        return unscored("no target in the list, and nothing known of the targets")
    alike = [(item, nearest.nearest(traits[item.id])) for item in log.session_items]
    near = {
        how: [item for item, found in alike if found is how]
        for how in (Similarity.VERY, Similarity.SOMEWHAT)
    }
    very, somewhat = (len(items) for items in near.values())
    findings = [
        Finding(log.listed_in[item.id], "similar", f"{item.name!r} is like a target")
        for item in near[Similarity.VERY]
    ]
    summary = (
        f"no target in the list; of {len(log.session)} {log.domain.items} {very} very similar, "
        f"{somewhat} somewhat"
    )
    names = [item.name for items in near.values() for item in items]
    score = similarity_score(very, somewhat, len(log.session))
    return scored(score, summary, findings, quoted=join_first(names))
