"""Scenarios and conversation logs: L = (D, R) of CoRE, section 3."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from recjury.records.act import DeclaredAct, contradiction_in
from recjury.records.base import Record, SafeText, digest
from recjury.records.item import ItemRef
from recjury.records.person import Person

LIST_LENGTH = 10

# Fields of a log, with their defaults, that most identities are older than.
_YOUNG: Mapping[str, object] = {
    "items_linked": False,
    "values_caught": 0,
    "values_through": 0,
    "pairs_told": 0,
    "speechless": False,
    "person": None,
    "names_filled": False,
    "acts_dropped": 0,
    "acts_differing": 0,
}


class Speaker(StrEnum):
    """The speaker of a turn."""

    USER = "user"
    SYSTEM = "system"


class Turn(Record):
    """One utterance. A system turn of the interaction also has its ordered recommendation list.

    `failure` says why a system under test gave no usable answer; its text is then empty.
    `calls` are the identities of the model calls behind the turn, in order. `acts` are what a turn
    of the user does, as its speaker declares it; empty if nobody did (`language.read` reads the
    text then). Raises ValueError for acts of a system, and for acts that contradict each other.
    """

    speaker: Speaker
    text: SafeText
    items: tuple[ItemRef, ...] = ()
    failure: SafeText | None = None
    calls: tuple[str, ...] = ()
    acts: tuple[DeclaredAct, ...] = ()

    @model_validator(mode="after")
    def _acts_are_of_a_user_and_agree(self) -> Self:
        if not self.acts:
            return self
        if self.speaker is not Speaker.USER:
            raise ValueError("only a user's turn has acts")
        wrong = contradiction_in(self.acts)
        if wrong:
            raise ValueError(f"the declared acts contradict each other: {wrong}")
        return self

    @model_serializer(mode="wrap")
    def _without_undeclared_acts(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave out acts that nobody declared: most identities are older than them."""
        fields: dict[str, object] = content(self)
        if not self.acts:
            fields.pop("acts", None)
        return fields


class Scenario(Record):
    """The start of a conversation: the history so far and the target items.

    `corpus` names the data and split ("opendialkg/test"), `record` the record in it ("11_3" =
    dialogue 11, turn 3). `targets` are hidden from the system under test. `target_seen` is True if
    a target already occurs in the history. `wishes` are attributes that the user wants, if targets
    come from attributes (recorded concept logs). `pair` is the key by which conversations are
    paired when systems are compared, if it is not the record.
    """

    corpus: str
    record: str
    history: tuple[Turn, ...] = ()
    targets: tuple[ItemRef, ...] = ()
    target_seen: bool = False
    wishes: tuple[str, ...] = ()
    pair: str = ""

    @property
    def id(self) -> str:
        """Corpus and record, unique among scenarios ("opendialkg/test#11_3")."""
        return f"{self.corpus}#{self.record}"

    @property
    def pair_id(self) -> str:
        """The key of a pair: scenarios with the same key are paired when two systems are
        compared."""
        return f"{self.corpus}#{self.pair or self.record}"


class Ending(StrEnum):
    """Why a conversation ended."""

    HIT = "hit"
    CONTENT = "content"  # the user was told of what it wanted; no list decided it
    GAVE_UP = "gave_up"
    ROUND_LIMIT = "round_limit"
    SYSTEM_FAILED = "system_failed"
    OFFLINE = "offline"  # one reply to people's history; nobody answered it
    UNANSWERED = "unanswered"  # the user's model refused what the system said, or was not readable
    BROKEN_OFF = "broken_off"  # the user's endpoint failed, or the budget was spent
    RECORDED = "recorded"


