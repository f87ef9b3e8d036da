"""Score recorded conversations with FACE, or with the evaluators it is compared with.

A trial is a log under an evaluator's settings. Its stages are the particles, and each aspect:
whatever is finished is kept, and what is left is derived from the store.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Literal

import structlog

from recjury.campaign.config import RatingConfig
from recjury.campaign.executors.local import run_local
from recjury.campaign.plan import Trial, recorded_trial
from recjury.campaign.preparation import open_gateway, open_store
from recjury.campaign.progress import Progress
from recjury.campaign.running import RunResult, setup
from recjury.errors import ConfigError, UnitFailed
from recjury.judges.face import (
    CotIclRater,
    Decomposer,
    DirectRater,
    FaceEvaluator,
    FacePrompts,
    Instructions,
    LlmDecomposer,
    ParticleScorer,
)
from recjury.judges.face.instructions import identity as instruction_identity
from recjury.judges.face.scorer import SAMPLES, TEMPERATURE, Method
from recjury.llm import Gateway, on_behalf_of
from recjury.records import JSON, Aspect, ConversationLog, Evaluator, Rating, Status, digest
from recjury.store import Campaign, Setup, Store

logger = structlog.get_logger()

PARTICLES = "face/particles"
_OF_A_REPLY = {"base_url", "name", "temperature", "max_tokens", "json_mode", "extra"}
_OPEN_AT_ONCE = 8  # a log has some hundred calls to make at once

Kind = Literal["face", "llm-direct", "llm-cot-icl"]


@dataclass(frozen=True)
class FaceSettings:
    """How conversations are scored.

    `decomposer` None is the model itself; `instructions` None are those that ship. `samples`,
    `temperature` and `method` are the scorer's; `votes` is how often a turn is decomposed.
    `together` asks for samples with one request.
    """

    kind: Kind = "face"
    aspects: tuple[Aspect, ...] = tuple(Aspect)
    decomposer: Decomposer | None = None
    instructions: Instructions | None = None
    samples: int = SAMPLES
    votes: int = 3
    temperature: float = TEMPERATURE
    method: Method = "samples"
    together: bool = True


async def score_conversations(
    logs: Sequence[ConversationLog],
    settings: FaceSettings,
    config: RatingConfig,
    place: Store | str,
    *,
    progress: Progress,
) -> RunResult:
    """Score `logs` with the first judge model of `config`; what the store has is not done again.

    Raises Fixable.
    """
    async with AsyncExitStack() as stack:
        identity = _campaign_id(logs, settings, config)
        gateway = open_gateway(config)
        if gateway is None:
            raise ConfigError("FACE scores with a model: add `model` to the file in --config")
        await stack.enter_async_context(gateway)
        await gateway.check()
        store = await open_store(place, identity, gateway, stack)
        evaluator = _evaluator(settings, config, gateway)
        progress.usage = gateway.usage
        known = {"model": _model(config), "evaluator": dict(evaluator.settings)}
        trials = [recorded_trial(log, known) for log in logs]
        stack.enter_context(store.claim(identity))
        walk = _Walk(store, evaluator, progress)
        ran_with = _setup(config, evaluator, walk.stages)
        store.begin(Campaign(id=identity, name=config.name, setup=ran_with))
        store.add_trials(identity, [trial.planned(config.seed) for trial in trials])
        await _walk(walk, identity, trials, logs)
    return RunResult(
        identity,
        progress.planned,
        progress.done,
        progress.failed,
        trials=frozenset(trial.id for trial in trials),
    )


def _setup(config: RatingConfig, evaluator: Evaluator, stages: frozenset[str]) -> Setup:
    """What the campaign runs with; its trials are done with all of `stages`."""
    shown = {
        **config.model_dump(mode="json"),
        "evaluator": dict(evaluator.settings),
        "stages": sorted(stages),
    }
    return setup(config).model_copy(update={"config": shown})


def _evaluator(
    settings: FaceSettings, config: RatingConfig, gateway: Gateway
) -> FaceEvaluator | DirectRater | CotIclRater:
    model, prompts = config.judges.models[0], FacePrompts()
    if settings.kind != "face":
        rater = DirectRater if settings.kind == "llm-direct" else CotIclRater
        return rater(
            gateway, model, prompts, aspects=settings.aspects, temperature=settings.temperature
        )
    scorer = ParticleScorer(
        gateway,
        model,
        prompts,
        samples=settings.samples,
        temperature=settings.temperature,
        method=settings.method,
        together=settings.together,
    )
    decomposer = settings.decomposer or LlmDecomposer(
        gateway,
        model,
        prompts,
        samples=settings.votes,
        temperature=settings.temperature,
        together=settings.together,
    )
    return FaceEvaluator(decomposer, scorer, settings.instructions, settings.aspects)


def _campaign_id(
    logs: Sequence[ConversationLog], settings: FaceSettings, config: RatingConfig
) -> str:
    """The same corpora under the same model and settings are one campaign, aspect by aspect."""
    corpora = sorted({log.scenario.corpus for log in logs})
    instructions = {
        str(aspect): instruction_identity(some)
        for aspect, some in (settings.instructions or {}).items()
    }
    how: list[JSON] = [
        settings.kind,
        None if settings.decomposer is None else dict(settings.decomposer.settings),
        instructions,
        FacePrompts().identity,
        [settings.samples, settings.votes, settings.temperature, settings.method],
    ]
    return digest(["face", config.name, corpora, _model(config), how])[:12]


def _model(config: RatingConfig) -> JSON:
    """What of the model can change a reply."""
    spec = config.all_models.get(config.judges.models[0])
    return None if spec is None else spec.model_dump(mode="json", include=_OF_A_REPLY)


async def _walk(
    walk: "_Walk", campaign: str, trials: Sequence[Trial], logs: Sequence[ConversationLog]
) -> None:
    done = walk.store.stages_done(campaign)
    wanted = walk.stages
    units = [
        _Unit(trial, log, frozenset(done.get(trial.id, ())))
        for trial, log in zip(trials, logs, strict=True)
    ]
    left = [unit for unit in units if not wanted <= unit.done]
    walk.progress.begin(planned=len(units), resumed=len(units) - len(left))
    await run_local(left, walk.advance, open_at_once=min(len(left), _OPEN_AT_ONCE))


@dataclass(frozen=True)
class _Unit:
    trial: Trial
    log: ConversationLog
    done: frozenset[str]


class _Walk:
    """Walks trials to their end, or to their failure."""

    def __init__(
        self, store: Store, evaluator: FaceEvaluator | DirectRater | CotIclRater, progress: Progress
    ):
        self.store = store
        self.progress = progress
        self._evaluator = evaluator

    @property
    def stages(self) -> frozenset[str]:
        """What a trial has when it is done."""
        if isinstance(self._evaluator, FaceEvaluator):
            own = (f"face/{aspect}" for aspect in self._evaluator.aspects)
            return frozenset(("converse", PARTICLES, *own))
        return frozenset(("converse", *(self._stage(aspect) for aspect in self._evaluator.aspects)))

    async def advance(self, unit: _Unit) -> None:
        """Walk one trial; a stage that fails is recorded, and stays to do."""
        trial = unit.trial.id
        failed = False
        with on_behalf_of(trial):
            try:
                if "converse" not in unit.done:
                    await self.store.save_log(trial, unit.log)
                if isinstance(self._evaluator, FaceEvaluator):
                    await self._face(self._evaluator, unit)
                else:
                    await self._whole(self._evaluator, unit)
            except _StageFailed as failure:
                failed = True
                logger.info("trial failed", trial=trial, stage=failure.stage, why=str(failure))
                await self.store.save_failure(trial, failure.stage, str(failure))
        self.progress.finish_one(failed=failed)

    async def _face(self, evaluator: FaceEvaluator, unit: _Unit) -> None:
        trial = unit.trial.id
        kept = self.store.face(trial).decomposition if PARTICLES in unit.done else None
        if kept is None:
            kept = await evaluator.decomposer.decompose(unit.log)
            lost = [turn for turn in kept.turns if turn.status is Status.CALL_FAILED]
            if lost:
                raise _StageFailed(PARTICLES, f"turn {lost[0].turn}: {lost[0].reason}")
            await self.store.save_particles(trial, kept)
        for aspect in evaluator.aspects:
            if f"face/{aspect}" in unit.done:
                continue
            try:
                result = await evaluator.assess(unit.log, kept, aspect)
            except UnitFailed as failure:
                raise _StageFailed(f"face/{aspect}", str(failure)) from failure
            await self.store.save_scores(trial, aspect, result.scores, result.ratings)

    async def _whole(self, rater: DirectRater | CotIclRater, unit: _Unit) -> None:
        ratings = await rater.rate(unit.log)
        for aspect in rater.aspects:
            stage = self._stage(aspect)
            if stage in unit.done:
                continue
            own = [rating for rating in ratings if rating.factor == aspect]
            _refuse_lost(stage, own)
            await self.store.save_ratings(unit.trial.id, own, stage=stage)

    def _stage(self, aspect: Aspect) -> str:
        return f"{self._evaluator.name.partition('/')[0]}/{aspect}"


class _StageFailed(UnitFailed):
    def __init__(self, stage: str, reason: str):
        super().__init__(reason)
        self.stage = stage


def _refuse_lost(stage: str, ratings: Sequence[Rating]) -> None:
    """A call that failed for good may succeed tomorrow: the stage is not finished without it."""
    for rating in ratings:
        if rating.status is Status.CALL_FAILED:
            raise _StageFailed(stage, rating.reason)
