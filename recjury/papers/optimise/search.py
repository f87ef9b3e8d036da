"""Algorithms 1 and 2: the beam is rewritten, a bandit selects, the pool grows; its best go on."""

import math
import random
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from recjury.errors import CallFailed, UserError
from recjury.judges import Criterion
from recjury.llm import Ask, gather
from recjury.llm.prompts import fence, pack
from recjury.papers.optimise.scoring import Measurement, Piece, Scorer, Sides, best, mean, sample
from recjury.records import Level, Message, ModelName, Record, Status

_PACK = "papers/face-optimise"
_LONGEST = 4_000  # characters; what is longer is a copied conversation

Say = Callable[[str], None]
"""Told what is done next."""


class FaceTraining(Record):
    """An optimisation of FACE's instructions for one `aspect` on people's `labels` (FORM:PATH).

    `config` is a file with the models, of which `model` rates and `rewriter` rewrites (by default
    the same). The paper's: `iterations` K, `beam` b, `candidates` b', `gradients` alpha,
    `exploration` c, `batches` (T = 5 B with B half the rewrites, C.1), `final` instructions, and
    `share` of the dialogues for training. Ours: in an iteration `shown` error cases are spread
    over the beam (algorithm 1 takes all, thousands of calls), and a pull of the bandit samples
    `sampled` particles. With `pool`, nothing is rewritten: the instructions of that file are
    measured anew (FACE*).
    """

    kind: Literal["face"] = "face"
    aspect: str
    labels: str
    config: str
    out: str = "face-instructions"
    store: str = "recjury.db"
    pool: str = ""
    model: ModelName = "main"
    rewriter: ModelName = ""
    iterations: int = Field(default=6, ge=1)
    beam: int = Field(default=4, ge=1)
    candidates: int = Field(default=16, ge=1)
    gradients: int = Field(default=2, ge=1)
    exploration: float = Field(default=1.0, ge=0)
    batches: int = Field(default=5, ge=1)
    final: int = Field(default=16, ge=1)
    shown: int = Field(default=32, ge=1)
    sampled: int = Field(default=64, ge=2)
    samples: int = Field(default=5, ge=1)
    temperature: float = Field(default=0.6, ge=0, le=2)
    share: float = Field(default=0.6, gt=0, lt=1)
    correlation: Literal["spearman", "pearson"] = "spearman"
    seed: int = 0

    @property
    def writer(self) -> str:
        """The model that rewrites."""
        return self.rewriter or self.model


class Candidate(NamedTuple):
    """An instruction, the iteration that wrote it, and what it was made from and why."""

    text: str
    iteration: int = 0
    parent: str = ""
    critique: str = ""


class Rewrite(BaseModel):
    """What a model makes of an instruction, and why."""

    critique: str = Field(min_length=1)
    instructions: str = Field(min_length=1, max_length=_LONGEST)


async def rewrite(
    instruction: str, piece: Piece, ask: Ask, scorer: Scorer, asked: FaceTraining
) -> Rewrite | None:
    """An instruction that is shown with a particle, rewritten in one call (equations 2 and 3).

    None if the reply cannot be read. Raises CallFailed and Stop.
    """
    score = await scorer.score(instruction, piece)
    said = await ask.object(
        _prompt(instruction, piece, score, scorer.criterion),
        Rewrite,
        model=asked.writer,
        purpose="rewrite",
        temperature=asked.temperature,
    )
    if said.status is Status.CALL_FAILED:
        raise CallFailed(said.reason)
    return said.value


def _prompt(
    instruction: str, piece: Piece, score: float | None, criterion: Criterion
) -> list[Message]:
    low, high = criterion.scale
    shown = pack(_PACK)
    asked = shown.render(
        "rewrite",
        guide=criterion,
        low=low,
        high=high,
        whole="turn" if criterion.level is Level.TURN else "dialogue",
        instruction=fence(instruction),
        **piece.turn.blocks,
        act=piece.particle.act,
        words=fence(piece.particle.mention),
        feedback=None if piece.particle.feedback is None else fence(piece.particle.feedback),
        score=None if score is None else f"{score:.2f}",
        label=f"{piece.label:.2f}",
        manifest=shown.manifest,
    )
    return [Message("user", asked)]


def new_texts(candidates: Iterable[Candidate], known: Iterable[str]) -> Iterator[Candidate]:
    """The candidates whose texts are new, white space aside."""
    seen = {" ".join(text.split()) for text in known}
    for each in candidates:
        text = " ".join(each.text.split())
        if text and text not in seen:
            seen.add(text)
            yield each


class Choice(NamedTuple):
    """The names of the best, what each instruction measured, and what the chosen measure together.

    All on the side for validation.
    """

    names: tuple[str, ...]
    measured: Mapping[str, Measurement]
    together: Measurement


