"""Scenarios of a catalogue alone: what a user wants is drawn from its items."""

from collections.abc import Iterator, Sequence
from itertools import islice

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Domain
from recjury.errors import UserError
from recjury.records import Scenario, text_hash

_MOST_WISHES = 3
_FEW = 10  # items that meet all wishes: with so few, no wish is added


def drawn(
    corpus: str, domain: Domain, catalogue: Catalogue, count: int, seed: int
) -> tuple[Scenario, ...]:
    """`count` scenarios with an empty history, the same ones on every machine.

    An item is drawn, and with it one to three of its attribute values, which other items have, too,
    but not all. These are the wishes; the targets are the items that meet all of them, the drawn
    one first, then the most popular ones, at most ten. A larger draw contains a smaller one. Raises
    UserError if the catalogue cannot give as many.
    """
    scenarios = tuple(islice(_scenarios(corpus, domain, catalogue, seed), count))
    if len(scenarios) < count:
        raise UserError(
            f"draw: {count} scenarios are wanted, and {len(scenarios)} of the {len(catalogue)} "
            f"items of {corpus} share an attribute value with some of the others"
        )
    return scenarios


def shuffled(scenarios: Sequence[Scenario], seed: int) -> tuple[Scenario, ...]:
    """The scenarios in an order drawn by a seed, the same one on every machine."""
    return tuple(sorted(scenarios, key=lambda scenario: lot(seed, scenario.id)))


def _scenarios(corpus: str, domain: Domain, catalogue: Catalogue, seed: int) -> Iterator[Scenario]:
    for item in sorted(catalogue, key=lambda item: lot(seed, item.id)):
        if wishes := tuple(_wishes(item, domain, catalogue, seed)):
            yield Scenario(
                id=f"{seed}-{item.id}",
                corpus=corpus,
                domain=domain.item,
                targets=tuple(each.ref for each in _targets(item, wishes, catalogue)),
                wishes=wishes,
            )


def _wishes(item: Item, domain: Domain, catalogue: Catalogue, seed: int) -> Iterator[str]:
    """Values of an item; each of them leaves fewer items, and never the item alone."""
    left, chosen = set(catalogue.items), 0
    facts = (fact for fact in catalogue.graph.values_of(item.id) if domain.is_asked_for(fact[0]))
    for relation, value in sorted(facts, key=lambda fact: lot(seed, item.id, fact[1])):
        having = catalogue.graph.items_with(relation, value) & left
        is_needed = not chosen or (chosen < _MOST_WISHES and len(left) > _FEW)
        if is_needed and 1 < len(having) < len(left):
            left, chosen = having, chosen + 1
            yield f"{relation}: {value}"


def _targets(item: Item, wishes: tuple[str, ...], catalogue: Catalogue) -> list[Item]:
    others = [each for each in catalogue.meeting(wishes) if each.id != item.id]
    return [item, *others][:_FEW]


def lot(*parts: object) -> str:
    """A random order: what has the smaller text comes first, the same on every machine."""
    return text_hash(":".join(map(str, parts)))
