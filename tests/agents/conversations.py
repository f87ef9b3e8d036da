"""Conversations for the tests of systems under test."""

from recjury.records import Conversation, Speaker, SystemReply, Turn


def talk(*texts: str, first: Speaker = Speaker.USER) -> Conversation:
    """Alternating turns."""
    other = Speaker.SYSTEM if first is Speaker.USER else Speaker.USER
    speakers = (first, other)
    return Conversation(
        turns=tuple(
            Turn(speaker=speakers[number % 2], text=text) for number, text in enumerate(texts)
        )
    )


def after(conversation: Conversation, reply: SystemReply, answer: str) -> Conversation:
    """The conversation with a system's reply and the user's answer to it."""
    system = Turn(speaker=Speaker.SYSTEM, text=reply.text, items=reply.items)
    user = Turn(speaker=Speaker.USER, text=answer)
    return Conversation(turns=(*conversation.turns, system, user))
