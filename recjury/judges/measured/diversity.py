"""Diversity: how many values the session list has in each dimension of its domain."""

from collections import Counter
from collections.abc import Iterable

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, scored, unscored
from recjury.language.genres import canonical_genres
from recjury.records import DomainAttribute, Item

_ENOUGH_KNOWN = 0.5
# With ten items or more, a list has the top score: all 5,344 recorded session lists have more than
# four characteristics in two dimensions (docs/measured-judges.md).
_TOO_LONG = 10
_NAMES = {"era": "decades", "cast": "leads"}


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
