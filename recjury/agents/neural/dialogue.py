"""A conversation as the published models read it: utterances by parity, roles as prefixes."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.records import Conversation, Speaker

_SPEAKERS = (Speaker.USER, Speaker.SYSTEM)


class Context(NamedTuple):
    """What a model answers: utterances (even index = user, odd = system) and entity ids.

    An empty utterance stands where one side said nothing. `entities` are the known ones among
    the last names of the conversation, in order, repeats kept.
    """

    utterances: tuple[str, ...]
    entities: tuple[int, ...] = ()


def utterances(conversation: Conversation) -> tuple[str, ...]:
    """The texts of the turns, with an empty one wherever a side is skipped."""
    found: list[str] = []
    for turn in conversation.turns:
        if turn.speaker is not _SPEAKERS[len(found) % 2]:
            found.append("")
        found.append(turn.text)
    return tuple(found)


def joined(said: Sequence[str], separator: str) -> str:
    """All utterances, empty ones too, without roles (KBRD)."""
    return separator.join(said)


def prefixed(said: Sequence[str], separator: str) -> str:
    """The utterances that are not empty, each after its role (BARCOR, UniCRS)."""
    names = ("User", "System")
    return separator.join(f"{names[index % 2]}: {text}" for index, text in enumerate(said) if text)
