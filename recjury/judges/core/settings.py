"""The keys of the twelve judges and of the debate in a campaign file."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from recjury.errors import ConfigError
from recjury.llm import MAIN_MODEL
from recjury.records import Factor, Record, Role


class JudgeSettings(Record):
    """The judges of the twelve factors. The default `kind` is llm if there is a model, else
    measured.

    With several `models`, `combine: mean` has each rate all factors and adds their mean; with
    `combine: route`, the first rates all factors except those that `routing` gives to another; this
    may also be a YAML file with such keys.
    `feeds` names the model whose scores and reasons the debate gets (default: the first).
    """

    kind: Literal["llm", "measured"] | None = None
    models: tuple[str, ...] = (MAIN_MODEL,)
    combine: Literal["route", "mean"] = "route"
    routing: dict[Factor, str] = Field(default_factory=dict)
    feeds: str | None = None
    temperature: float = Field(default=0.0, ge=0, le=2)

    @field_validator("routing", mode="before")
    @classmethod
    def _routing_may_be_a_file(cls, routing: object) -> object:
        """The content of a file is kept, so that its name does not matter."""
        if not isinstance(routing, str):
            return routing
        from recjury.yaml_files import read_yaml

        try:
            return read_yaml(Path(routing))
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @field_validator("models")
    @classmethod
    def _some_model(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if not models:
            raise ValueError("at least one model is needed: leave the key out for the main one")
        return models

    @property
    def routes(self) -> dict[Factor, str] | None:
        """The model of each factor that has its own; None if every model rates every factor."""
        return self.routing if self.combine == "route" else None

    @model_validator(mode="after")
    def _routes_are_followed(self) -> Self:
        if self.combine == "mean" and self.routing:
            raise ValueError("`judges.routing` needs `combine: route`: leave one of them out")
        return self


class DebateSettings(Record):
    """The debate. The default `kind` is llm if the campaign has a model, else rule; off has no
    debate."""

    kind: Literal["llm", "rule", "off"] | None = None
    model: str = MAIN_MODEL
    roles: dict[Role, str] = Field(default_factory=dict)
    max_rounds: int = Field(default=4, ge=1, le=20)
    temperature: float = Field(default=0.0, ge=0, le=2)

    @field_validator("kind", mode="before")
    @classmethod
    def _yaml_off_is_false(cls, kind: object) -> object:
        return "off" if kind is False else kind

    @property
    def cast(self) -> dict[Role, str]:
        """The alias of the model that plays each role."""
        return {role: self.roles.get(role, self.model) for role in Role}
