"""Persona packs: who a simulated user can be. The shipped one is `personas.yaml`."""

from pathlib import Path

from pydantic import Field, ValidationError

from recjury.errors import ConfigError
from recjury.mistakes import did_you_mean, mistake
from recjury.records import PersonaTraits, Record
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
