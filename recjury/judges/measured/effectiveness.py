"""Effectiveness: whether a target is in the session list, or else how similar the items are."""

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, join_first, scored, unscored
from recjury.knowledge import Catalogue
from recjury.language.genres import canonical_genres
from recjury.records import AttributeKind


class Similarity(IntEnum):
    """How similar two items are, in the words of the rubric (CoRE, appendix A.1.7)."""

    UNLIKE = 0
    SOMEWHAT = 1
    VERY = 2


class ItemTraits(NamedTuple):
    """The attributes of an item: of a film its directors and writers, actors, and genres."""

    makers: frozenset[str]
    cast: frozenset[str]
    genres: frozenset[str]


def effectiveness(log: AnnotatedLog) -> Outcome:
    """4 if a target is in the list; otherwise by the similarity of items to the nearest target.

    Most (more than half) very similar 3; most at least somewhat, or a few (one or more) very, 2;
    a few somewhat 1; none 0.
    """
    wanted = {target.id for target in log.log.scenario.targets} - {None}
    hits = [ref for ref in log.session if ref.id in wanted]
    if hits:
        findings = log.findings_of(hits, "lists a target")
        names = join_first([hit.name for hit in hits])
        return scored(4, "a target is in the list", findings, quoted=names)
    targets = tuple(item.id for item in log.items_of(log.log.scenario.targets))
    if not any(any(traits_of(each, log.catalogue)) for each in targets):
        return unscored("no target in the list, and nothing known of the targets")
    listed = log.items_of(log.session)
    alike = [(nearest(item.id, targets, log.catalogue), item) for item in listed]
    very = [item for how, item in alike if how is Similarity.VERY]
    somewhat = [item for how, item in alike if how is Similarity.SOMEWHAT]
    total = len(log.session)
    counts = f"{len(very)} are very similar to it, {len(somewhat)} somewhat"
    return scored(
        _similarity_score(len(very), len(somewhat), total),
        f"no target in the list; of {total} {log.domain.items} {counts}",
        log.findings_of(very, "like a target"),
        quoted=join_first([item.name for item in (*very, *somewhat)]),
    )


def _similarity_score(very: int, somewhat: int, total: int) -> int:
    if 2 * very > total:
        return 3
    if very or 2 * somewhat > total:
        return 2
    return 1 if somewhat else 0


@lru_cache(65_536)
def traits_of(item_id: str, catalogue: Catalogue) -> ItemTraits:
    """The attributes of an item of the catalogue, as its domain says them; a language makes no two
    items similar."""
    item = catalogue.item(item_id)
    domain = catalogue.domain_of(item)

    def values(kind: AttributeKind) -> frozenset[str]:
        kinds = (each for each in domain.of_kind(kind) if each.name != "language")
        return frozenset(value for each in kinds for value in each.of(item))

    genres = (name for genre in values("category") for name in canonical_genres(genre))
    return ItemTraits(values("maker"), values("cast"), frozenset(genres))


@lru_cache(65_536)  # recorded logs share their targets, about a hundred each
def nearest(item_id: str, targets: tuple[str, ...], catalogue: Catalogue) -> Similarity:
    """How similar an item is to the most similar target (at least one)."""
    one = traits_of(item_id, catalogue)
    return max(similarity(one, traits_of(each, catalogue)) for each in targets)


def similarity(one: ItemTraits, other: ItemTraits) -> Similarity:
    """How similar two items are.

    Very similar: they share a maker and a genre (or a maker, if genres are unknown), or at least
    two genres and three quarters of them, or two of the cast. Somewhat similar: they share a maker,
    one of the cast, or a third of the genres. Shares of genres are Jaccard indices.
    """
    makers = bool(one.makers & other.makers)
    cast = len(one.cast & other.cast)
    common = len(one.genres & other.genres)
    share = common / len(one.genres | other.genres) if common else 0.0
    if (makers and (common or not (one.genres and other.genres))) or cast > 1:
        return Similarity.VERY
    if share >= 0.75 and common > 1:
        return Similarity.VERY
    return Similarity.SOMEWHAT if makers or cast or share >= 1 / 3 else Similarity.UNLIKE