class ConversationLog(Record):
    """A conversation, simulated or recorded; everything after the session reads it.

    `interaction` alternates between speakers and begins after the history. It ends with a user
    turn if the session was simulated and completed. `hit_round` is the 1-based round of the first
    hit. `leaks_caught` counts utterances of the simulated user that named a target and were
    rewritten or cut before they were sent; `leaks_through` counts those that were sent anyway.
    `values_caught` and `values_through` count in the same way utterances with an attribute value
    that no item but the targets has. `pairs_told` counts utterances after which two values that the
    user had said fit no item but the targets. `speechless` is True if every known value of the
    targets gives them away. `person` is the user; None for the paper's plain user.
    `items_linked` is True if the system gave no lists and they were made of the names in its texts.
    `names_filled` is True if the system put the names of its lists into its texts.
    `acts_dropped` and `acts_differing` count declared acts of a user played by a model that could
    not be used, and those in which declaration and words surely differ.
    """

    system: str
    scenario: Scenario
    interaction: tuple[Turn, ...]
    ending: Ending
    hit_round: int | None = None
    leaks_caught: int = 0
    leaks_through: int = 0
    list_length: int = LIST_LENGTH
    items_linked: bool = False
    values_caught: int = 0
    values_through: int = 0
    pairs_told: int = 0
    speechless: bool = False
    person: Person | None = None
    names_filled: bool = False
    acts_dropped: int = 0
    acts_differing: int = 0

    @model_serializer(mode="wrap")
    def _without_the_defaults(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave out fields at their default that are younger than most identities."""
        found: dict[str, object] = content(self)
        return {
            name: value
            for name, value in found.items()
            if name not in _YOUNG or getattr(self, name) != _YOUNG[name]
        }

    @property
    def id(self) -> str:
        """The identity of the log's content."""
        return digest(self)

    @property
    def system_turns(self) -> tuple[Turn, ...]:
        """The system's turns of the interaction, in order."""
        return tuple(turn for turn in self.interaction if turn.speaker is Speaker.SYSTEM)

    @property
    def system_turn_indices(self) -> tuple[int, ...]:
        """The indices of the system's turns in the interaction, in order."""
        turns = enumerate(self.interaction)
        return tuple(index for index, turn in turns if turn.speaker is Speaker.SYSTEM)

    def session_list(self) -> tuple[ItemRef, ...]:
        """The per-turn lists, each cut to `list_length`, in turn order, first occurrences only."""
        return distinct(
            item for turn in self.system_turns for item in turn.items[: self.list_length]
        )

    def recall_at(self, k: int) -> float | None:
        """1.0 if any target is among the first `k` of the session list, else 0.0.

        None without targets (CoRE section 6.4: any of several targets is a hit).
        """
        return self._recall(self.session_list(), k)

    def last_turn_recall_at(self, k: int) -> float | None:
        """As `recall_at`, over the last system turn's list alone, cut to
        `list_length`; 0.0 if there was none."""
        turns = self.system_turns
        return self._recall(turns[-1].items[: self.list_length] if turns else (), k)

    def _recall(self, items: Sequence[ItemRef], k: int) -> float | None:
        if not self.scenario.targets:
            return None
        return float(any_target(items[:k], self.scenario.targets))


def distinct(items: Iterable[ItemRef]) -> tuple[ItemRef, ...]:
    """First occurrences, in order; items without an id are compared by case-folded name."""
    seen: dict[str, ItemRef] = {}
    for item in items:
        seen.setdefault(item.id if item.id is not None else f"?{item.name.casefold()}", item)
    return tuple(seen.values())


def is_target(item: ItemRef, targets: Sequence[ItemRef]) -> bool:
    """Whether `item` is one of `targets`."""
    return any_target([item], targets)


def any_target(items: Iterable[ItemRef], targets: Iterable[ItemRef]) -> bool:
    """Whether one of `items` is one of `targets`."""
    return bool(target_ranks(items, targets))


def target_ranks(items: Iterable[ItemRef], targets: Iterable[ItemRef]) -> list[int]:
    """The places, from 1, of the items that are targets."""
    wanted = {target.id for target in targets} - {None}
    return [place for place, item in enumerate(items, start=1) if item.id in wanted]


def first_hit(turns: Iterable[Turn], targets: Sequence[ItemRef], list_length: int) -> int | None:
    """The 1-based round of the first system turn whose list has a target; None for none."""
    lists = (turn.items for turn in turns if turn.speaker is Speaker.SYSTEM)
    for number, items in enumerate(lists, start=1):
        if any_target(items[:list_length], targets):
            return number
    return None
