"""Effectiveness: whether a target is in the session list, or else how similar the items are."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, join_first, scored, unscored
from recjury.judges.measured.similarity import Similarity, known_traits, nearest, traits_of


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


def effectiveness(log: AnnotatedLog) -> Outcome:
    """4 if a target is in the list; otherwise `similarity_score` with the nearest target."""
    wanted = {target.id for target in log.log.scenario.targets} - {None}
    hits = [ref for ref in log.session if ref.id in wanted]
    if hits:
        findings = log.findings_of(hits, "lists a target")
        return scored(
            4, "a target is in the list", findings, quoted=join_first([h.name for h in hits])
        )
    targets = tuple(item.id for item in log.items_of(log.log.scenario.targets))
    known = known_traits(targets, log.catalogue)
    if not known:
        return unscored("no target in the list, and nothing known of the targets")
    listed = log.items_of(log.session)
    alike = [(nearest(traits_of(item.id, log.catalogue), known), item) for item in listed]
    very = [item for how, item in alike if how is Similarity.VERY]
    somewhat = [item for how, item in alike if how is Similarity.SOMEWHAT]
    findings = log.findings_of(very, "like a target")
    total = len(log.session)
    counts = f"{len(very)} very similar, {len(somewhat)} somewhat"
    summary = f"no target in the list; of {total} {log.domain.items} {counts}"
    score = similarity_score(len(very), len(somewhat), total)
    names = join_first([item.name for item in (*very, *somewhat)])
    return scored(score, summary, findings, quoted=names)
