"""Where in a log ratings of turns belong."""

from recjury.records import ConversationLog, Speaker


def system_turns(log: ConversationLog) -> tuple[int, ...]:
    """The indices of the system's turns in the interaction."""
    turns = enumerate(log.interaction)
    return tuple(number for number, turn in turns if turn.speaker is Speaker.SYSTEM)
