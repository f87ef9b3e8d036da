"""What was read of a user's turn, and of a system's reply."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from recjury.records import Act, Attribute

Breakage = Literal["", "empty", "loop", "residue", "truncated", "mixed_languages", "garbled"]
"""How a reply is broken; "garbled" is what the model alone finds: order, agreement, sense."""


class Reading(NamedTuple):
    """What a user's turn does.

    `acts` has the probability of each act, 0 to 1; where `declared`, these are 0 and 1. `yes` and
    `no` are the acts that the turn surely does and surely does not; an act in neither is doubtful,
    and what rests on it has no score. `wants` and `rejects` are the values that the turn itself
    wishes for and turns down, in the catalogue's attributes and spelling where one was given.
    `items` are the ids of the items that it names or its acts are about, in order. `english` is
    False for a text in another language: then every act is doubtful.
    """

    acts: Mapping[Act, float]
    yes: frozenset[Act]
    no: frozenset[Act]
    declared: bool = False
    english: bool = True
    wants: tuple[Attribute, ...] = ()
    rejects: tuple[Attribute, ...] = ()
    items: tuple[str, ...] = ()

    def does(self, act: Act) -> bool | None:
        """Whether the turn does `act`; None if that is doubtful."""
        return True if act in self.yes else False if act in self.no else None


class ReplyCheck(NamedTuple):
    """How likely a system's reply is broken, 0 to 1, and how; `quote` is the part that shows it.

    `broken` is None if that is doubtful, or the reply is not in English (`english`).
    """

    probability: float
    broken: bool | None
    kind: Breakage = ""
    quote: str = ""
    english: bool = True
