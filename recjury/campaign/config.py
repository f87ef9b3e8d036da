"""The configuration that a campaign file may contain.

Every key is checked. An unknown key is refused, and the message names the most similar known key. A
campaign file without `model` and `models` runs without any model.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from recjury.agents import SystemEntry
from recjury.campaign.simulator_config import SimulatorConfig
from recjury.judges import Evaluator, EvaluatorEntry
from recjury.llm import (
    ATTEMPTS,
    MAIN_MODEL,
    BudgetSpec,
    CallUse,
    ModelEntry,
    ModelSpec,
    Part,
    parse_budget,
)
from recjury.records import JSON, LIST_LENGTH, Metric, Record, UserSettings

DEFAULT_EVALUATORS = ("outcome", "core")
OFFLINE_EVALUATORS = ("offline",)
CONCURRENCY = 128
"""How many model calls are open at the same time by default."""

# What to write if a campaign has models but this part should not use one.
_WITHOUT_A_MODEL = {
    "simulator.model": "simulator: {kind: rule}",
    "judges.models": "judges: {kind: measured}",
    "debate.model": "debate: {kind: rule}",
}


class ScenarioSource(Record):
    """Where scenarios come from.

    `corpus` is redial, opendialkg, inspired, sample, sample-books, a folder in their format, or
    "module:function" of your own. With `limit`, that many scenarios are drawn at random with the
    campaign's seed; without it, all are used.
    """

    corpus: str
    split: str = "test"
    limit: int | None = Field(default=None, ge=1)


class PartLimits(Record):
    """How many model calls of one part may be open at the same time; None for no own limit."""

    simulator: int | None = Field(default=None, ge=1, le=4096)
    judges: int | None = Field(default=None, ge=1, le=4096)
    systems: int | None = Field(default=None, ge=1, le=4096)

    @property
    def given(self) -> dict[Part, int]:
        """The limits that are set."""
        every: dict[Part, int | None] = {
            "simulator": self.simulator,
            "judges": self.judges,
            "systems": self.systems,
        }
        return {part: limit for part, limit in every.items() if limit is not None}


class StopRule(Record):
    """When a campaign ends early: when its pairs of systems are decided.

    All decisions together are right with probability `pairs`, and none is made before
    `min_scenarios` scenarios that both systems have a score of. They are about `metric`
    ("core.overall"), by default the first metric of the last evaluator, and about the pairs
    `between`, by default about all.
    """

    pairs: float = Field(default=0.95, gt=0.5, lt=1)
    min_scenarios: int = Field(default=20, ge=2)
    metric: str | None = None
    between: tuple[tuple[str, str], ...] = ()

    @model_validator(mode="after")
    def _pairs_are_two_systems(self) -> Self:
        _refuse_twice("pairs of stop.between", [" and ".join(sorted(p)) for p in self.between])
        if alone := next((a for a, b in self.between if a == b), None):
            raise ValueError(f"stop.between: {alone} cannot be compared with itself")
        return self


class UsedModel(NamedTuple):
    """A model's alias, and the key in the file that names it."""

    place: str
    alias: str


