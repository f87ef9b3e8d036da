"""Conversations as the messages of a chat model, and what the model says next."""

from typing import Literal

from recjury.errors import ParseError, SystemFailed
from recjury.llm import finished_text
from recjury.records import Conversation, Message, Reply, Speaker

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


def spoken_reply(reply: Reply, system: str) -> str:
    """What the model says to the user, without its thoughts.

    Raises SystemFailed, which names `system`, if the reply was cut off or says nothing.
    """
    try:
        return finished_text(reply)
    except ParseError as problem:
        raise SystemFailed(f"{system}: {problem}") from None