@dataclass
class Search:
    """One search. Every draw depends on the seed and the step alone, so that a search that was
    interrupted does the same again and finds its replies in the store.

    Each error case is rewritten once by each of `asks`. `pool` has the selected candidates by name
    ("itr7"), `trained` what they measured.
    """

    asked: FaceTraining
    scorer: Scorer
    asks: Sequence[Ask]
    sides: Sides
    initial: str
    say: Say
    pool: dict[str, Candidate] = field(default_factory=dict)
    trained: dict[str, Measurement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lay out the particles that errors and pulls are drawn from."""
        self._pieces = [piece for example in self.sides.train for piece in example.pieces]

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
                f"no reply of {self.asked.writer!r} had new instructions: name another `rewriter`"
            )

    async def _rewritten(self, iteration: int, beam: list[str]) -> list[Candidate]:
        """Lines 3 to 13: errors of the beam are criticised, and instructions rewritten."""
        number = min(self.asked.shown, len(self._pieces))
        drawn = self._rng("cases", iteration).sample(self._pieces, number)
        cases = [(beam[n % len(beam)], piece) for n, piece in enumerate(drawn)]

        async def candidate(instruction: str, piece: Piece, ask: Ask) -> Candidate | None:
            found = await rewrite(instruction, piece, ask, self.scorer, self.asked)
            if found is None:
                return None
            text, critique = found.instructions.strip(), found.critique.strip()
            return Candidate(text, iteration, instruction, critique)

        found = await gather(candidate(*case, ask) for case in cases for ask in self.asks)
        known = [self.initial, *(each.text for each in self.pool.values())]
        return [*new_texts((each for each in found if each is not None), known)]

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

    def _rng(self, *step: str | int) -> random.Random:
        return random.Random("/".join(map(str, (self.asked.seed, *step))))


async def chosen(
    texts: Mapping[str, str], scorer: Scorer, sides: Sides, number: int, say: Say
) -> Choice:
    """The best instructions by validation (line 20); with another model's scorer, FACE*.

    Each is ranked alone: sets of 16 out of 96 are too many, and their correlations on the same few
    labels would mostly fit noise.
    """
    say(f"choosing among {len(texts)} instructions")
    examples = sides.validation
    measured = {name: await scorer.measured(text, examples) for name, text in texts.items()}
    names = tuple(best(measured, number))
    by_example = zip(*(measured[name].scores for name in names), strict=True)
    together = scorer.of([mean(scores) for scores in by_example], examples)
    return Choice(names, measured, together)


Reward = Callable[[int, int], Coroutine[Any, Any, float | None]]
"""The reward of (pull, arm), both from 0; None if it is undefined."""


class Arm(NamedTuple):
    """An arm's mean reward, and the particles that were scored for it."""

    value: float = 0.0
    particles: int = 0

    def with_reward(self, reward: float | None, particles: int) -> "Arm":
        """The arm after one more pull.

        An undefined reward counts as 0, no correlation: an instruction that gives everything the
        same score must not look better than a bad one.
        """
        seen = self.particles + particles
        return Arm(self.value + ((reward or 0.0) - self.value) * particles / seen, seen)

    def criterion(self, time: int, exploration: float) -> float:
        """The upper confidence bound before pull `time`, from 1; infinite if never pulled."""
        if not self.particles:
            return math.inf
        return self.value + exploration * math.sqrt(math.log(time) / self.particles)


async def play(
    arms: int,
    reward: Reward,
    *,
    keep: int,
    particles: int,
    batches: int = 5,
    exploration: float = 1.0,
    seed: int = 0,
) -> tuple[int, ...]:
    """The `keep` best of `arms` after `batches` x B pulls, best first; B is half the arms (C.1).

    The pulls of a batch go to B different arms and run together; each scores `particles` particles.
    Line 12 of algorithm 2 divides by the particles seen as if each pull had one; here a reward
    weighs as many as it has. Ties are broken by `seed`.
    """
    lots = random.Random(seed).sample(range(arms), arms)
    states, size, pulled = [Arm()] * arms, max(1, arms // 2), 0
    for _ in range(batches):
        bounds = [arm.criterion(pulled + 1, exploration) for arm in states]
        chosen = sorted(range(arms), key=lambda arm: (-bounds[arm], lots[arm]))[:size]
        rewards = await gather(reward(pulled + n, arm) for n, arm in enumerate(chosen))
        for arm, value in zip(chosen, rewards, strict=True):
            states[arm] = states[arm].with_reward(value, particles)
        pulled += len(chosen)
    ranked = sorted(
        range(arms),
        key=lambda arm: (not states[arm].particles, -states[arm].value, lots[arm]),
    )
    return tuple(ranked[:keep])
