"""FACE as an evaluator: particles, their scores under all instructions, ratings (section 2)."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from recjury.errors import ConfigError, UnitFailed
from recjury.judges.aspects import AspectEvaluator, aspect_subject, pool
from recjury.judges.face.decomposer import Decomposer, GivenDecomposer, LlmDecomposer
from recjury.judges.face.face_prompts import FacePrompts, situation
from recjury.judges.face.instructions import (
    Instruction,
    identity,
    read_instruction_folder,
)
from recjury.judges.face.rule_decomposer import RuleDecomposer
from recjury.judges.face.scorer import ParticleScorer, Target, gather_units
from recjury.judges.face.stored_results import (
    PARTICLES,
    particles_result,
    read_decomposition,
    scores_output,
)
from recjury.llm import CallUse, PlannedCall
from recjury.records import (
    JSON,
    Aspect,
    ConversationLog,
    ConversationRecord,
    Decomposition,
    DialogueAct,
    Evidence,
    InstructionScore,
    Level,
    Particle,
    ParticleScore,
    Rating,
    Stage,
    StageResult,
    Status,
    TurnParticles,
)

_AT_ONCE = 8  # logs: each needs some hundred calls at the same time
_TYPICAL = 4  # particles of a system turn, on average


class FaceEvaluator(AspectEvaluator):
    """FACE: scores per particle and instruction, and their means per turn or dialogue.

    `instructions` is a folder of {aspect}.json files (default: the package's own). Particles come
    from the model, from the file `particles`, or from `rules`. `samples` are drawn of each score
    and `votes` of each decomposition, at `temperature`, all in one request if `together`; `method:
    logprobs` asks once, for log-probabilities.
    """

    kind: Literal["face"] = "face"
    instructions: str | None = None
    particles: str | None = None
    rules: bool = False
    samples: int = Field(default=5, ge=1, le=100)
    votes: int = Field(default=3, ge=1, le=100)
    method: Literal["samples", "logprobs"] = "samples"
    temperature: float = Field(default=0.6, ge=0, le=2)
    together: bool = True

    @model_validator(mode="after")
    def _one_source_of_particles(self) -> Self:
        if self.rules and self.particles is not None:
            raise ValueError("`rules` and `particles` both say where particles come from: keep one")
        return self

    @property
    def open_at_once(self) -> int | None:
        """A few: a log needs some hundred calls at the same time."""
        return _AT_ONCE

    @property
    def call_uses(self) -> list[tuple[str, CallUse]]:
        """Several replies to one request where samples are drawn together; log-probabilities."""
        uses: list[tuple[str, CallUse]] = []
        if self.method == "logprobs":
            uses.append((self.model, "logprobs"))
        if self.together and max(self.votes, self.samples) > 1:
            uses.append((self.model, "n"))
        return uses

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """The rated aspects, files' names, how many replies a request asks for, and samples that
        are not drawn."""
        unused = {"aspects", "instructions", "particles", "together"}
        if self.method == "logprobs":
            unused.add("samples")
        if self.rules or self.particles is not None:
            unused.add("votes")
        return dict.fromkeys(unused, True)

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The prompts, where the particles come from, and the instructions by aspect."""
        return {
            "prompts": self._prompts.identity,
            "decomposer": dict(self._decomposer.settings),
            "instructions": {
                str(aspect): identity(chosen) for aspect, chosen in self._instructions.items()
            },
        }

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The decomposition into particles, and then each aspect."""
        own = (Stage(name=aspect.value, after=(PARTICLES,)) for aspect in self.aspects)
        return (Stage(name=PARTICLES), *own)

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """The decomposition of each turn, and a few particles of each under all instructions."""
        if isinstance(self._decomposer, LlmDecomposer):
            yield from self._decomposer.plan(log)
        decomposition = Decomposition(decomposer="", turns=tuple(map(_assumed, _usable_turns(log))))
        for aspect in self.aspects:
            for target in targets(log, decomposition):
                for each in self._instructions[aspect]:
                    question = self._scorer.question(aspect, target, each.text, name=each.name)
                    yield question.planned("face/score")

    async def evaluate(
        self, stage: str, record: ConversationRecord, done: Mapping[str, StageResult]
    ) -> StageResult:
        """Return the particles; or the scores of all particles on an aspect, and their mean
        ratings.

        Raises UnitFailed if a call failed.
        """
        if stage == PARTICLES:
            return particles_result(await self._decompose(record.log))
        particles = read_decomposition(done)
        assert particles is not None  # the stages of aspects come after it
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
        evidence = _evidence(log, decomposition, aspect, scores)
        return StageResult(ratings, scores_output(tuple(scores)), evidence)

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
        subject = aspect_subject(
            aspect, evaluator=f"face/{self.model}", rubric=self._prompts.identity, turn=turn
        )
        given = [by.score for score in scores for by in score.by if by.score is not None]
        pooled = pool(given)
        if pooled is None:
            lost = _why_none(turns, scores)
            return subject.unscored(lost.status, lost.reason)
        wanted = sum(len(score.by) for score in scores)
        return subject.scored(
            pooled,
            f"the mean of {len(given)} scores: {len(scores)} particles, of {wanted} asked for",
        )

    def _prepare(self) -> None:
        """Raise UserError for files that cannot be used, and for aspects without instructions."""
        _ = self._decomposer
        for aspect in self.aspects:
            if not self._instructions.get(aspect):
                raise ConfigError(f"{aspect} has no instructions: add {aspect}.json to the folder")

    @cached_property
    def _prompts(self) -> FacePrompts:
        return FacePrompts()

    @cached_property
    def _instructions(self) -> Mapping[Aspect, tuple[Instruction, ...]]:
        if self.instructions is None:
            return {aspect: self._prompts.initial(aspect) for aspect in Aspect}
        return read_instruction_folder(Path(self.instructions))

    @cached_property
    def _scorer(self) -> ParticleScorer:
        return ParticleScorer(
            self._gateway,
            self.model,
            self._prompts,
            samples=self.samples,
            temperature=self.temperature,
            method=self.method,
            together=self.together,
        )

    @cached_property
    def _decomposer(self) -> Decomposer:
        if self.rules:
            return RuleDecomposer()
        if self.particles is not None:
            from recjury.corpora.crsarena_particles import by_conversation, read_crsarena_particles

            file = Path(self.particles)
            given = by_conversation(read_crsarena_particles(file))
            content = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
            return GivenDecomposer(given, name=f"file {content}")
        return LlmDecomposer(
            self._gateway,
            self.model,
            self._prompts,
            samples=self.votes,
            temperature=self.temperature,
            together=self.together,
        )


def _evidence(
    log: ConversationLog,
    decomposition: Decomposition,
    aspect: Aspect,
    scores: Iterable[ParticleScore],
) -> tuple[Evidence, ...]:
    """Each particle with its mean score."""
    particles = {
        (turn.turn, number): particle
        for turn in decomposition.turns
        for number, particle in enumerate(turn.particles)
    }
    found: list[Evidence] = []
    for score in scores:
        particle = particles[score.turn, score.particle]
        start = log.interaction[score.turn].text.find(particle.mention)
        is_quoted = start >= 0
        mean = "no score" if score.score is None else f"{score.score:.2f}"
        found.append(
            Evidence(
                factor=aspect,
                label=particle.act,
                note=mean if is_quoted else f"{mean} for {particle.mention!r}",
                turn=score.turn,
                span_start=start if is_quoted else None,
                span_end=start + len(particle.mention) if is_quoted else None,
            )
        )
    return tuple(found)


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


def _usable_turns(log: ConversationLog) -> list[int]:
    return [turn for turn in log.system_turn_indices if log.interaction[turn].text.strip()]


def _assumed(turn: int) -> TurnParticles:
    """As many particles as a turn has on average."""
    words = "words of a part of the turn"
    particle = Particle(act=DialogueAct.RECOMMENDATION, mention=words)
    return TurnParticles(turn=turn, particles=(particle,) * _TYPICAL)
