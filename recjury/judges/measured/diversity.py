"""Diversity: how many values the session list has in each dimension of its domain."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, scored, unscored
from recjury.knowledge import Catalogue
from recjury.language.genres import canonical_genres
from recjury.records import Domain, DomainAttribute, Item

_ENOUGH_KNOWN = 0.5
# With ten items or more, a list has the top score: all 5,344 recorded session lists have more than
# four characteristics in two dimensions (docs/measured-judges.md).
_TOO_LONG = 10


def domain_of_list(items: Sequence[Item], catalogue: Catalogue) -> Domain:
    """What most of the items are; in a tie, what the first of them is."""
    counts = Counter(catalogue.domain_of(item).name for item in items)
    return catalogue.domain_named(counts.most_common(1)[0][0]) if counts else catalogue.domain


def characteristics(items: Sequence[Item], domain: Domain) -> dict[str, int]:
    """The number of different values in each dimension of the domain (CoRE, appendix A.1.9).

    Years count by decades. Of a cast, the first of an item is its lead.
    """
    dimensions = (each for each in domain.attributes if each.name in domain.dimensions)
    return {
        _called(each): len({v for item in items for v in _values(item, each)})
        for each in dimensions
    }


def _called(attribute: DomainAttribute) -> str:
    match attribute.kind:
        case "era":
            return "decades"
        case "cast":
            return f"lead {attribute.words}"
        case _:
            return attribute.words


def _values(item: Item, attribute: DomainAttribute) -> Iterable[str]:
    values = attribute.of(item)
    match attribute.kind:
        case "era":
            return [value[:-1] for value in values]
        case "cast":
            return values[:1]
        case "category":
            return [name for value in values for name in canonical_genres(value)]
        case _:
            return values


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


def diversity(log: AnnotatedLog) -> Outcome:
    """Apply the anchors to the session list.

    There is no score if most items have no known attributes, and none for lists of ten items or
    more, because the anchors do not distinguish them.
    """
    session = log.session
    if len(session) >= _TOO_LONG:
        return unscored("ten items or more: nearly every list this long has the top score")
    domain = domain_of_list(log.session_items, log.catalogue)
    dimensions = [each for each in domain.attributes if each.name in domain.dimensions]
    known = [item for item in log.session_items if any(each.of(item) for each in dimensions)]
    if len(known) < _ENOUGH_KNOWN * len(session):
        return unscored("the attributes of most items of the list are not known")
    counts = characteristics(known, domain)
    shown = ", ".join(f"{count} {dimension}" for dimension, count in counts.items())
    return scored(diversity_score(counts), f"{shown} in {len(known)} {domain.items}")
