"""What can be rated at all, and shorter prompts in place of those that are too long."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from recjury.errors import PromptTooLong
from recjury.llm import ParsedReply
from recjury.records import ConversationLog, Status

PromptT = TypeVar("PromptT")
T = TypeVar("T")

_KEPT = 0.75  # of the turns, each time that a prompt was too long


def fewer_turns(longest: int) -> Iterator[int]:
    """How many turns of each dialogue to show: all, and then three quarters each time, down to 1.

    `longest` are the turns of the longest dialogue of the prompt.
    """
    yield longest
    while longest > 1:
        longest = int(longest * _KEPT)
        yield longest


async def ask_what_fits(
    prompts: Iterable[PromptT], asked: Callable[[PromptT], Awaitable[ParsedReply[T]]]
) -> tuple[ParsedReply[T], PromptT]:
    """What `asked` returns for the first of `prompts` that the model can read, and that prompt.

    If none fits, the status is REFUSED. Raises ValueError without any prompt.
    """
    found: tuple[ParsedReply[T], PromptT] | None = None
    for prompt in prompts:
        try:
            reply = await asked(prompt)
        except PromptTooLong as failure:
            reply = ParsedReply(None, Status.REFUSED, str(failure), failure=failure)
        found = reply, prompt
        if not isinstance(reply.failure, PromptTooLong):
            return found
    if found is None:
        raise ValueError("there is no prompt to ask")
    reply, prompt = found
    reason = f"{reply.reason}, and nothing is left that can be cut"
    return ParsedReply(
        None, Status.REFUSED, reason, reply.calls, reply.reply, reply.failure
    ), prompt


def missing_to_rate(log: ConversationLog, turn: int | None) -> str:
    """What a model would need to rate the system turn at index `turn`, or the dialogue; empty for
    nothing."""
    if turn is None:
        spoken = any(each.failure is None and each.text.strip() for each in log.system_turns)
        return "" if spoken else "the system said nothing in this conversation"
    said = log.interaction[turn]
    is_there = said.failure is None and said.text.strip()
    return "" if is_there else "the system gave no answer in this turn"
