"""Rewrite instructions according to their critique (FACE, eq. 3): one call for both, or two
(C.2)."""

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from recjury.errors import ParseError
from recjury.llm import SupportsComplete, gather, read_reply
from recjury.papers.face.optimise.gradient import (
    Case,
    Task,
    gradient_message,
    read_critique,
    tagged,
)
from recjury.prompts import Pack, load_pack
from recjury.records import JSON, ChatRequest, Message, Reply

PACK = "face-optimise"
_LONGEST = 4_000  # characters: a longer text is a copied conversation


class Rewrite(NamedTuple):
    """A new instruction, the critique that it is based on, and the calls that produced both."""

    text: str
    critique: str
    calls: tuple[str, ...]


@dataclass(frozen=True)
class Rewriter:
    """The LLM that improves instructions (the paper's L2 and L3); `model` is the alias of a
    model."""

    gateway: SupportsComplete
    model: str
    task: Task
    gradients: int = 2
    merged: bool = True
    temperature: float = 0.6
    pack: Pack = field(default_factory=partial(load_pack, PACK))

    @property
    def settings(self) -> dict[str, JSON]:
        """Everything that can change its rewrites, besides the optimiser's own settings."""
        return {
            "model": self.model,
            "pack": f"{self.pack.id}-{self.pack.version}-{self.pack.digest}",
            "aspect": str(self.task.aspect),
            "criteria": self.task.criteria,
        }

    async def rewrite(self, case: Case, *, purpose: str) -> tuple[Rewrite, ...]:
        """At most `gradients` new instructions, in the order of their samples.

        A call that fails, and a reply that cannot be parsed even after one repair, gives none.
        """
        one = self._both if self.merged else self._one_after_the_other
        every = await gather(one(case, purpose, number) for number in range(self.gradients))
        return tuple(found for found in every if found is not None)

    async def _both(self, case: Case, purpose: str, number: int) -> Rewrite | None:
        message = gradient_message(self.pack, self.task, case, rewrite=True)
        answer = await read_reply(self.gateway, self._request(message, purpose, number), _read_both)
        if answer.value is None:
            return None
        critique, text = answer.value
        return Rewrite(text, critique, answer.calls)

    async def _one_after_the_other(self, case: Case, purpose: str, number: int) -> Rewrite | None:
        message = gradient_message(self.pack, self.task, case, rewrite=False)
        request = self._request(message, f"{purpose}/critique", number)
        critique = await read_reply(self.gateway, request, read_critique)
        if critique.value is None:
            return None
        fewest, most = self.pack.manifest["words"]
        again = request._replace(
            purpose=purpose,
            messages=(
                message,
                Message("assistant", (f"<critique>{critique.value}</critique>",)),
                Message("user", self.pack.render("rewrite", fewest=fewest, most=most)),
            ),
        )
        answer = await read_reply(self.gateway, again, read_instruction)
        if answer.value is None:
            return None
        return Rewrite(answer.value, critique.value, critique.calls + answer.calls)

    def _request(self, message: Message, purpose: str, number: int) -> ChatRequest:
        return ChatRequest(
            model=self.model,
            messages=(message,),
            purpose=purpose,
            temperature=self.temperature,
            sample=number,
        )


def read_instruction(reply: Reply) -> str:
    """The new instruction in a reply. Raises ParseError for none, several, or one that is too
    long."""
    text = tagged(reply, "instructions")
    if len(text) > _LONGEST:
        raise ParseError(f"the instructions have {len(text)} characters: expected a few sentences")
    return text


def _read_both(reply: Reply) -> tuple[str, str]:
    return read_critique(reply), read_instruction(reply)
