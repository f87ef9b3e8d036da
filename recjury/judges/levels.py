"""What of a log is rated: its turns, the whole dialogue, or both."""

from typing import Literal, TypeAlias

from recjury.records import ConversationLog, Level

LevelChoice: TypeAlias = Literal["turn", "dialogue", "both"]
"""What an evaluator's key `level` may be."""


def chosen_levels(choice: LevelChoice) -> tuple[Level, ...]:
    """The levels that are rated."""
    return tuple(Level) if choice == "both" else (Level(choice),)


def rated_turns(level: Level, log: ConversationLog) -> tuple[int | None, ...]:
    """The indices of the turns that are rated: all system turns; None for the whole dialogue."""
    return tuple(log.system_turn_indices) if level is Level.TURN else (None,)


def missing_to_rate(log: ConversationLog, turn: int | None) -> str:
    """What a model would need to rate the system turn at index `turn`, or the dialogue; empty for
    nothing."""
    if turn is None:
        spoken = any(each.failure is None and each.text.strip() for each in log.system_turns)
        return "" if spoken else "the system said nothing in this conversation"
    utterance = log.interaction[turn]
    is_there = utterance.failure is None and utterance.text.strip()
    return "" if is_there else "the system gave no answer in this turn"
