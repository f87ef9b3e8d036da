"""The population of users: persona packs, and who speaks in each conversation, drawn by seed.

A person depends on the seed and the scenario alone, and each of its parts has a draw of its own. So
all systems and repeats meet the same person in a scenario, and with another condition or rate the
rest of the person stays the same. The shipped pack is `personas.yaml`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import get_args

from pydantic import Field, ValidationError

from recjury.errors import ConfigError
from recjury.knowledge import Catalogue, attributes_of
from recjury.mistakes import did_you_mean, mistake
from recjury.records import (
    DRAWN,
    JSON,
    PLAIN,
    Attribute,
    Behaviour,
    Condition,
    Item,
    ItemRef,
    Person,
    PersonaTraits,
    Record,
    Scenario,
    UserSettings,
    digest,
)
from recjury.simulator.spoken_values import TargetValues
from recjury.yaml_files import read_yaml

_SHIPPED = Path(__file__).with_name("personas.yaml")


class Persona(Record):
    """One persona: a sentence about it, as a model is told it, and its traits."""

    about: str = Field(default="", max_length=500)
    traits: PersonaTraits = PersonaTraits()


class PersonaPack(Record):
    """Personas by id, with the pack's name and version."""

    id: str = Field(min_length=1)
    version: str = Field(min_length=1)
    personas: dict[str, Persona] = Field(min_length=1)

    def persona(self, name: str) -> Persona:
        """The persona with this id. Raises ConfigError, in one line, if there is none."""
        if name not in self.personas:
            known = sorted(self.personas)
            hint = did_you_mean(name, known)
            raise ConfigError(f"no persona is called {name!r}{hint} (known: {', '.join(known)})")
        return self.personas[name]


def load_personas(path: str | None = None) -> PersonaPack:
    """The pack in the file at `path`; without it the shipped one.

    Raises ConfigError, in one line, for a file that cannot be read, an unknown trait, or a degree
    that is not low, medium or high.
    """
    file = _SHIPPED if path is None else Path(path)
    content = read_yaml(file)
    try:
        return PersonaPack.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{file}: {_first_mistake(error)}") from error


def _first_mistake(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    *place, last = (str(step) for step in detail["loc"]) if detail["loc"] else ("the file",)
    if detail["type"] == "extra_forbidden" and "traits" in place:
        known = sorted(PersonaTraits.model_fields)
        hint = did_you_mean(last, known)
        return f"`{'.'.join(place)}`: unknown trait `{last}`{hint} (known: {', '.join(known)})"
    if detail["type"] == "extra_forbidden":
        return f"unknown key `{'.'.join((*place, last))}`"
    return f"`{'.'.join((*place, last))}`: {mistake(detail)}"


# In this order, if several are drawn for one answer, the first is taken.
_BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)[::-1]
_WISHES = (2, 3)
_TRIES = 20
_BEST_KNOWN = 30  # items of which an enjoyed one is drawn
_DECOYS = 200  # items among which one is sought
_FREQUENT = 20  # values of which one is primed


def check_users(settings: UserSettings) -> None:
    """Raise ConfigError, in one line, for an unknown persona or a pack with a mistake."""
    pack = load_personas(settings.personas)
    if settings.persona not in (None, DRAWN):
        pack.persona(str(settings.persona))


