"""FACE as an evaluator: particles, their scores under all instructions, ratings (section 2)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from recjury.errors import ConfigError, UnitFailed
from recjury.judges.face.aspects import aspect_metrics, pool
from recjury.judges.face.decomposer import Decomposer
from recjury.judges.face.face_prompts import situation
from recjury.judges.face.instructions import Instruction, Instructions, identity
from recjury.judges.face.scorer import ParticleScorer, Target, gather_units
from recjury.records import (
    JSON,
    Aspect,
    AspectScores,
    ConversationLog,
    ConversationRecord,
    Decomposition,
    InstructionScore,
    Level,
    Metric,
    ParticleScore,
    Rating,
    Stage,
    StageResult,
    Status,
    TurnParticles,
)

PARTICLES = "particles"


class FaceEvaluator:
    """Rates turns on relevance and interestingness, dialogues on the other five aspects."""

    kind = "face"
    data: Mapping[str, JSON] = {}
    open_at_once: int | None = 8  # a log needs some hundred calls at the same time

    def __init__(
        self,
        decomposer: Decomposer,
        scorer: ParticleScorer,
        instructions: Instructions | None = None,
        aspects: Sequence[Aspect] | None = None,
        *,
        name: str = "face",
        models: Mapping[str, JSON] | None = None,
        metrics: Sequence[Metric] | None = None,
    ):
        """Score with `instructions` by aspect; without, with those of the package.

        Rates `aspects`, or all of them. `models` has, by alias, the model settings that can change
        a reply. Raises ConfigError for an aspect without instructions.
        """
        self._decomposer = decomposer
        self._scorer = scorer
        self._models = dict(models or {})
        self._instructions: dict[Aspect, tuple[Instruction, ...]] = (
            {aspect: scorer.prompts.initial(aspect) for aspect in Aspect}
            if instructions is None
            else dict(instructions)
        )
        self.name = name
        self.aspects = tuple(self._instructions if aspects is None else aspects)
        self.metrics = tuple(aspect_metrics(self.aspects) if metrics is None else metrics)
        for aspect in self.aspects:
            if not self._instructions.get(aspect):
                raise ConfigError(f"{aspect} has no instructions: add {aspect}.json to the folder")

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The decomposer, the scorer and the instructions, but not the rated aspects."""
        return {
            "decomposer": dict(self._decomposer.settings),
            "scorer": dict(self._scorer.settings),
            "instructions": {
                str(aspect): identity(some) for aspect, some in self._instructions.items()
            },
            "models": self._models,
        }

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The decomposition into particles, and then each aspect."""
        own = (Stage(name=aspect.value, after=(PARTICLES,)) for aspect in self.aspects)
        return (Stage(name=PARTICLES), *own)

    async def evaluate(
        self, stage: str, record: ConversationRecord, done: Mapping[str, StageResult]
    ) -> StageResult:
        """Return the particles; or the scores of all particles on an aspect, and their mean
        ratings.

        Raises UnitFailed if a call failed.
        """
        if stage == PARTICLES:
            return StageResult(kept=await self._decompose(record.log))
        particles = done[PARTICLES].kept
        assert isinstance(particles, Decomposition)
        return await self._assess(record.log, particles, Aspect(stage))

    async def _decompose(self, log: ConversationLog) -> Decomposition:
        found = await self._decomposer.decompose(log)
        for turn in found.turns:
            if turn.status is Status.CALL_FAILED:
                raise UnitFailed(f"turn {turn.turn}: {turn.reason}")
        return found

    async def _assess(
        self, log: ConversationLog, decomposition: Decomposition, aspect: Aspect
    ) -> StageResult:
        instructions = self._instructions[aspect]
        scores = await gather_units(
            self._scorer.score(aspect, target, instructions)
            for target in targets(log, decomposition)
        )
        ratings = self._ratings(log, decomposition, aspect, tuple(scores))
        return StageResult(ratings, AspectScores(aspect, tuple(scores)))

    def _ratings(
        self,
        log: ConversationLog,
        decomposition: Decomposition,
        aspect: Aspect,
        scores: tuple[ParticleScore, ...],
    ) -> tuple[Rating, ...]:
        if aspect.level is Level.DIALOGUE:
            return (self._rating(aspect, None, decomposition.turns, scores),)
        by_turn = {turn.turn: turn for turn in decomposition.turns}
        return tuple(
            self._rating(
                aspect,
                turn,
                (by_turn[turn],) if turn in by_turn else (),
                tuple(score for score in scores if score.turn == turn),
            )
            for turn in log.system_turn_indices
        )

    def _rating(
        self,
        aspect: Aspect,
        turn: int | None,
        turns: Sequence[TurnParticles],
        scores: tuple[ParticleScore, ...],
    ) -> Rating:
        given = [by.score for score in scores for by in score.by if by.score is not None]
        pooled = pool(given)
        lost = None if pooled is not None else _why_none(turns, scores)
        asked = sum(len(score.by) for score in scores)
        return Rating(
            evaluator=f"face/{self._scorer.model}",
            factor=aspect,
            score=pooled,
            status=Status.SCORED if lost is None else lost.status,
            reason="" if lost is None else lost.reason,
            rationale=(
                f"the mean of {len(given)} scores: {len(scores)} particles, of {asked} asked for"
                if lost is None
                else ""
            ),
            level=aspect.level,
            turn=turn,
            low=aspect.low,
            high=aspect.high,
            rubric=self._scorer.prompts.identity,
        )


class _Lost(NamedTuple):
    status: Status
    reason: str


def _why_none(turns: Sequence[TurnParticles], scores: Sequence[ParticleScore]) -> _Lost:
    """The reason why there is no score, if no particle has one."""
    if scores:
        return _most_common(by for score in scores for by in score.by)
    for turn in turns:
        if turn.status is not Status.SCORED:
            return _Lost(turn.status, f"turn {turn.turn} was not decomposed: {turn.reason}")
    return _Lost(Status.NOT_APPLICABLE, "there is no particle")


def _most_common(missing: Iterable[InstructionScore]) -> _Lost:
    """The most common status of scores that are missing, and its most common reason."""
    why = Counter(_Lost(each.status or Status.UNREADABLE, each.reason) for each in missing)
    statuses = Counter(lost.status for lost in why.elements())
    (status, _), *_ = statuses.most_common(1)
    reason = next(lost.reason for lost, _ in why.most_common() if lost.status is status)
    if status is Status.UNREADABLE:
        reason = f"no sample of any particle could be read: {reason}"
    return _Lost(status, reason)


def targets(log: ConversationLog, decomposition: Decomposition) -> tuple[Target, ...]:
    """All particles with their turns, in order."""
    found: list[Target] = []
    for turn in decomposition.turns:
        shown = situation(log, turn.turn)
        found += (Target(shown, turn.turn, n, each) for n, each in enumerate(turn.particles))
    return tuple(found)
