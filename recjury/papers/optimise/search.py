"""Algorithm 1: the beam is rewritten, a bandit selects, the pool grows, its best are the beam."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from recjury.errors import UserError
from recjury.papers.optimise.bandit import play
from recjury.papers.optimise.examples import Sides, sample
from recjury.papers.optimise.rewriting import Candidate, Rewriter, new_texts
from recjury.papers.optimise.scoring import Measured, Scorer, best, mean
from recjury.papers.optimise.settings import FaceTraining

Say = Callable[[str], None]
"""Told what is done next."""


class Chosen(NamedTuple):
    """The names of the best, what each instruction measured, and what the chosen measure together.

    All on the side for validation.
    """

    names: tuple[str, ...]
    measured: Mapping[str, Measured]
    together: Measured


@dataclass
class Search:
    """One search. Every draw depends on the seed and the step alone, so that a search that was
    interrupted does the same again and finds its replies in the store.

    `pool` has the selected candidates by name ("itr7"), `trained` what they measured.
    """

    asked: FaceTraining
    scorer: Scorer
    rewriter: Rewriter
    sides: Sides
    initial: str
    say: Say
    pool: dict[str, Candidate] = field(default_factory=dict)
    trained: dict[str, Measured] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lay out the particles that errors and pulls are drawn from."""
        self._pieces = [piece for place in self.sides.train for piece in place.pieces]

    async def run(self) -> None:
        """Fill the pool. Raises CallFailed, Stop, and UserError if nothing was rewritten."""
        beam = [self.initial]
        for iteration in range(1, self.asked.iterations + 1):
            self.say(f"iteration {iteration} of {self.asked.iterations}: rewriting")
            rewritten = await self._rewritten(iteration, beam)
            self.say(f"iteration {iteration}: selecting among {len(rewritten)} rewrites")
            for each in await self._selected(iteration, rewritten):
                name = f"itr{len(self.pool) + 1}"
                self.pool[name] = each
                self.trained[name] = await self.scorer.measured(each.text, self.sides.train)
            names = best(self.trained, self.asked.beam)
            beam = [self.pool[name].text for name in names] or beam
        if not self.pool:
            raise UserError(
                f"no reply of {self.rewriter.model!r} had new instructions: name another `rewriter`"
            )

    async def _rewritten(self, iteration: int, beam: list[str]) -> list[Candidate]:
        """Lines 3 to 13: errors of the beam are criticised, and instructions rewritten."""
        number = min(self.asked.shown, len(self._pieces))
        drawn = self._rng("cases", iteration).sample(self._pieces, number)
        cases = [(beam[n % len(beam)], piece) for n, piece in enumerate(drawn)]
        found = await self.rewriter.rewrites(cases, self.scorer, iteration)
        return [*new_texts(found, [self.initial, *(each.text for each in self.pool.values())])]

    async def _selected(self, iteration: int, rewritten: list[Candidate]) -> list[Candidate]:
        """Line 15: the bandit's best; all, if there are no more than are kept."""
        asked = self.asked
        if len(rewritten) <= asked.candidates:
            return rewritten

        async def reward(pull: int, arm: int) -> float | None:
            drawn = sample(self._pieces, asked.sampled, self._rng("pull", iteration, pull))
            return await self.scorer.reward(rewritten[arm].text, drawn)

        kept = await play(
            len(rewritten),
            reward,
            keep=asked.candidates,
            particles=min(asked.sampled, len(self._pieces)),
            batches=asked.batches,
            exploration=asked.exploration,
            seed=asked.seed * 1_000 + iteration,
        )
        return [rewritten[arm] for arm in kept]

    def _rng(self, *step: str | int) -> Random:
        return Random("/".join(map(str, (self.asked.seed, *step))))


async def chosen(
    texts: Mapping[str, str], scorer: Scorer, sides: Sides, number: int, say: Say
) -> Chosen:
    """The best instructions by validation (line 20); with another model's scorer, FACE*.

    Each is ranked alone: sets of 16 out of 96 are too many, and their correlations on the same few
    labels would mostly fit noise.
    """
    say(f"choosing among {len(texts)} instructions")
    places = sides.validation
    measured = {name: await scorer.measured(text, places) for name, text in texts.items()}
    names = tuple(best(measured, number))
    by_place = zip(*(measured[name].scores for name in names), strict=True)
    together = scorer.of([mean(scores) for scores in by_place], places)
    return Chosen(names, measured, together)
