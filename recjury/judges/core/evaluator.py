"""The twelve judges and the debate as one evaluator, and the metrics that they rate."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, Self

from pydantic import Field, PrivateAttr

from recjury.debate import (
    DEBATE,
    OVERALL,
    RULE_VERDICT,
    DebatePrompts,
    Debater,
    RatedLog,
    RuleDebaters,
    overall,
    run_debate,
)
from recjury.errors import UnitFailed
from recjury.judges.core.panel import Panel
from recjury.judges.core.settings import DebateSettings, JudgeSettings
from recjury.judges.evaluator import LANGUAGE, Evaluator
from recjury.judges.factor_rubric import Rubric
from recjury.judges.guideline import JudgePrompts
from recjury.knowledge import Catalogue, expert_of
from recjury.llm import PlannedCall, Question
from recjury.prompts import Lists, load_pack
from recjury.records import (
    FACTOR_SCALE,
    JSON,
    OVERALL_SCALE,
    ConversationLog,
    ConversationRecord,
    Factor,
    Metric,
    Need,
    Rating,
    Stage,
    StageResult,
    Status,
    digest,
    metric_id,
)

_NEEDS = {
    Factor.EFFECTIVENESS: (Need.LIST, Need.TARGETS),
    Factor.NOVELTY: (Need.LIST,),
    Factor.DIVERSITY: (Need.LIST,),
    Factor.SEMANTIC_RELEVANCE: (Need.LIST,),
    Factor.EXPLAINABILITY: (Need.LIST,),
    Factor.GROUNDNESS: (Need.LIST,),
}


def core_metrics(*, verdict: str | None, llm: bool) -> tuple[Metric, ...]:
    """The metrics in their order.

    `verdict` is the title of the debate's verdict, None without a debate; `llm` says whether models
    rate the factors.
    """
    factors = tuple(_of(factor, llm=llm) for factor in Factor)
    if verdict is None:
        return factors
    low, high = OVERALL_SCALE
    return (Metric(id=metric_id(OVERALL), title=verdict, low=low, high=high, digits=1), *factors)


def _of(factor: Factor, *, llm: bool) -> Metric:
    low, high = FACTOR_SCALE
    model = (Need.MODEL,) if llm else ()
    return Metric(
        id=metric_id(factor),
        title=str(factor),
        group=str(factor.dimension),
        low=low,
        high=high,
        needs=(*_NEEDS.get(factor, ()), *model),
    )


RATE = "rate"
_REASON = "Words of a typical length stand here for the reason that the judge will give. " * 6


class Raters(Protocol):
    """Rates the twelve factors: judges that are models, or measured judges."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What can change the ratings besides the evaluator's fields and the corpus."""

    @property
    def data(self) -> Mapping[str, JSON]:
        """The part of the corpus that can change the ratings."""

    def questions(self, log: ConversationLog) -> Sequence[Question | Rating]:
        """What models are asked about a log; a rating where it is known that there is no score."""

    async def rate(self, log: ConversationLog) -> StageResult:
        """All ratings, and the evidence for them (models cite none)."""

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings that the debaters see: one per factor."""


class CoreEvaluator(Evaluator):
    """The twelve judges and the debate (CoRE, section 4).

    `prompts: core-paper` keeps the order, the steps and the inputs of the paper's prompts. `lists`
    says which prompts show the recommendation list: all (the default of core-paper), or those whose
    guideline or role names it. `language` ("English") is the one that judges and debaters write in,
    by default that of the conversation.
    """

    rates_only: ClassVar = "conversations"

    kind: Literal["core"] = "core"
    prompts: Literal["core", "core-paper"] = "core"
    lists: Lists | None = None
    language: str = Field(default="", pattern=LANGUAGE)
    judges: JudgeSettings = JudgeSettings()
    debate: DebateSettings = DebateSettings()

    _has_models: bool = PrivateAttr(default=False)

    def with_models(self, available: bool) -> Self:
        """Judges and debaters are models if there are any, and if `kind` does not say what."""
        ready = self.model_copy()
        ready._has_models = available
        return ready

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """The models of the judges and of the debaters."""
        used: list[tuple[str, str]] = []
        if self._judges_are == "llm":
            used += [("judges.models", alias) for alias in self.judges.models]
            used += [("judges.routing", alias) for alias in self.judges.routing.values()]
        if self._debaters_are == "llm":
            used.append(("debate.model", self.debate.model))
            used += [("debate.roles", alias) for alias in self.debate.roles.values()]
        return used

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The verdict of the debate, if there is one, and the twelve factors."""
        titles = {"rule": RULE_VERDICT, "llm": OVERALL, "off": None}
        return core_metrics(verdict=titles[self._debaters_are], llm=self._judges_are == "llm")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The ratings, and then the debate, if there is one."""
        rate = Stage(name=RATE)
        return (rate,) if self._debaters_are == "off" else (rate, _DEBATE_STAGE)

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """The debate and the lists, which `sources` has; and what is for models, if none is
        asked."""
        judges = {"kind"} if self._judges_are == "llm" else True
        prompts = {} if self.aliases else {"prompts": True, "language": True}
        return {"judges": judges, "debate": True, "lists": True, **prompts}

    @property
    def sources(self) -> Mapping[str, JSON]:
        """Who judges, with the rubric's version; who debates, by which protocol and how long."""
        debate: JSON = None
        if self._debaters is not None:
            debate = {**self._debaters.settings, "max_rounds": self.debate.max_rounds}
        return {"raters": self._judges_are, **self._raters.settings, "debate": debate}

    @property
    def data(self) -> Mapping[str, JSON]:
        """The part of the corpus that the raters and the prompts use."""
        domain = self._context.domain
        return {**self._raters.data, **({} if domain is None else {"domain": digest(domain)})}

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """A call for each rating, and four for each round of the debate."""
        ratings: list[Rating] = []
        for question in self._raters.questions(log):
            if isinstance(question, Rating):
                continue
            yield question.planned("judge")
            ratings.append(question.subject.scored(question.subject.low, _REASON))
        if self._debaters_are == "llm":
            from recjury.debate.llm_debaters import LlmDebaters

            assert isinstance(self._debaters, LlmDebaters)
            shown = self._raters.debate_ratings(ratings)
            yield from self._debaters.plan(log, shown, self.debate.max_rounds)

    async def evaluate(
        self, stage: str, record: ConversationRecord, done: Mapping[str, StageResult]
    ) -> StageResult:
        """Return the ratings; or the debate over the existing ratings, with its verdict as a
        rating.

        Raises UnitFailed if a call of the debate failed.
        """
        if stage == RATE:
            return await self._raters.rate(record.log)
        assert self._debaters is not None
        ratings = self._raters.debate_ratings(done[RATE].ratings)
        rated = RatedLog(record.log, ratings, done[RATE].evidence)
        debate = await run_debate(rated, self._debaters, max_rounds=self.debate.max_rounds)
        lost = [s for s in debate.transcript.statements if s.status is Status.CALL_FAILED]
        if lost:
            raise UnitFailed(f"{lost[0].role}, round {lost[0].round}: {lost[0].reason}")
        return StageResult((overall(debate),), debate=debate)

    @property
    def _judges_are(self) -> Literal["llm", "measured"]:
        return self.judges.kind or ("llm" if self._has_models else "measured")

    @property
    def _debaters_are(self) -> Literal["llm", "rule", "off"]:
        return self.debate.kind or ("llm" if self._has_models else "rule")

    def _prepare(self) -> None:
        """Raise UserError if judges or debaters cannot be made."""
        _ = self._raters, self._debaters

    @cached_property
    def _raters(self) -> Raters:
        return self._measured_panel() if self._judges_are == "measured" else self._panel()

    def _panel(self) -> Panel:
        judges, context = self.judges, self._context
        pack = load_pack(f"{self.prompts}-judges").with_lists(self.lists)
        prompts = JudgePrompts(pack, facts=context.facts, language=self.language)
        return Panel(
            self._gateway,
            judges.models if judges.routes is None else judges.models[:1],
            routes=judges.routes,
            source_judge=judges.feeds,
            rubric=Rubric(prompts, context.domain),
            temperature=judges.temperature,
        )

    def _measured_panel(self) -> Raters:
        from recjury.judges.measured import MeasuredPanel  # twenty files

        corpus = self._context.corpus
        catalogue = Catalogue("unknown", ()) if corpus is None else corpus.catalogue
        return MeasuredPanel(catalogue)

    @cached_property
    def _debaters(self) -> Debater | None:
        debate, context = self.debate, self._context
        if self._debaters_are == "off":
            return None
        if self._debaters_are == "rule":
            return RuleDebaters()
        from recjury.debate.llm_debaters import LlmDebaters

        domain = context.domain
        prompts = DebatePrompts(
            load_pack(f"{self.prompts}-debate").with_lists(self.lists),
            facts=context.facts,
            language=self.language,
            expert=None if domain is None else expert_of(domain),
        )
        return LlmDebaters(self._gateway, debate.cast, prompts, temperature=debate.temperature)


_DEBATE_STAGE = Stage(name=DEBATE, after=(RATE,))
