"""Systems of one's own, for tests."""

from recjury.records import Conversation


def broken(conversation: Conversation) -> str:
    raise RuntimeError("out of order")


def polite(conversation: Conversation) -> str:
    return f"Good to hear: {conversation.turns[-1].text[:20]} How about Heat (1995)?"
