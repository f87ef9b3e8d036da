"""What a campaign file may say.

Every key is checked; an unknown one is refused with the nearest right one. A campaign file
without `model` and `models` runs without any model.
"""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, field_validator, model_validator

from recjury.llm import ModelSpec
from recjury.records import LIST_LENGTH, Factor, Record, Role

MAIN_MODEL = "main"


class Section(Record):
    """A part of a campaign file: frozen, and strict about its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ScenarioSource(Section):
    """Where scenarios come from.

    `corpus` is redial, opendialkg, sample, or a folder in the sample's format. `limit` draws
    that many scenarios at random with the campaign's seed; without it all are used.
    """

    corpus: str
    split: str = "test"
    limit: int | None = Field(default=None, ge=1)


class RetrievalConfig(Section):
    """A retrieval CRS that needs no model."""

    kind: Literal["retrieval"]
    name: str = "retrieval"


class _NeuralConfig(Section):
    """A neural system from a checkpoint folder; `{corpus}` in it stands for the corpus.

    Without a `checkpoint` it has the weights that ship for the sample corpus.
    `fidelity` is by default what the checkpoint was trained as, and for published ones "ievalm".
    `device` is where torch computes.
    """

    checkpoint: str | None = None
    fidelity: Literal["corrected", "ievalm"] | None = None
    device: str = "cpu"


class KbrdConfig(_NeuralConfig):
    """KBRD. `backbones` may name the tokenizer of its generator (`bart`)."""

    kind: Literal["kbrd"]
    name: str = "kbrd"
    backbones: dict[Literal["bart"], str] = Field(default_factory=dict)


class BarcorConfig(_NeuralConfig):
    """BARCOR. `backbones` may name its tokenizer (`bart`)."""

    kind: Literal["barcor"]
    name: str = "barcor"
    backbones: dict[Literal["bart"], str] = Field(default_factory=dict)


class UnicrsConfig(_NeuralConfig):
    """UniCRS. `backbones` may name the models it builds on (`gpt2`, `roberta`)."""

    kind: Literal["unicrs"]
    name: str = "unicrs"
    backbones: dict[Literal["gpt2", "roberta"], str] = Field(default_factory=dict)


class ChatCrsConfig(Section):
    """An LLM as CRS. `embeddings`: tfidf, minilm, or the alias of an embedding model."""

    kind: Literal["chatcrs"]
    name: str = "chatcrs"
    model: str = MAIN_MODEL
    list_source: Literal["independent", "from_text"] = "independent"
    embeddings: str = "tfidf"


class OpenAiCrsConfig(Section):
    """An OpenAI-compatible endpoint that is a CRS already: no prompt of ours is sent to it."""

    kind: Literal["openai_crs"]
    name: str
    model: str
    system_prompt: str = ""


class PythonConfig(Section):
    """Anyone's own system: `path` is "module:Class" or an entry point's name.

    `timeout` is in seconds, for one answer.
    """

    kind: Literal["python"]
    name: str
    path: str
    options: dict[str, object] = Field(default_factory=dict)
    timeout: float = Field(default=300, gt=0)


class HttpConfig(Section):
    """Anyone's own system behind HTTP; docs/systems.md says what is sent and answered.

    `retries` are made where the system cannot have taken the request up; with `idempotent` also
    after time-outs, broken connections and errors of the server.
    """

    kind: Literal["http"]
    name: str
    url: str
    health: str | None = None
    version: str = ""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    key_env: str | None = None
    key_header: str = "Authorization"
    timeout: float = Field(default=60, gt=0)
    retries: int = Field(default=2, ge=0, le=20)
    idempotent: bool = False
    concurrency: int = Field(default=8, ge=1, le=1024)
    max_bytes: int = Field(default=1_000_000, ge=1)


SystemConfig = Annotated[
    RetrievalConfig
    | KbrdConfig
    | BarcorConfig
    | UnicrsConfig
    | ChatCrsConfig
    | OpenAiCrsConfig
    | PythonConfig
    | HttpConfig,
    Field(discriminator="kind"),
]


# What to write where a campaign has models, but somebody is to be played without one.
_BY_RULE = {
    "simulator.model": "simulator: {kind: rule}",
    "judges.models": "judges: {kind: measured}",
    "debate.model": "debate: {kind: rule}",
}


class SimulatorConfig(Section):
    """The simulated user. `kind` is llm where the campaign has a model, else rule."""

    kind: Literal["llm", "rule"] | None = None
    model: str = MAIN_MODEL
    temperature: float = Field(default=0.7, ge=0, le=2)
    min_rounds: int = Field(default=3, ge=1, le=50)
    max_rounds: int = Field(default=5, ge=1, le=50)
    list_length: int = Field(default=LIST_LENGTH, ge=1, le=100)

    @model_validator(mode="after")
    def _rounds_in_order(self) -> Self:
        if self.min_rounds > self.max_rounds:
            raise ValueError(
                f"min_rounds ({self.min_rounds}) must not exceed max_rounds ({self.max_rounds})"
            )
        return self


class JudgesConfig(Section):
    """Who rates the twelve factors. `kind` is llm where the campaign has a model, else measured.

    With several `models`, `combine: mean` has each rate all factors and adds their mean;
    `combine: route` has the first rate all but those that `routing` gives to another.
    `feeds` names the model whose scores and reasons go to the debate (default: the first).
    """

    kind: Literal["llm", "measured"] | None = None
    models: tuple[str, ...] = (MAIN_MODEL,)
    combine: Literal["route", "mean"] = "route"
    routing: dict[Factor, str] = Field(default_factory=dict)
    feeds: str | None = None
    temperature: float = Field(default=0.0, ge=0, le=2)

    @field_validator("models")
    @classmethod
    def _some_model(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if not models:
            raise ValueError("at least one model is needed: leave the key out for the main one")
        return models


class DebateConfig(Section):
    """The debate. `kind` is llm where the campaign has a model, else rule; off leaves it out."""

    kind: Literal["llm", "rule", "off"] | None = None
    model: str = MAIN_MODEL
    roles: dict[Role, str] = Field(default_factory=dict)
    max_rounds: int = Field(default=4, ge=1, le=20)
    temperature: float = Field(default=0.0, ge=0, le=2)

    @field_validator("kind", mode="before")
    @classmethod
    def _yaml_off_is_false(cls, kind: object) -> object:
        return "off" if kind is False else kind


class RatingConfig(Section):
    """Who rates and debates: all that recorded conversations need."""

    name: str = "campaign"
    data: str | None = None
    model: ModelSpec | None = None
    models: dict[str, ModelSpec] = Field(default_factory=dict)
    judges: JudgesConfig = JudgesConfig()
    debate: DebateConfig = DebateConfig()
    seed: int = 0
    concurrency: int = Field(default=64, ge=1, le=4096)
    budget: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        if self.model is not None and MAIN_MODEL in self.models:
            raise ValueError(f"`model` and `models.{MAIN_MODEL}` mean the same: keep one of them")
        for place, alias in self._aliases_in_use():
            if alias not in self.all_models:
                known = ", ".join(sorted(self.all_models)) or "none"
                rules = _BY_RULE.get(place)
                hint = f"; `{rules}` does without a model" if rules else ""
                raise ValueError(
                    f"{place} names the model {alias!r}, which is not under `models` ({known})"
                    f"{hint}"
                )
        return self

    @property
    def all_models(self) -> dict[str, ModelSpec]:
        """Every model by alias; `model` is the one called "main"."""
        main = {} if self.model is None else {MAIN_MODEL: self.model}
        return main | self.models

    @property
    def judges_llm(self) -> bool:
        """Whether the judges are models."""
        return self._chosen(self.judges.kind)

    @property
    def debates_llm(self) -> bool:
        """Whether the debaters are models."""
        return self._chosen(self.debate.kind)

    @property
    def aliases_in_use(self) -> tuple[str, ...]:
        """The aliases that somebody is played by, sorted."""
        return tuple(sorted({alias for _, alias in self._aliases_in_use()}))

    def _chosen(self, kind: str | None) -> bool:
        return bool(self.all_models) if kind is None else kind == "llm"

    def _aliases_in_use(self) -> list[tuple[str, str]]:
        used: list[tuple[str, str]] = []
        if self.judges_llm:
            used += [("judges.models", alias) for alias in self.judges.models]
            used += [("judges.routing", alias) for alias in self.judges.routing.values()]
        if self.debates_llm:
            used.append(("debate.model", self.debate.model))
            used += [("debate.roles", alias) for alias in self.debate.roles.values()]
        return used


class CampaignConfig(RatingConfig):
    """A campaign: scenarios x systems x repeats, and who plays, rates and debates."""

    scenarios: tuple[ScenarioSource, ...] = Field(min_length=1)
    systems: tuple[SystemConfig, ...] = Field(min_length=1)
    simulator: SimulatorConfig = SimulatorConfig()
    repeats: int = Field(default=1, ge=1, le=1000)

    @field_validator("systems", mode="before")
    @classmethod
    def _bare_names_are_kinds(cls, systems: object) -> object:
        if not isinstance(systems, list):
            return systems
        return [{"kind": entry} if isinstance(entry, str) else entry for entry in systems]

    @field_validator("scenarios", mode="before")
    @classmethod
    def _bare_names_are_corpora(cls, sources: object) -> object:
        if not isinstance(sources, list):
            return sources
        return [{"corpus": entry} if isinstance(entry, str) else entry for entry in sources]

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [system.name for system in self.systems]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two systems are named {twice[0]!r}: give each its own name")
        return self

    @property
    def plays_llm(self) -> bool:
        """Whether the simulated user is a model."""
        return self._chosen(self.simulator.kind)

    def _aliases_in_use(self) -> list[tuple[str, str]]:
        used = super()._aliases_in_use()
        if self.plays_llm:
            used.append(("simulator.model", self.simulator.model))
        for system in self.systems:
            if isinstance(system, ChatCrsConfig | OpenAiCrsConfig):
                used.append((f"system {system.name}", system.model))
            if isinstance(system, ChatCrsConfig) and system.embeddings not in ("tfidf", "minilm"):
                used.append((f"system {system.name} (embeddings)", system.embeddings))
        return used
