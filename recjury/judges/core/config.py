"""The keys of the twelve judges and of the debate in a campaign file."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, field_validator, model_validator

from recjury.judges.config import LANGUAGE, EvaluatorConfig, EvaluatorContext
from recjury.judges.core.metrics import core_metrics
from recjury.llm import MAIN_MODEL
from recjury.prompts import load_pack
from recjury.records import Domain, ExpectedCalls, Expert, Factor, Metric, Record, Role

if TYPE_CHECKING:
    from recjury.debate import Debater
    from recjury.judges.core.evaluator import CoreEvaluator, Raters
    from recjury.judges.measured import MeasuredPanel

_JUDGING = (2_300, 250)  # tokens of a prompt and of a reply, on average
_DEBATING = (3_000, 250)


class JudgesConfig(Record):
    """The judges of the twelve factors. The default `kind` is llm if there is a model, else
    measured.

    With several `models`, `combine: mean` has each rate all factors and adds their mean; with
    `combine: route`, the first rates all factors except those that `routing` gives to another; this
    may also be a YAML file with such keys.
    `feeds` names the model whose scores and reasons the debate gets (default: the first).

    With `learned`, measured judges take the small judge's opinion of Coherence, Naturalness and
    Grammatical Correctness: that of the package (true), or of a folder with trained replies.
    """

    kind: Literal["llm", "measured"] | None = None
    learned: bool | str = False
    models: tuple[str, ...] = (MAIN_MODEL,)
    combine: Literal["route", "mean"] = "route"
    routing: dict[Factor, str] = Field(default_factory=dict)
    feeds: str | None = None
    temperature: float = Field(default=0.0, ge=0, le=2)

    @field_validator("routing", mode="before")
    @classmethod
    def _routing_may_be_a_file(cls, routing: object) -> object:
        return _read_routing(Path(routing)) if isinstance(routing, str) else routing

    @field_validator("models")
    @classmethod
    def _some_model(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if not models:
            raise ValueError("at least one model is needed: leave the key out for the main one")
        return models

    @model_validator(mode="after")
    def _routes_are_followed(self) -> Self:
        if self.combine == "mean" and self.routing:
            raise ValueError("`judges.routing` needs `combine: route`: leave one of them out")
        if self.learned and self.kind == "llm":
            raise ValueError("`judges.learned` is for measured judges: leave it or `kind: llm` out")
        return self


class DebateConfig(Record):
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


class CoreConfig(EvaluatorConfig):
    """The twelve judges and the debate.

    `prompts: core-paper` keeps the order and the inputs of the paper's prompts. `language`
    ("English") is the one that judges and debaters write in, by default that of the conversation.
    """

    kind: Literal["core"] = "core"
    prompts: Literal["core", "core-paper"] = "core"
    language: str = Field(default="", pattern=LANGUAGE)
    judges: JudgesConfig = JudgesConfig()
    debate: DebateConfig = DebateConfig()

    def aliases(self, models: bool) -> list[tuple[str, str]]:
        """The models of the judges and of the debaters."""
        used: list[tuple[str, str]] = []
        if _is_llm(self.judges.kind, models):
            used += [("judges.models", alias) for alias in self.judges.models]
            used += [("judges.routing", alias) for alias in self.judges.routing.values()]
        if _is_llm(self.debate.kind, models):
            used.append(("debate.model", self.debate.model))
            used += [("debate.roles", alias) for alias in self.debate.roles.values()]
        return used

    def expected(
        self,
        conversations: int,
        turns: int,  # noqa: ARG002 (a call for a log, however long)
        *,
        models: bool,
        attempts: int,
    ) -> Iterator[ExpectedCalls]:
        """Twelve ratings by each judge, and four statements in each round of the debate."""
        if _is_llm(self.judges.kind, models):
            for alias, times in self._ratings().items():
                asked = times * conversations
                yield ExpectedCalls(alias, "judge", asked, attempts * asked, *_JUDGING)
        if _is_llm(self.debate.kind, models):
            for alias, times in Counter(self.debate.cast.values()).items():
                asked = times * conversations * self.debate.max_rounds
                yield ExpectedCalls(alias, "debate", asked, attempts * asked, *_DEBATING)

    def metrics(self, models: bool) -> tuple[Metric, ...]:
        """The verdict of the debate, if there is one, and the twelve factors."""
        return core_metrics(debate=self.debate.kind != "off", llm=_is_llm(self.judges.kind, models))

    def build(self, context: EvaluatorContext) -> "CoreEvaluator":
        """Build the evaluator of logs about the corpus of `context`."""
        from recjury.judges.core.evaluator import CoreEvaluator

        models = bool(context.models)
        for place, alias in self.aliases(models):
            context.model(alias, f"{self.label}: {place}")
        return CoreEvaluator(
            self._raters(context),
            self._debaters(context),
            max_rounds=self.debate.max_rounds,
            name=self.label,
            models=context.reply_settings(alias for _, alias in self.aliases(models)),
            metrics=self.metrics(models),
            domain=context.domain,
        )

    def _raters(self, context: EvaluatorContext) -> "Raters":
        judges = self.judges
        if not _is_llm(judges.kind, bool(context.models)):
            from recjury.judges.measured import MeasuredPanel
            from recjury.knowledge import Catalogue

            if context.corpus is None:
                measured = MeasuredPanel(Catalogue("unknown", ()))
            else:
                measured = MeasuredPanel(context.corpus.catalogue, context.corpus.graph)
            return measured if not judges.learned else self._with_learned(measured)
        from recjury.judges.core.panel import Panel
        from recjury.judges.core.rubric import Rubric
        from recjury.judges.guideline import JudgePrompts

        pack = load_pack(f"{self.prompts}-judges")
        prompts = JudgePrompts(pack, facts=context.facts, language=self.language)
        routes = judges.routing if judges.combine == "route" else None
        return Panel(
            context.model(judges.models[0], self.label),
            judges.models if routes is None else judges.models[:1],
            routes=routes,
            source_judge=judges.feeds,
            rubric=Rubric(prompts, context.domain),
            temperature=judges.temperature,
        )

    def _with_learned(self, measured: "MeasuredPanel") -> "Raters":
        from recjury.judges.learned.opinion import MeasuredAndLearnedPanel
        from recjury.judges.learned.shipped import judge_folder
        from recjury.plugins.extras import require_minilm

        require_minilm(f"{self.label}: judges.learned")
        named = self.judges.learned
        folder = judge_folder("replies", Path(named) if isinstance(named, str) else None)
        return MeasuredAndLearnedPanel(measured, folder)

    def _debaters(self, context: EvaluatorContext) -> "Debater | None":
        debate = self.debate
        if debate.kind == "off":
            return None
        if not _is_llm(debate.kind, bool(context.models)):
            from recjury.debate import RuleDebaters

            return RuleDebaters()
        from recjury.debate import DebatePrompts
        from recjury.debate.llm_debaters import LlmDebaters

        gateway = context.model(debate.model, self.label)
        pack = load_pack(f"{self.prompts}-debate")
        prompts = DebatePrompts(
            pack, facts=context.facts, language=self.language, expert=_expert(context.domain)
        )
        return LlmDebaters(gateway, debate.cast, prompts, temperature=debate.temperature)

    def _ratings(self) -> Counter[str]:
        if self.judges.combine == "mean":
            return Counter({alias: len(Factor) for alias in self.judges.models})
        first = self.judges.models[0]
        return Counter(self.judges.routing.get(factor, first) for factor in Factor)


def _expert(domain: Domain | None) -> Expert | None:
    from recjury.knowledge import expert_of

    return None if domain is None else expert_of(domain)


def _is_llm(kind: str | None, models: bool) -> bool:
    return models if kind is None else kind == "llm"


def _read_routing(path: Path) -> object:
    """The content of a routing file; the settings hold it, so that its name does not matter."""
    import yaml

    try:
        return yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
