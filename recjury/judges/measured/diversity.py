"""Diversity: how many values the session list has in each dimension of its domain."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from recjury.judges.measured.anchors import Outcome, not_applicable, not_measured, score_of
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.genres import canonical_genres
from recjury.knowledge import Catalogue
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
    domain = domain_of_list(annotated.session_items, annotated.catalogue)
    dimensions = [each for each in domain.attributes if each.name in domain.dimensions]
    known = [item for item in annotated.session_items if any(each.of(item) for each in dimensions)]
    if len(known) < _ENOUGH_KNOWN * len(session):
        return not_measured(f"attributes known for {len(known)} of {len(session)} items only")
    counts = characteristics(known, domain)
    shown = ", ".join(f"{count} {dimension}" for dimension, count in counts.items())
    return score_of(diversity_score(counts), f"{shown} in {len(known)} items")
