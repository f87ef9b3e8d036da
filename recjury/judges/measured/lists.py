"""Novelty, Diversity and Semantic Relevance: what is in the session list."""

from collections import Counter
from collections.abc import Iterable

from recjury.judges.guideline import FILLED_NAMES, LINKED_LIST
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import (
    Outcome,
    by_share,
    join_first,
    not_applicable,
    scored,
    unscored,
)
from recjury.language.genres import canonical_genres
from recjury.records import DomainAttribute, Item

_ENOUGH_KNOWN = 0.5
# "About a quarter" begins at 22 %, so that 2 of 9 items are about a quarter and 2 of 10 are not.
_ABOUT_A_QUARTER = 0.22
# With ten items or more, a list has the top score: all 5,344 recorded session lists have more than
# four characteristics in two dimensions (docs/measured-judges.md).
_TOO_LONG = 10
_NAMES = {"era": "decades", "cast": "leads"}


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


def diversity_score(counts: Iterable[int]) -> int:
    """The highest anchor that applies to the numbers of values in each dimension.

    More than four in two dimensions 4; more than three in two, or more than four in one, 3;
    more than two in two, or more than three in one, 2; more than one in any 1; else 0.
    """
    highest, second = sorted((*counts, 0, 0), reverse=True)[:2]
    for score, in_two, in_one in ((4, 4, None), (3, 3, 4), (2, 2, 3)):
        if second > in_two or (in_one is not None and highest > in_one):
            return score
    return 1 if highest > 1 else 0


def diversity(log: AnnotatedLog) -> Outcome:
    """Count the values of the list in each dimension of its domain (CoRE, appendix A.1.9).

    Years count by decades; of a cast, the first is the lead. There is no score if most items have
    no known attributes, and none for lists of ten items or more, which the anchors do not tell
    apart.
    """
    items = log.items_of(log.session)
    if len(log.session) >= _TOO_LONG:
        return unscored("ten items or more: nearly every list this long has the top score")
    counts = Counter(log.catalogue.domain_of(item).name for item in items)
    domain = log.catalogue.domain_named(next((name for name, _ in counts.most_common(1)), ""))
    dimensions = [each for each in domain.attributes if each.name in domain.dimensions]
    known = [item for item in items if any(each.of(item) for each in dimensions)]
    if len(known) < _ENOUGH_KNOWN * len(log.session):
        return unscored("the attributes of most items of the list are not known")
    values = {
        _NAMES.get(d.kind, d.words): len({v for i in known for v in _values(i, d)})
        for d in dimensions
    }
    shown = ", ".join(f"{count} {dimension}" for dimension, count in values.items())
    return scored(diversity_score(values.values()), f"{shown} in {len(known)} {domain.items}")


def _values(item: Item, attribute: DomainAttribute) -> Iterable[str]:
    values = attribute.of(item)[: 1 if attribute.kind == "cast" else None]
    if attribute.kind == "category":
        return [name for value in values for name in canonical_genres(value)]
    return [value[:-1] for value in values] if attribute.kind == "era" else values


def semantic_relevance(log: AnnotatedLog) -> Outcome:
    """Score the share of recommended items in the list; 0 without a recommendation.

    These are the items that the system names first. A title that the catalogue does not have is
    never in the list.
    """
    if log.log.items_linked:
        return not_applicable(LINKED_LIST)
    if log.log.names_filled:
        return not_applicable(FILLED_NAMES)
    named = [(turn, mention) for turn in log.system for mention in turn.new]
    if not named:
        return scored(0, "the text recommends nothing")
    ids = {item.id for item in log.session}
    missing = [
        turn.finding("not listed", f"{mention.text!r} is not in the list", mention.text)
        for turn, mention in named
        if mention.key not in ids
    ]
    names = join_first([finding.quote for finding in missing])
    noun, quoted = f"recommended {log.domain.item}", f"not {names}" if names else ""
    return by_share(len(named) - len(missing), len(named), noun, "in the list", missing, quoted)
