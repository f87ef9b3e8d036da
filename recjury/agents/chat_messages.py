"""Conversations as the messages of a chat model, and what the model says next."""

from typing import TYPE_CHECKING, Literal, NamedTuple

from recjury.errors import SystemFailed
from recjury.llm import attempt_limit, finished_text, read_reply
from recjury.records import ChatRequest, Conversation, Message, Speaker

if TYPE_CHECKING:
    from recjury.llm import Gateway

ANSWERS = 2
"""How often a run asks a system under test for one answer."""

ROLES: dict[Speaker, Literal["user", "assistant"]] = {
    Speaker.USER: "user",
    Speaker.SYSTEM: "assistant",
}


def messages(conversation: Conversation, system: str | tuple[str, ...] = ()) -> tuple[Message, ...]:
    """The turns with text, in order, after a system message if `system` is not empty."""
    parts = (system,) if isinstance(system, str) else system
    first = (Message("system", parts),) if any(parts) else ()
    said = (turn for turn in conversation.turns if turn.text.strip())
    return (*first, *(Message(ROLES[turn.speaker], (turn.text,)) for turn in said))


class SpokenAnswer(NamedTuple):
    """What a model says to the user, and the identities of the calls behind it."""

    text: str
    calls: tuple[str, ...]


async def ask_for_answer(gateway: "Gateway", request: ChatRequest, system: str) -> SpokenAnswer:
    """What the model says to the user, without its thoughts.

    A reply that was cut off or says nothing is asked for once more in a run: with the same
    messages, as a system under test is shown nothing but the conversation, and with twice the
    limit of tokens if it was cut off. Raises SystemFailed, which names `system`, if that one
    cannot be used either, and what the gateway raises for a failed call.
    """
    limit = attempt_limit(gateway).at_most(ANSWERS)
    answer = await read_reply(gateway, request, finished_text, attempts=limit, noted=False)
    if answer.failure is not None:
        raise answer.failure
    if answer.value is None:
        raise SystemFailed(f"{system}: {answer.reason}")
    return SpokenAnswer(answer.value, answer.calls)
