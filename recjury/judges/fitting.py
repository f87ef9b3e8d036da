"""Shorter prompts in place of those that are too long for a model."""

from collections.abc import Iterator

_KEPT = 0.75  # of the turns, each time that a prompt was too long


def fewer_turns(longest: int) -> Iterator[int]:
    """How many turns of each dialogue to show: all, and then three quarters each time, down to 1.

    `longest` are the turns of the longest dialogue of the prompt.
    """
    yield longest
    while longest > 1:
        longest = int(longest * _KEPT)
        yield longest
