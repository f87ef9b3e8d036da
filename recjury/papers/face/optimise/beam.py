"""Algorithm 1: rewrite the beam, select candidates, add them to the pool; the best are the beam."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, NamedTuple

from recjury.papers.face.optimise.allowance import Allowance, StepFailed
from recjury.papers.face.optimise.bandit import play
from recjury.papers.face.optimise.call_estimate import pulls_of
from recjury.papers.face.optimise.candidates import (
    InstructionCandidate,
    assignments,
    distinct_texts,
    new_candidate,
    rewrites,
)
from recjury.papers.face.optimise.instruction_result import evaluate_instruction, reward
from recjury.papers.face.optimise.labelled_particles import (
    Examples,
    LabelledParticle,
    P,
    SupportsScore,
    labelled_particles,
    sample,
)
from recjury.papers.face.optimise.rewrite import Rewriter
from recjury.papers.face.optimise.select import Measured, best_instructions, choose
from recjury.papers.face.optimise.settings import OptimiserSettings
from recjury.papers.face.optimise.state import Journal


class Step(NamedTuple):
    """The position of a run: the iteration (0 before the first, None at the end), and the
    action."""

    iteration: int | None
    doing: str
    done: int
    of: int


@dataclass
class Search(Generic[P]):
    """One run for one aspect; `run` continues after the last step in the journal.

    Every random draw depends only on the seed and the step. A run that was killed therefore gives
    the same result if the replies are the same.
    """

    settings: OptimiserSettings
    scorer: SupportsScore[P]
    rewriter: Rewriter
    examples: Examples[P]
    initial: str
    journal: Journal
    allowance: Allowance
    watch: Callable[[Step], None] = lambda _: None
    _particles: list[LabelledParticle[P]] = field(init=False)

    def __post_init__(self) -> None:
        """Lay out the training particles, by which random draws go."""
        self._particles = labelled_particles(self.examples.train)

    async def run(self) -> Mapping[str, Any]:
        """Run all steps of Algorithm 1; they are then in the journal, and the last one is returned.

        Raises StepFailed if a budget or failing calls end the run; call it again to continue.
        """
        first = new_candidate(self.initial, 0)
        await self._trained(0, [first])
        pool: dict[str, InstructionCandidate] = {}
        measured: dict[str, Measured] = {}
        beam = [first]
        for iteration in range(1, self.settings.iterations + 1):
            known = (first, *pool.values())
            rewritten = await self._rewritten(iteration, beam, known)
            kept = await self._selected(iteration, rewritten)
            pool |= {one.id: one for one in kept}
            measured |= await self._trained(iteration, kept)
            beam = [pool[name] for name in best_instructions(measured, self.settings.beam)] or beam
        if not pool:
            raise StepFailed(
                "no reply of the rewriting model had new instructions. This is stored in the "
                f"journal in {self.journal.path.parent}: use another model and another folder"
            )
        return await self._final(first, pool)

    async def _rewritten(
        self,
        iteration: int,
        beam: Sequence[InstructionCandidate],
        known: Sequence[InstructionCandidate],
    ) -> list[InstructionCandidate]:
        """Lines 3 to 13: gradients and rewrites."""
        name = f"{iteration}/rewrites"
        if (kept := self.journal.find(name)) is None:
            assigned = assignments(
                beam,
                len(self._particles),
                self.settings.gradient_particles,
                self._rng("gradients", iteration),
            )
            with self._step(iteration, "rewriting", len(assigned)) as end:
                found = await rewrites(
                    assigned, self._particles, self.scorer, self.rewriter, iteration=iteration
                )
                failed = end()
            new = [one._asdict() for one in distinct_texts(found, known)]
            kept = self.journal.keep(
                name, {"asked": len(assigned), "failed_calls": failed, "candidates": new}
            )
        return [InstructionCandidate.read(row) for row in kept["candidates"]]

    async def _selected(
        self, iteration: int, rewritten: list[InstructionCandidate]
    ) -> list[InstructionCandidate]:
        """Line 15: UCB, unless all candidates would be kept."""
        if not pulls_of(len(rewritten), self.settings):
            return rewritten
        name = f"{iteration}/selected"
        if (kept := self.journal.find(name)) is None:
            kept = self.journal.keep(name, await self._played(iteration, rewritten))
        by_id = {one.id: one for one in rewritten}
        return [by_id[row["id"]] for row in kept["kept"]]

    async def _played(
        self, iteration: int, rewritten: list[InstructionCandidate]
    ) -> dict[str, Any]:
        settings = self.settings
        size = min(settings.sampled_particles, len(self._particles))
        total = pulls_of(len(rewritten), settings)
        done = 0

        async def rewarded(pull: int, arm: int) -> float | None:
            nonlocal done
            drawn = sample(self._particles, size, self._rng("pull", iteration, pull))
            found = await reward(rewritten[arm].text, drawn, self.scorer, self.settings.correlate)
            done += 1
            self.watch(Step(iteration, "selecting", done, total))
            return found

        with self._step(iteration, "selecting", total) as end:
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
            failed = end()
        arms = [
            {"id": one.id, **arm._asdict()}
            for one, arm in zip(rewritten, selection.arms, strict=True)
        ]
        return {
            "pulls": len(selection.pulled),
            "failed_calls": failed,
            "kept": [arms[arm] for arm in selection.kept],
            "arms": arms,
        }

    async def _trained(
        self, iteration: int, some: Sequence[InstructionCandidate]
    ) -> dict[str, Measured]:
        """Line 18: each instruction on the whole training set."""
        name = f"{iteration}/trained"
        if (kept := self.journal.find(name)) is None:
            found: dict[str, Measured] = {}
            with self._step(iteration, "evaluating", len(some)) as end:
                for number, one in enumerate(some, start=1):
                    result = await evaluate_instruction(
                        one.text, self.examples.train, self.scorer, self.settings.correlate
                    )
                    found[one.id] = Measured(result.correlation, result.coverage)
                    self.watch(Step(iteration, "evaluating", number, len(some)))
                failed = end()
            kept = self.journal.keep(name, {"failed_calls": failed, "measured": _rows(found)})
        return {key: Measured(*row) for key, row in kept["measured"].items()}

    async def _final(
        self, first: InstructionCandidate, pool: Mapping[str, InstructionCandidate]
    ) -> Mapping[str, Any]:
        """Line 20: the best by validation correlation, and the initial instruction for
        comparison."""
        if (kept := self.journal.find("final")) is not None:
            return dict(kept)
        texts = {one.id: one.text for one in pool.values()}
        done = 0

        def another() -> None:
            nonlocal done
            done += 1
            self.watch(Step(None, "validating", done, len(texts)))

        with self._step(None, "validating", len(texts)) as end:
            before = await evaluate_instruction(
                first.text, self.examples.validation, self.scorer, self.settings.correlate
            )
            chosen = await choose(
                texts,
                self.examples.validation,
                self.scorer,
                self.settings.correlate,
                count=self.settings.final,
                done=another,
            )
            failed = end()
        content = {
            "failed_calls": failed,
            "initial": [before.correlation, before.coverage],
            "measured": _rows(chosen.measured),
            "chosen": list(chosen.names),
            "together": list(chosen.together),
        }
        return dict(self.journal.keep("final", content))

    @contextmanager
    def _step(self, iteration: int | None, doing: str, total: int) -> Iterator[Callable[[], int]]:
        """A step whose calls are counted; the block must call the function that it is given."""
        self.allowance.begin_step()
        self.watch(Step(iteration, doing, 0, total))
        where = doing if iteration is None else f"iteration {iteration}, {doing}"
        yield lambda: self.allowance.end_step(where, self.settings.tolerated_failures)

    def _rng(self, *what: str | int) -> Random:
        return Random("/".join(map(str, (self.settings.seed, *what))))


def _rows(measured: Mapping[str, Measured]) -> dict[str, list[float | None]]:
    return {name: list(one) for name, one in measured.items()}
