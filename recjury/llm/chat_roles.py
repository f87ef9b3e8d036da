"""Messages in the order of roles that strict chat templates accept."""

from collections.abc import Iterable

SentMessage = dict[str, str]
"""A message as it is sent: its `role` and `content`."""

OPENING = "(The conversation begins.)"
"""What a user is made to say before an assistant's message that comes first."""
CLOSING = "(It is your turn.)"
"""What a user is made to say after an assistant's message that comes last."""


def has_system(messages: Iterable[SentMessage]) -> bool:
    """Whether a message has the system role."""
    return any(message["role"] == "system" for message in messages)


def alternates(messages: list[SentMessage]) -> bool:
    """Whether user and assistant take turns after at most one system message.

    The first turn and the last one must be the user's.
    """
    rest = messages[1:] if messages and messages[0]["role"] == "system" else messages
    roles = [message["role"] for message in rest]
    return len(roles) % 2 == 1 and all(
        role == ("assistant" if place % 2 else "user") for place, role in enumerate(roles)
    )


def without_system(messages: list[SentMessage]) -> list[SentMessage]:
    """The messages with the system's text at the beginning of the first user message."""
    system = "\n\n".join(each["content"] for each in messages if each["role"] == "system")
    rest = [each for each in messages if each["role"] != "system"]
    if not system:
        return rest
    if rest and rest[0]["role"] == "user":
        return [_user(f"{system}\n\n{rest[0]['content']}"), *rest[1:]]
    return [_user(system), *rest]


def alternating(messages: list[SentMessage]) -> list[SentMessage]:
    """The messages so that `alternates` holds; no text of them is lost.

    Neighbours of one role become one message. System messages after the first turn become the
    user's. Where the assistant begins or ends, the user gets a short line.
    """
    count = 0
    while count < len(messages) and messages[count]["role"] == "system":
        count += 1
    turns: list[SentMessage] = []
    for message in messages[count:]:
        role = "assistant" if message["role"] == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1] = {"role": role, "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append({"role": role, "content": message["content"]})
    if not turns or turns[0]["role"] == "assistant":
        turns.insert(0, _user(OPENING))
    if turns[-1]["role"] == "assistant":
        turns.append(_user(CLOSING))
    if count == 0:
        return turns
    system = "\n\n".join(message["content"] for message in messages[:count])
    return [{"role": "system", "content": system}, *turns]


def _user(content: str) -> SentMessage:
    return {"role": "user", "content": content}