class EvaluationConfig(Record):
    """The configuration of evaluators; it is the whole configuration if no conversation is
    played."""

    name: str = "campaign"
    data: str | None = None
    model: ModelEntry | None = None
    models: dict[str, ModelEntry] = Field(default_factory=dict)
    evaluators: tuple[EvaluatorEntry, ...] = Field(
        default=DEFAULT_EVALUATORS, validate_default=True
    )
    seed: int = 0
    attempts: int = Field(default=ATTEMPTS, ge=1, le=20)
    concurrency: int = Field(default=CONCURRENCY, ge=1, le=4096)
    limits: PartLimits = PartLimits()
    budget: Annotated[BudgetSpec, BeforeValidator(parse_budget)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _judges_have_moved(cls, given: object) -> object:
        if isinstance(given, Mapping):
            for key in ("judges", "debate"):
                if key in given:
                    raise ValueError(
                        f"`{key}` belongs to its evaluator: "
                        f"write `evaluators: [outcome, {{kind: core, {key}: {{...}}}}]`"
                    )
        return given

    @field_validator("evaluators")
    @classmethod
    def _defaults_depend_on_models(
        cls, entries: tuple[Evaluator, ...], info: ValidationInfo
    ) -> tuple[Evaluator, ...]:
        available = bool(info.data.get("model") or info.data.get("models"))
        return tuple(entry.with_models(available) for entry in entries)

    @model_validator(mode="after")
    def _evaluators_have_their_own_names(self) -> Self:
        _refuse_twice("evaluators", [each.label for each in self.evaluators])
        return self

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        if self.model is not None and MAIN_MODEL in self.models:
            raise ValueError(f"`model` and `models.{MAIN_MODEL}` mean the same: keep one of them")
        for place, alias in self._used_models():
            if alias not in self.all_models:
                known = ", ".join(sorted(self.all_models)) or "none"
                without = _WITHOUT_A_MODEL.get(".".join(place.split(".")[-2:]))
                hint = f"; `{without}` does without a model" if without else ""
                raise ValueError(
                    f"{place} names the model {alias!r}, which is not under `models` ({known})"
                    f"{hint}"
                )
        return self

    @property
    def all_models(self) -> dict[str, ModelSpec]:
        """Every model by alias; `model` is the one called "main"."""
        main: dict[str, ModelSpec] = {} if self.model is None else {MAIN_MODEL: self.model}
        return {**main, **self.models}

    @property
    def models_in_use(self) -> dict[str, ModelSpec]:
        """The models that are used, by alias, sorted."""
        used = {alias for _, alias in self._used_models()}
        return {alias: spec for alias, spec in sorted(self.all_models.items()) if alias in used}

    @property
    def has_models(self) -> bool:
        """Whether there is a model. If so, simulated users, judges and debaters are models by
        default."""
        return bool(self.all_models)

    @property
    def call_uses(self) -> dict[str, frozenset[CallUse]]:
        """By alias, what models are asked for besides plain replies."""
        found: dict[str, frozenset[CallUse]] = {}
        for entry in self.evaluators:
            for alias, use in entry.call_uses:
                found[alias] = found.get(alias, frozenset()) | {use}
        return found

    def _used_models(self) -> list[UsedModel]:
        return [
            UsedModel(f"{entry.label}.{key}", alias)
            for entry in self.evaluators
            for key, alias in entry.aliases
        ]


class CampaignConfig(EvaluationConfig):
    """A campaign: scenarios x systems x repeats, the simulated users, and the evaluators.

    `simulator` says what plays the users and how long, `user` who they are. In an offline `session`
    nobody plays a user: each system replies once to the history of each scenario.
    """

    scenarios: tuple[ScenarioSource, ...] = Field(min_length=1)
    systems: tuple[SystemEntry, ...] = Field(min_length=1)
    session: Literal["simulated", "offline"] = "simulated"
    simulator: SimulatorConfig = SimulatorConfig()
    user: UserSettings = UserSettings()
    repeats: int = Field(default=1, ge=1, le=1000)
    stop: StopRule | None = None

    @model_validator(mode="before")
    @classmethod
    def _defaults_depend_on_the_session(cls, given: object) -> object:
        if isinstance(given, Mapping) and given.get("session") == "offline":
            return {"evaluators": OFFLINE_EVALUATORS, **given}
        return given

    @field_validator("scenarios", mode="before")
    @classmethod
    def _bare_names_are_corpora(cls, sources: object) -> object:
        if not isinstance(sources, list):
            return sources
        return [{"corpus": entry} if isinstance(entry, str) else entry for entry in sources]

    @model_validator(mode="after")
    def _systems_have_their_own_names(self) -> Self:
        _refuse_twice("systems", [system.name for system in self.systems])
        return self

    @model_validator(mode="after")
    def _session_has_what_is_given(self) -> Self:
        for key, given, default in (
            ("simulator", self.simulator, SimulatorConfig()),
            ("user", self.user, UserSettings()),
        ):
            if self.is_offline and given != default:
                raise ValueError(f"{key}: nobody plays a user in `session: offline`: leave it out")
        for entry in self.evaluators if self.scenarios else ():
            if self.is_offline and entry.rates_only == "conversations":
                raise ValueError(
                    f"{entry.label} rates whole conversations, and `session: offline` has one "
                    "reply to each history: leave it out, or play without `session: offline`"
                )
            if not self.is_offline and entry.rates_only == "replies":
                raise ValueError(
                    f"{entry.label} rates single replies to recorded histories: "
                    "add `session: offline`"
                )
        return self

    @model_validator(mode="after")
    def _papers_user_is_plain(self) -> Self:
        if self.simulator.prompts == "core-paper" and not self.user.is_plain:
            raise ValueError(
                "`simulator.prompts: core-paper` plays no `user`: leave one of them out"
            )
        return self

    @model_validator(mode="after")
    def _pairs_can_be_decided(self) -> Self:
        if self.stop is not None and self.systems:
            names = [system.name for system in self.systems]
            if len(names) < 2:
                raise ValueError("stop: decides pairs, and there is only one system")
            for name in (name for pair in self.stop.between for name in pair):
                if name not in names:
                    raise ValueError(f"stop.between: no system is called {name!r}: {names}")
            self.stop_metric(self.stop)
        return self

    def stop_metric(self, rule: StopRule) -> tuple[str, Metric]:
        """The evaluator's label and the metric about which pairs are decided.

        Raises ValueError for a metric that there is not, or that has no upper bound.
        """
        known = {
            f"{entry.label}.{metric.id}": (entry.label, metric)
            for entry in self.evaluators
            for metric in entry.metrics
            if not metric.detail
        }
        bounded = [name for name, (_, metric) in known.items() if metric.high is not None]
        if rule.metric is not None and rule.metric not in bounded:
            why = "has no upper bound" if rule.metric in known else "is not in this campaign"
            raise ValueError(f"stop.metric: {rule.metric!r} {why}: choose one of {bounded}")
        if not bounded:
            raise ValueError("stop: no evaluator has a metric with an upper bound")
        last = [name for name in bounded if known[name][0] == known[bounded[-1]][0]]
        return known[rule.metric or last[0]]

    @property
    def is_offline(self) -> bool:
        """Whether systems reply once to the histories, without a simulated user."""
        return self.session == "offline"

    @property
    def rounds(self) -> int:
        """How many rounds a conversation has at most."""
        return 1 if self.is_offline else self.simulator.max_rounds

    @property
    def list_length(self) -> int:
        """How many items of each list count: offline, as many as an evaluator reads."""
        if not self.is_offline:
            return self.simulator.list_length
        return max((entry.list_length for entry in self.evaluators), default=LIST_LENGTH)

    @property
    def plays_llm(self) -> bool:
        """Whether the simulated user is a model."""
        if self.is_offline:
            return False
        kind = self.simulator.kind
        return self.has_models if kind is None else kind == "llm"

    def _used_models(self) -> list[UsedModel]:
        used = super()._used_models()
        if self.plays_llm:
            used.append(UsedModel("simulator.model", self.simulator.model))
        used += [UsedModel(*each) for system in self.systems for each in system.aliases]
        return used


def _refuse_twice(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two {what} are named {twice[0]!r}: give each its own name")


class EvaluatorsOnly(CampaignConfig):
    """A campaign file as `recjury judge` reads it: scenarios and systems may be missing.

    Everything is checked as in any campaign file, but only the evaluators' part is used.
    """

    scenarios: tuple[ScenarioSource, ...] = ()
    systems: tuple[SystemEntry, ...] = ()

    def _used_models(self) -> list[UsedModel]:
        return EvaluationConfig._used_models(self)

    @property
    def for_evaluators(self) -> EvaluationConfig:
        """The configuration of the evaluators, with only the models that they use.

        The endpoints of the other models are not tried.
        """
        used = self.models_in_use
        fields: dict[str, object] = {
            name: getattr(self, name) for name in EvaluationConfig.model_fields
        }
        main: JSON | ModelSpec | None = used.pop(MAIN_MODEL, None)
        return EvaluationConfig.model_validate({**fields, "model": main, "models": used})
