"""Conversations as the messages of a chat model."""

from typing import Literal

from recjury.records import Conversation, Message, Speaker

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
