"""Algorithm 1: rewrite the beam, select candidates, add them to the pool; the best are the beam."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from recjury.papers.face.optimise.allowance import Allowance, StepFailed
from recjury.papers.face.optimise.bandit import Arm, play
from recjury.papers.face.optimise.call_estimate import pulls_of
from recjury.papers.face.optimise.candidates import (
    InstructionCandidate,
    assignments,
    distinct_texts,
    new_candidate,
    rewrites,
)
from recjury.papers.face.optimise.examples import (
    Examples,
    LabelledParticle,
    SupportsScore,
    labelled_particles,
    sample,
)
from recjury.papers.face.optimise.measuring import (
    Chosen,
    Measured,
    best_instructions,
    choose,
    measure,
    reward,
)
from recjury.papers.face.optimise.rewrite import Rewriter
from recjury.papers.face.optimise.settings import OptimiserSettings


class Step(NamedTuple):
    """The position of a run: the iteration (0 before the first, None at the end), and the
    action."""

    iteration: int | None
    doing: str
    done: int
    of: int


class Found(NamedTuple):
    """What a search found: the initial instruction, measured on both sides, and the chosen ones."""

    first: InstructionCandidate
    trained: Measured
    validated: Measured
    chosen: Chosen


@dataclass
class Search:
    """One run for one aspect.

    Every random draw depends only on the seed and the step. So a run that was killed does the same
    again, and the replies that it had are in the store.

    What it has done so far: all `rewritten` candidates, those of the `pool`, the bandit's `arms`,
    and what the pool measured in training, all by id.
    """

    settings: OptimiserSettings
    scorer: SupportsScore
    rewriter: Rewriter
    examples: Examples
    initial: str
    allowance: Allowance
    watch: Callable[[Step], None] = lambda _: None
    rewritten: dict[str, InstructionCandidate] = field(default_factory=dict)
    pool: dict[str, InstructionCandidate] = field(default_factory=dict)
    arms: dict[str, Arm] = field(default_factory=dict)
    trained: dict[str, Measured] = field(default_factory=dict)
    pulls: int = 0
    failed_calls: int = 0
    _particles: list[LabelledParticle] = field(init=False)

    def __post_init__(self) -> None:
        """Lay out the training particles, by which random draws go."""
        self._particles = labelled_particles(self.examples.train)

    async def run(self) -> Found:
        """Run all steps of Algorithm 1.

        Raises StepFailed if a budget or failing calls end the run; a new one goes on from there.
        """
        first = new_candidate(self.initial, 0)
        trained = (await self._train(0, [first]))[first.id]
        beam = [first]
        for iteration in range(1, self.settings.iterations + 1):
            rewritten = await self._rewrite(iteration, beam, (first, *self.pool.values()))
            self.rewritten |= {one.id: one for one in rewritten}
            kept = await self._select(iteration, rewritten)
            self.pool |= {one.id: one for one in kept}
            self.trained |= await self._train(iteration, kept)
            best = best_instructions(self.trained, self.settings.beam)
            beam = [self.pool[name] for name in best] or beam
        if not self.pool:
            raise StepFailed(
                "no reply of the rewriting model had new instructions: use another model"
            )
        return Found(first, trained, *await self._validate(first))

    async def _rewrite(
        self,
        iteration: int,
        beam: Sequence[InstructionCandidate],
        known: Sequence[InstructionCandidate],
    ) -> list[InstructionCandidate]:
        """Lines 3 to 13: gradients and rewrites."""
        shown, rng = self.settings.gradient_particles, self._rng("gradients", iteration)
        assigned = assignments(beam, len(self._particles), shown, rng)
        with self._step(iteration, "rewriting", len(assigned)):
            found = await rewrites(
                assigned, self._particles, self.scorer, self.rewriter, iteration=iteration
            )
        return list(distinct_texts(found, known))

    async def _select(
        self, iteration: int, rewritten: Sequence[InstructionCandidate]
    ) -> Sequence[InstructionCandidate]:
        """Line 15: UCB, unless all candidates would be kept."""
        settings = self.settings
        total = pulls_of(len(rewritten), settings)
        if not total:
            return rewritten
        size = min(settings.sampled_particles, len(self._particles))
        done = 0

        async def rewarded(pull: int, arm: int) -> float | None:
            nonlocal done
            drawn = sample(self._particles, size, self._rng("pull", iteration, pull))
            found = await reward(rewritten[arm].text, drawn, self.scorer, settings.correlate)
            done += 1
            self.watch(Step(iteration, "selecting", done, total))
            return found

        with self._step(iteration, "selecting", total):
            selection = await play(
                len(rewritten),
                rewarded,
                keep=settings.candidates,
                particles=size,
                batches=settings.batches,
                exploration=settings.exploration,
                averaging=settings.averaging,
                seed=settings.seed * 1_000 + iteration,
            )
        self.pulls += len(selection.pulled)
        self.arms |= {one.id: arm for one, arm in zip(rewritten, selection.arms, strict=True)}
        return [rewritten[arm] for arm in selection.kept]

    async def _train(
        self, iteration: int, some: Sequence[InstructionCandidate]
    ) -> dict[str, Measured]:
        """Line 18: each instruction on the whole training set."""
        found: dict[str, Measured] = {}
        with self._step(iteration, "evaluating", len(some)):
            for one in some:
                found[one.id] = await measure(
                    one.text, self.examples.train, self.scorer, self.settings.correlate
                )
                self.watch(Step(iteration, "evaluating", len(found), len(some)))
        return found

    async def _validate(self, first: InstructionCandidate) -> tuple[Measured, Chosen]:
        """Line 20: the initial instruction for comparison, and the best by validation
        correlation."""
        texts = {one.id: one.text for one in self.pool.values()}
        given = (self.examples.validation, self.scorer, self.settings.correlate)
        with self._step(None, "validating", len(texts)):
            before = await measure(first.text, *given)
            chosen = await choose(
                texts,
                *given,
                count=self.settings.final,
                done=lambda done: self.watch(Step(None, "validating", done, len(texts))),
            )
        return before, chosen

    @contextmanager
    def _step(self, iteration: int | None, doing: str, total: int) -> Iterator[None]:
        """A step whose calls are counted. Raises StepFailed at its end if too many failed."""
        self.allowance.begin_step()
        self.watch(Step(iteration, doing, 0, total))
        yield
        where = doing if iteration is None else f"iteration {iteration}, {doing}"
        self.failed_calls += self.allowance.end_step(where, self.settings.tolerated_failures)

    def _rng(self, *what: str | int) -> Random:
        return Random("/".join(map(str, (self.settings.seed, *what))))
