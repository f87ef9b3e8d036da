"""FACE as an evaluator: particles, their scores under all instructions, ratings (section 2)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recjury.errors import CallFailed, ConfigError
from recjury.judges.face.aspects import situation, system_turns
from recjury.judges.face.decomposer import Decomposer
from recjury.judges.face.instructions import Instruction, Instructions, identity
from recjury.judges.face.pooling import pool
from recjury.judges.face.scorer import ParticleScorer, Target, gathered
from recjury.records import (
    JSON,
    Aspect,
    ConversationLog,
    Decomposition,
    Level,
    ParticleScore,
    Rating,
    Status,
    TurnParticles,
)


class AspectResult(NamedTuple):
    """One aspect of one log: every particle's scores, and the ratings that they add up to."""

    scores: tuple[ParticleScore, ...]
    ratings: tuple[Rating, ...]


class FaceEvaluator:
    """Rates turns on relevance and interestingness, dialogues on the other five aspects."""

    def __init__(
        self,
        decomposer: Decomposer,
        scorer: ParticleScorer,
        instructions: Instructions | None = None,
        aspects: Sequence[Aspect] | None = None,
    ):
        """With `instructions` by aspect; without, those that ship. Rates `aspects`, or all of them.

        Raises ConfigError for an aspect that has no instructions.
        """
        self._scorer = scorer
        self.decomposer = decomposer
        self.instructions: dict[Aspect, tuple[Instruction, ...]] = (
            {aspect: scorer.prompts.initial(aspect) for aspect in Aspect}
            if instructions is None
            else dict(instructions)
        )
        self.aspects = tuple(self.instructions if aspects is None else aspects)
        for aspect in self.aspects:
            if not self.instructions.get(aspect):
                raise ConfigError(f"{aspect} has no instructions: add {aspect}.json to the folder")

    @property
    def name(self) -> str:
        """ "face/" and the model's alias."""
        return f"face/{self._scorer.model}"

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Who decomposes, who scores, and under which instructions; not which aspects are rated."""
        return {
            "decomposer": dict(self.decomposer.settings),
            "scorer": dict(self._scorer.settings),
            "instructions": {
                str(aspect): identity(some) for aspect, some in self.instructions.items()
            },
        }

    async def rate(self, log: ConversationLog) -> tuple[Rating, ...]:
        """All ratings, by aspect and turn; those whose calls failed say so."""
        decomposition = await self.decomposer.decompose(log)
        found: list[Rating] = []
        for aspect in self.aspects:
            try:
                found += (await self.assess(log, decomposition, aspect)).ratings
            except CallFailed as failure:
                lost = _Lost(Status.CALL_FAILED, str(failure))
                found += self._ratings(log, decomposition, aspect, (), lost)
        return tuple(found)

    async def assess(
        self, log: ConversationLog, decomposition: Decomposition, aspect: Aspect
    ) -> AspectResult:
        """Score every particle on one aspect; raises CallFailed for a call that failed for good."""
        instructions = self.instructions[aspect]
        scores = await gathered(
            self._scorer.score(aspect, target, instructions)
            for target in targets(log, decomposition)
        )
        ratings = self._ratings(log, decomposition, aspect, tuple(scores), None)
        return AspectResult(tuple(scores), ratings)

    def _ratings(
        self,
        log: ConversationLog,
        decomposition: Decomposition,
        aspect: Aspect,
        scores: tuple[ParticleScore, ...],
        lost: "_Lost | None",
    ) -> tuple[Rating, ...]:
        if aspect.level is Level.DIALOGUE:
            return (self._rating(aspect, None, decomposition.turns, scores, lost),)
        by_turn = {turn.turn: turn for turn in decomposition.turns}
        return tuple(
            self._rating(
                aspect,
                turn,
                (by_turn[turn],) if turn in by_turn else (),
                tuple(score for score in scores if score.turn == turn),
                lost,
            )
            for turn in system_turns(log)
        )

    def _rating(
        self,
        aspect: Aspect,
        turn: int | None,
        turns: Sequence[TurnParticles],
        scores: tuple[ParticleScore, ...],
        lost: "_Lost | None",
    ) -> Rating:
        given = [by.score for score in scores for by in score.by if by.score is not None]
        pooled = pool(given)
        lost = None if pooled is not None else lost or _why_none(turns, scores)
        asked = sum(len(score.by) for score in scores)
        return Rating(
            evaluator=self.name,
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
    """Why there is no score, where no particle has one."""
    if scores:
        return _Lost(Status.UNREADABLE, "no sample of any particle could be read")
    for turn in turns:
        if turn.status is not Status.SCORED:
            return _Lost(turn.status, f"turn {turn.turn} was not decomposed: {turn.reason}")
    return _Lost(Status.NOT_APPLICABLE, "there is no particle")


def targets(log: ConversationLog, decomposition: Decomposition) -> tuple[Target, ...]:
    """All particles where they stand, turn by turn."""
    found: list[Target] = []
    for turn in decomposition.turns:
        shown = situation(log, turn.turn)
        found += (Target(shown, turn.turn, n, each) for n, each in enumerate(turn.particles))
    return tuple(found)