class Population:
    """Draws the person of each conversation about one catalogue."""

    def __init__(
        self, catalogue: Catalogue, settings: UserSettings | None = None, *, seed: int = 0
    ):
        """Raises ConfigError for an unknown persona or a pack with a mistake."""
        self._catalogue, self._seed = catalogue, seed
        self._settings = settings or UserSettings()
        check_users(self._settings)
        self._pack = load_personas(self._settings.personas)

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What can change who speaks; empty for the plain user."""
        given = self._settings
        if given.is_plain:
            return {}
        content = given.model_dump(mode="json", exclude={"personas"}, exclude_defaults=True)
        pack = {"pack": digest(self._pack)} if given.persona else {}
        return {**content, **pack, "seed": self._seed}

    def person(self, scenario: Scenario, rounds: int) -> Person:
        """The user of all conversations that start from this scenario, up to `rounds` rounds."""
        given = self._settings
        if given.is_plain:
            return PLAIN
        name = self._persona(scenario)
        persona = self._pack.persona(name) if name else None
        ids = (target.id for target in scenario.targets)
        targets = [self._catalogue.item(id_) for id_ in ids if id_ and id_ in self._catalogue]
        return Person(
            knows=given.knows,
            wishes=self._wishes(scenario, targets) if given.knows == "wishes" else (),
            persona=name,
            about=persona.about if persona else "",
            traits=persona.traits if persona else PLAIN.traits,
            behaviours=self._behaviours(scenario, rounds),
            condition=self._condition(scenario, targets),
        )

    def _draw(self, scenario: Scenario, part: str) -> Random:
        return Random(digest(["person", self._seed, scenario.id, part]))

    def _persona(self, scenario: Scenario) -> str:
        if self._settings.persona != DRAWN:
            return self._settings.persona or ""
        return self._draw(scenario, "persona").choice(sorted(self._pack.personas))

    def _behaviours(self, scenario: Scenario, rounds: int) -> tuple[Behaviour | None, ...]:
        rates = self._settings.behaviours
        draws = {each: self._draw(scenario, each) for each in _BEHAVIOURS if rates.get(each)}
        drawn: list[Behaviour | None] = []
        for _ in range(rounds):
            found = [each for each, draw in draws.items() if draw.random() < rates[each]]
            drawn.append(found[0] if found else None)
        return tuple(drawn) if any(drawn) else ()

    def _wishes(self, scenario: Scenario, targets: Sequence[Item]) -> tuple[Attribute, ...]:
        """Two or three values of one target, none the target's alone, each of another kind.

        If possible, another item has all of them, too. Fewer, if the target has fewer.
        """
        draw = self._draw(scenario, "wishes")
        barred = TargetValues(self._catalogue, targets).barred
        by_target = [[v for v in self._values(t) if v not in barred] for t in targets]
        most = min(max((len({v.kind for v in vs}) for vs in by_target), default=0), _WISHES[0])
        usable = [values for values in by_target if len({v.kind for v in values}) >= most > 0]
        ids = {target.id for target in targets}
        first: tuple[Attribute, ...] = ()
        for _ in range(_TRIES if usable else 0):
            values, number = draw.choice(usable), draw.choice(_WISHES)
            wishes = self._without_repeats(_of_distinct_kinds(values, number, draw))
            first = max(first, wishes, key=len)
            if len(wishes) >= most and not ids.issuperset(self._having_all(wishes)):
                return wishes
        return first

    def _without_repeats(self, wishes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """`wishes` with each name once: who wrote and directed a film is one wish."""
        meaning = self._catalogue.attributes.meaning
        return tuple({meaning(wish): wish for wish in wishes}.values())

    def _values(self, item: Item) -> list[Attribute]:
        found = attributes_of(item, self._catalogue.domain_of(item))
        return [each for each in found if each.kind != "year"]

    def _having_all(self, attributes: Sequence[Attribute]) -> set[str]:
        index = self._catalogue.attributes
        return set.intersection(*(set(index.items_with(each)) for each in attributes))

    def _condition(self, scenario: Scenario, targets: Sequence[Item]) -> Condition | None:
        name = self._settings.condition
        if name is None:
            return None
        draw = self._draw(scenario, "condition")
        if name == "priming":
            return Condition(name=name, attribute=self._primed(targets, draw))
        near = self._near(scenario, targets, draw)
        if name == "reference_dependence":
            known = sorted(near, key=lambda item: -(item.popularity or 0.0))[:_BEST_KNOWN]
            return Condition(name=name, item=draw.choice(known).ref if known else None)
        return Condition(name=name, item=self._decoy(near, targets, draw))

    def _near(self, scenario: Scenario, targets: Sequence[Item], draw: Random) -> list[Item]:
        """The items with one category value of a target in common, else all; no target."""
        index, catalogue = self._catalogue.attributes, self._catalogue
        wanted = {t.id for t in scenario.targets}
        shared = [v for t in targets for v in self._values(t) if index.is_category(v)]
        ids = index.items_with(draw.choice(shared)) if shared else ()
        near = [catalogue.item(id_) for id_ in sorted(ids) if id_ not in wanted]
        return near or [item for item in catalogue if item.id not in wanted]

    def _decoy(self, near: list[Item], targets: Sequence[Item], draw: Random) -> ItemRef | None:
        """An item that shares less with the targets than the others that share a category."""
        values = {value for target in targets for value in self._values(target)}
        some = draw.sample(near, min(len(near), _DECOYS))
        found = min(some, key=lambda item: len(values & set(self._values(item))), default=None)
        return found.ref if found else None

    def _primed(self, targets: Sequence[Item], draw: Random) -> Attribute | None:
        """A frequent category value that no target has."""
        index, values = self._catalogue.attributes, set[Attribute]()
        for target in targets:
            values.update(self._values(target))
        meant = {index.meaning(value) for value in values}
        frequent = [v for v in index.frequent_categories() if index.meaning(v) not in meant]
        return draw.choice(frequent[:_FREQUENT]) if frequent else None


def _of_distinct_kinds(
    values: Sequence[Attribute], number: int, draw: Random
) -> tuple[Attribute, ...]:
    kinds = sorted({value.kind for value in values})
    chosen = draw.sample(kinds, min(number, len(kinds)))
    return tuple(draw.choice([v for v in values if v.kind == kind]) for kind in chosen)
