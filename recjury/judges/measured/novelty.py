"""Novelty: the number of little-known items in the session list."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, join_first, scored, unscored

# "About a quarter" begins at 22 %, so that 2 of 9 items are about a quarter and 2 of 10 are not.
_ABOUT_A_QUARTER = 0.22
_ENOUGH_KNOWN = 0.5


def novelty_score(little_known: int, total: int) -> int:
    """The highest anchor that applies to `little_known` of `total` items (at least 1)."""
    if little_known > 10 or 2 * little_known >= total:
        return 4
    if little_known >= 6 or (little_known and little_known >= _ABOUT_A_QUARTER * total):
        return 3
    if little_known >= 3:
        return 2
    return 1 if little_known else 0


def novelty(log: AnnotatedLog) -> Outcome:
    """Half or more than ten little known 4, a quarter or 6 to 10 3, 3 to 5 2, 1 or 2 1, none 0.

    Items of unknown popularity count neither as known nor as little known. If they are more than
    half of the list, there is no score.
    """
    verdicts = [(item, log.catalogue.little_known(item.id)) for item in log.items_of(log.session)]
    judged = [(item, little) for item, little in verdicts if little is not None]
    if len(judged) < _ENOUGH_KNOWN * len(log.session) or not judged:
        return unscored("the popularity of most items of the list is not known")
    rare = [item for item, little in judged if little]
    summary = f"{len(rare)} of {len(judged)} {log.domain.items} little known"
    findings = log.findings_of(rare, "little known")
    names = join_first([item.name for item in rare])
    return scored(novelty_score(len(rare), len(judged)), summary, findings, quoted=names)
