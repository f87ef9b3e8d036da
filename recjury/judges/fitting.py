"""What can be rated at all, and shorter prompts in place of those that are too long."""

from collections.abc import Iterator

from recjury.records import ConversationLog

_KEPT = 0.75  # of the turns, each time that a prompt was too long


def fewer_turns(longest: int) -> Iterator[int]:
    """How many turns of each dialogue to show: all, and then three quarters each time, down to 1.

    `longest` are the turns of the longest dialogue of the prompt.
    """
    yield longest
    while longest > 1:
        longest = int(longest * _KEPT)
        yield longest


def missing_to_rate(log: ConversationLog, turn: int | None) -> str:
    """What a model would need to rate the system turn at index `turn`, or the dialogue; empty for
    nothing."""
    if turn is None:
        spoken = any(each.failure is None and each.text.strip() for each in log.system_turns)
        return "" if spoken else "the system said nothing in this conversation"
    said = log.interaction[turn]
    is_there = said.failure is None and said.text.strip()
    return "" if is_there else "the system gave no answer in this turn"
