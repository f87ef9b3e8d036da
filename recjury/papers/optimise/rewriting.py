"""Critiques of instructions by error cases, and what is written instead (FACE, equations 2, 3)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic import BaseModel, Field

from recjury.errors import CallFailed
from recjury.judges import Criterion
from recjury.llm import Ask, gather
from recjury.llm.prompts import fence, pack
from recjury.papers.optimise.examples import Piece
from recjury.papers.optimise.scoring import Scorer
from recjury.records import Level, Message, Status

_PACK = "papers/face-optimise"
_LONGEST = 4_000  # characters; what is longer is a copied conversation


class Candidate(NamedTuple):
    """An instruction, the iteration that wrote it, and what it was made from and why."""

    text: str
    iteration: int = 0
    parent: str = ""
    critique: str = ""


class _Rewrite(BaseModel):
    critique: str = Field(min_length=1)
    instructions: str = Field(min_length=1, max_length=_LONGEST)


class Rewriter(NamedTuple):
    """The model that criticises and rewrites in one call; one `ask` for each rewrite of a case."""

    model: str
    asks: Sequence[Ask]
    criterion: Criterion
    temperature: float

    async def rewrites(
        self, cases: Sequence[tuple[str, Piece]], scorer: Scorer, iteration: int
    ) -> list[Candidate]:
        """The rewrites of instructions, each shown with a particle. Raises CallFailed and Stop.

        A reply that cannot be read gives none.
        """
        found = await gather(
            self._one(*case, scorer, iteration, ask) for case in cases for ask in self.asks
        )
        return [each for each in found if each is not None]

    async def _one(
        self, instruction: str, piece: Piece, scorer: Scorer, iteration: int, ask: Ask
    ) -> Candidate | None:
        score = await scorer.score(instruction, piece)
        said = await ask.object(
            self._prompt(instruction, piece, score),
            _Rewrite,
            model=self.model,
            purpose="rewrite",
            temperature=self.temperature,
        )
        if said.status is Status.CALL_FAILED:
            raise CallFailed(said.reason)
        if said.value is None:
            return None
        text = said.value.instructions.strip()
        return Candidate(text, iteration, instruction, said.value.critique.strip())

    def _prompt(self, instruction: str, piece: Piece, score: float | None) -> list[Message]:
        low, high = self.criterion.scale
        shown = pack(_PACK)
        asked = shown.render(
            "rewrite",
            guide=self.criterion,
            low=low,
            high=high,
            whole="turn" if self.criterion.level is Level.TURN else "dialogue",
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
