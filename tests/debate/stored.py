"""A store with one conversation and its debate, written as an evaluator of a campaign would."""

import asyncio
from collections.abc import Callable, Mapping

from recjury.debate import Debater, RatedLog, RuleDebaters, overall, run_debate
from recjury.debate.llm_debaters import LlmDebaters
from recjury.judges.core.panel import Panel
from recjury.llm import Gateway, ScriptedModel, call_context
from recjury.records import (
    JSON,
    ChatRequest,
    Debate,
    DebateTranscript,
    Evidence,
    Factor,
    Role,
    StageResult,
    Verdict,
    evaluation_id,
    evaluator_id,
)
from recjury.store import (
    Campaign,
    PlannedConversation,
    PlannedEvaluation,
    PlannedEvaluator,
    Setup,
    Store,
)
from tests.answers import in_the_form_asked
from tests.judges.cases import SPEC, a_log, ratings_of

CONVERSATION = "0" * 32
CAMPAIGN = Campaign(
    id="c" * 12,
    name="tests",
    setup=Setup(config={}, recjury="0.1.0"),
)
LOG = a_log()
EVIDENCE = (
    Evidence(factor=Factor.PROACTIVENESS, label="names a film", turn=0),
    Evidence(factor=Factor.GROUNDNESS, label="no claim"),
)
SETTINGS: dict[str, JSON] = {"raters": {}, "debate": {}, "models": {}}
EVALUATOR = evaluator_id("core", SETTINGS)
EVALUATION = evaluation_id(LOG.id, EVALUATOR, {})
PLANNED = PlannedEvaluation(
    identity=EVALUATION, log=LOG.id, evaluator=EVALUATOR, judging=0, data={}
)

Judges = Callable[[Gateway], Panel]
Change = Callable[[DebateTranscript, Verdict], tuple[DebateTranscript, Verdict]]


def unchanged(transcript: DebateTranscript, verdict: Verdict) -> tuple[DebateTranscript, Verdict]:
    return transcript, verdict


def an_empty_store(url: str, *, rated: bool = False) -> None:
    """A store with a conversation that is to be debated; `rated` tells whether its ratings are
    there."""
    with Store.open(url) as store:
        _plan(store, SETTINGS)
        asyncio.run(_write(store, StageResult(ratings_of()) if rated else None))


async def _write(store: Store, rate: StageResult | None) -> None:
    async with store.recorder():
        await store.save_log(CONVERSATION, LOG)
        if rate is not None:
            await store.save_stage(PLANNED, "rate", rate)


def fill(
    url: str,
    judges: Judges | None,
    *,
    models: tuple[str, ...] = ("model",),
    change: Change = unchanged,
    script: Callable[[ChatRequest], str],
) -> None:
    """Judge and debate by the models, or, without `judges`, rate alike and debate by rule."""
    with Store.open(url) as store:
        _plan(store, SETTINGS)
        asyncio.run(_fill(store, judges, models, change, script))


def _plan(store: Store, settings: Mapping[str, JSON]) -> None:
    store.begin(CAMPAIGN)
    conversation = PlannedConversation(
        id=CONVERSATION,
        system="some",
        scenario=LOG.scenario.id,
        corpus="tests",
        repeat=0,
        seed=0,
        settings={},
    )
    store.plan(CAMPAIGN.id, [conversation])
    evaluator = PlannedEvaluator(
        id=EVALUATOR,
        kind="core",
        name="core",
        settings=dict(settings),
        metrics=(),
        stages=("rate", "debate"),
    )
    store.join(CAMPAIGN.id, [evaluator])


async def _fill(
    store: Store,
    judges: Judges | None,
    models: tuple[str, ...],
    change: Change,
    script: Callable[[ChatRequest], str],
) -> None:
    specs = {name: SPEC.model_copy(update={"name": name}) for name in models}
    async with store.recorder() as recorder:
        providers = dict.fromkeys(models, ScriptedModel(in_the_form_asked(script)))
        async with Gateway(specs, recorder, providers=providers) as gateway:
            await store.save_log(CONVERSATION, LOG)
            with call_context(EVALUATION, 0):
                if judges is None:
                    given = ratings_of(evaluator="measured")
                    rate = StageResult(given, evidence=EVIDENCE)
                    debaters: Debater = RuleDebaters()
                else:
                    panel = judges(gateway)
                    rate = await panel.rate(LOG)
                    given = panel.debate_ratings(rate.ratings)
                    debaters = LlmDebaters(gateway, dict.fromkeys(Role, models[0]))
                await store.save_stage(PLANNED, "rate", rate)
                debate = Debate(
                    *change(*await run_debate(RatedLog(LOG, given, rate.evidence), debaters))
                )
                await store.save_stage(
                    PLANNED, "debate", StageResult((overall(debate),), debate=debate)
                )
