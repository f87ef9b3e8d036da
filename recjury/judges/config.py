"""The keys of every evaluator's entry in a campaign file, and the objects it is built from."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, field_validator

from recjury.errors import ConfigError
from recjury.records import (
    JSON,
    Domain,
    Evaluator,
    ExpectedCalls,
    Metric,
    Record,
    UserSimulator,
)

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.knowledge import CatalogueFacts
    from recjury.llm import CallUse, Gateway, ModelSpec

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]*")
LANGUAGE = r"^([^\W\d_]+([ -][^\W\d_]+){0,3})?$"
"""What a language may be called: up to four words; empty for that of the conversation."""


@dataclass(frozen=True)
class EvaluatorContext:
    """The objects that an evaluator may be built from.

    `corpus` has the items of the logs, None if it is unknown; `user` is the simulated user of the
    campaign, None if there is none. `models` are those of `gateway`, by alias.
    """

    corpus: "Corpus | None" = None
    gateway: "Gateway | None" = None
    models: "Mapping[str, ModelSpec]" = field(default_factory=dict)
    user: UserSimulator | None = None

    @property
    def facts(self) -> "CatalogueFacts | None":
        """What the corpus knows of its items; None if it is unknown."""
        from recjury.knowledge import CatalogueFacts

        return None if self.corpus is None else CatalogueFacts(self.corpus.catalogue)

    @property
    def domain(self) -> Domain | None:
        """What the corpus's items are; None for films and books, which the packs know."""
        from recjury.knowledge import BOOK, FILM

        domain = None if self.corpus is None else self.corpus.catalogue.domain
        return None if domain is None or domain.name in {BOOK, FILM} else domain

    def model(self, alias: str, user: str) -> "Gateway":
        """Return the gateway, after a check that `user` can ask the model `alias` for text.

        Raises ConfigError if there is no model, if none has this alias, or if it makes embeddings.
        """
        if self.gateway is None:
            raise ConfigError(f"{user} needs a model: add `model` to the campaign file")
        if alias not in self.models:
            known = ", ".join(sorted(self.models)) or "none"
            raise ConfigError(
                f"{user} names the model {alias!r}, which is not under `models` ({known})"
            )
        if self.models[alias].embedding:
            raise ConfigError(f"{user}: the model {alias!r} makes embeddings and writes no text")
        return self.gateway

    def reply_settings(self, aliases: Iterable[str]) -> dict[str, JSON]:
        """The settings that can change a reply, by alias; unknown aliases are skipped."""
        return {
            alias: self.models[alias].reply_settings()
            for alias in sorted(set(aliases))
            if alias in self.models
        }


class EvaluatorConfig(Record):
    """The entry of an evaluator in a campaign file.

    `name` is the prefix of its metric ids. `judgings` is how often each log is judged.
    """

    asks_user: ClassVar[bool] = False
    """Whether it asks the simulated user of the campaign."""

    kind: str
    name: str = ""
    judgings: int = Field(default=1, ge=1, le=100, strict=True)

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"a name may have only letters, digits, - and _, got {name!r}")
        return name

    @property
    def label(self) -> str:
        """The name; the kind if it has no name."""
        return self.name or self.kind

    def aliases(self, models: bool) -> list[tuple[str, str]]:  # noqa: ARG002 (most have none)
        """The models that it asks, each with the key that names it ("judges.models").

        `models` is True if the campaign has any model.
        """
        return []

    def expected(
        self,
        conversations: int,  # noqa: ARG002 (most ask nothing)
        turns: int,  # noqa: ARG002
        *,
        models: bool,  # noqa: ARG002
        attempts: int,  # noqa: ARG002
    ) -> Iterator[ExpectedCalls]:
        """The calls for judging `conversations`, with `turns` system turns in all, once."""
        return iter(())

    def call_uses(self) -> "Iterator[tuple[str, CallUse]]":
        """The models, by alias, from which it wants more than one plain reply, each with what."""
        return iter(())

    def metrics(self, models: bool) -> tuple[Metric, ...]:
        """The metrics that it rates. Raises ConfigError if they are in a file that cannot be
        used."""
        raise NotImplementedError

    def build(self, context: EvaluatorContext) -> Evaluator:
        """Build the evaluator. Raises ConfigError if `context` lacks something that it needs."""
        raise NotImplementedError
