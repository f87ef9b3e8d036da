"""The base of all evaluators, and what they are prepared with."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, field_validator

from recjury.errors import ConfigError
from recjury.isolation import in_thread
from recjury.plugins import source_digest
from recjury.records import (
    JSON,
    LIST_LENGTH,
    ConversationLog,
    ConversationRecord,
    Domain,
    Metric,
    Record,
    Stage,
    StageResult,
    UserSimulator,
)

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.knowledge import CatalogueFacts
    from recjury.llm import CallUse, Gateway, ModelSpec, PlannedCall

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]*")
LANGUAGE = r"^([^\W\d_]+([ -][^\W\d_]+){0,3})?$"
"""What a language may be called: up to four words; empty for that of the conversation."""


@dataclass(frozen=True)
class EvaluatorContext:
    """What evaluators of one corpus work with.

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

    def require_model(self, alias: str, evaluator: str, key: str) -> None:
        """Raise ConfigError unless the evaluator can ask the model `alias`, which its `key` names,
        for text."""
        if self.gateway is None:
            raise ConfigError(f"{evaluator} needs a model: add `model` to the campaign file")
        if alias not in self.models:
            known = ", ".join(sorted(self.models)) or "none"
            raise ConfigError(
                f"{evaluator}.{key} names the model {alias!r}, which is not under `models` "
                f"({known})"
            )
        if self.models[alias].embedding:
            raise ConfigError(
                f"{evaluator}.{key}: the model {alias!r} makes embeddings and writes no text"
            )

    def reply_settings(self, aliases: Iterable[str]) -> dict[str, JSON]:
        """The settings that can change a reply, by alias; unknown aliases are skipped."""
        return {
            alias: self.models[alias].reply_settings()
            for alias in sorted(set(aliases))
            if alias in self.models
        }


class Evaluator(Record, ABC):
    """Rates logs, stage by stage. Its fields are its keys in a campaign file and its identity.

    `name` is the prefix of its metric ids. `judgings` is how often each log is judged.

    What a field says is part of the identity, unless it has its default; so a field that is added
    later changes no identity. One object serves all logs about one corpus, many at once.
    """

    asks_user: ClassVar[bool] = False
    """Whether it asks the simulated user of the campaign."""
    rates_only: ClassVar[Literal["", "conversations", "replies"]] = ""
    """What it can rate: conversations with a user, single replies of offline sessions, or both."""

    kind: str
    name: str = ""
    judgings: int = Field(default=1, ge=1, le=100, strict=True)

    _context: EvaluatorContext = PrivateAttr(default_factory=EvaluatorContext)

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"a name may have only letters, digits, - and _, got {name!r}")
        return name

    @property
    def is_plugin(self) -> bool:
        """Whether its class is of another package: what it raises fails one evaluation."""
        return not type(self).__module__.startswith("recjury.")

    @property
    def isolation(self) -> str:
        """Where code of the user's runs for it, and what it can reach; empty for recjury's own."""
        return in_thread("an Evaluator class") if self.is_plugin else ""

    @property
    def label(self) -> str:
        """The name; the kind if it has no name."""
        return self.name or self.kind

    @property
    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """What it rates. Raises ConfigError if that stands in a file that cannot be used."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Its stages, each after those that it depends on."""
        return (Stage(name="rate"),)

    @property
    def open_at_once(self) -> int | None:
        """The maximum number of logs to evaluate at once; None for no limit."""
        return None

    @property
    def list_length(self) -> int:
        """How many items of a list it reads; systems give as many in an offline session."""
        return LIST_LENGTH

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """The models that it asks, each with the key that names it ("judges.models")."""
        return []

    @property
    def call_uses(self) -> "list[tuple[str, CallUse]]":
        """The models, by alias, from which it wants more than one plain reply, each with what."""
        return []

    def with_models(self, available: bool) -> Self:  # noqa: ARG002 (most do the same either way)
        """The evaluator with the defaults that depend on whether the campaign has any model."""
        return self

    def prepared(self, context: EvaluatorContext) -> Self:
        """A copy that can evaluate logs about the corpus of `context`.

        Raises ConfigError if `context` lacks something that it needs.
        """
        for key, alias in self.aliases:
            context.require_model(alias, self.label, key)
        ready = self._fresh_copy()
        ready._context = context
        ready._prepare()
        return ready

    def _fresh_copy(self) -> Self:
        """A copy without the cached properties, which may depend on the context."""
        copy = self.model_copy()
        for name in copy.__dict__.keys() - type(self).model_fields:
            del copy.__dict__[name]
        return copy

    def _prepare(self) -> None:
        """Check and load what it needs. Raises UserError."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything but the corpus that can change its ratings: its version."""
        unused: dict[str, Any] = {"kind": True, "name": True, "judgings": True}
        unused.update(self.without_effect)
        fields: dict[str, JSON] = self.model_dump(
            mode="json", exclude=unused, exclude_defaults=True
        )
        given = {name: value for name, value in fields.items() if value != {}}
        models = self._context.reply_settings(alias for _, alias in self.aliases)
        more = {"models": models, "code": source_digest(type(self)) if self.is_plugin else None}
        return {**given, **self.sources, **{name: value for name, value in more.items() if value}}

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """The fields that change no rating, as pydantic's `exclude` takes them.

        They choose what is rated and not how, are not used beside other fields, or name a file
        whose content is in `sources` or `data`.
        """
        return {}

    @property
    def sources(self) -> Mapping[str, JSON]:
        """What can change its ratings besides its fields: prompts, files, the rules' version."""
        return {}

    @property
    def data(self) -> Mapping[str, JSON]:
        """Corpus data that affects the ratings; usually empty."""
        return {}

    def plan(self, log: ConversationLog) -> "Iterator[PlannedCall]":  # noqa: ARG002
        """The calls that evaluate `log` once, if no reply has to be asked for again.

        What only replies tell (particles, a debate's statements) is assumed.
        """
        return iter(())

    @abstractmethod
    async def evaluate(
        self, stage: str, record: ConversationRecord, done: Mapping[str, StageResult]
    ) -> StageResult:
        """The result of `stage` for a log; `done` has the results of the stages before it.

        Each rating names a metric (`records.metric_id`), and has a score or a status that says why
        not. After a rating with the status CALL_FAILED, or a UnitFailed, the stage stays
        unfinished.
        """

    @property
    def _gateway(self) -> "Gateway":
        """The way to the models that `_prepare` has found."""
        assert self._context.gateway is not None
        return self._context.gateway


class OneModelEvaluator(Evaluator):
    """An evaluator that asks one model."""

    model: str = "main"

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """The model."""
        return [("model", self.model)]
