"""What is said: items, turns, conversations, scenarios, logs."""

from typing import Any, Literal

from recjury.records.base import Record

LIST_LENGTH = 10
"""So many items of a system turn count (the paper does not say how many)."""

LEAK = "leak"
"""The kind of event that a user's turn has if the leak guard changed it."""

Speaker = Literal["user", "system"]
Ending = Literal["hit", "named", "round limit", "offline", "system failed", "recorded"]


class ItemRef(Record):
    """An item of a catalogue. One that it lacks has `?` and its folded name as `id`."""

    id: str
    name: str

    @property
    def is_known(self) -> bool:
        """Whether a catalogue has the item."""
        return not self.id.startswith("?")


class Event(Record):
    """What a system showed or did besides its text: a tool call, its result, a card, a button.

    In a stream, an event of kind "items" adds its value, a list of items, to the reply's list.
    """

    kind: str
    value: Any = None


class Turn(Record):
    """One utterance, with what was shown beside it.

    `items` are a system's list, best first; a `linked` one was found in the text. A failed turn has
    the reason in `failure`. `calls` are the ids of the stored calls that made it. `entities` are
    names that a corpus annotates beside its items, None where nobody has.
    """

    speaker: Speaker
    text: str = ""
    items: tuple[ItemRef, ...] = ()
    events: tuple[Event, ...] = ()
    failure: str = ""
    linked: bool = False
    calls: tuple[str, ...] = ()
    entities: tuple[str, ...] | None = None


class Conversation(Record):
    """What a system is given. `id` is random: a conversation that begins again has a new one."""

    id: str
    turns: tuple[Turn, ...]
    domain: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The turns in OpenAI's form: `{"role": "user" or "assistant", "content": text}`."""
        role = {"user": "user", "system": "assistant"}
        return [{"role": role[turn.speaker], "content": turn.text} for turn in self.turns]


class SystemReply(Record):
    """A system's answer. `text` may be empty if items or events are there.

    `items` are references, ids or names; recjury looks them up in the catalogue.
    """

    text: str = ""
    items: tuple[ItemRef | str, ...] = ()
    events: tuple[Event, ...] = ()


class Scenario(Record):
    """Where a conversation starts: the history, what the user wants, and the domain.

    `reference` is what people replied to the history, where a corpus has it.
    """

    id: str
    corpus: str = ""
    domain: str = "film"
    history: tuple[Turn, ...] = ()
    targets: tuple[ItemRef, ...] = ()
    wishes: tuple[str, ...] = ()
    reference: str = ""

    @property
    def named_in_history(self) -> tuple[ItemRef, ...]:
        """The targets that a turn of the history names: finding them again is no surprise."""
        named = {item.id for turn in self.history for item in turn.items}
        return tuple(target for target in self.targets if target.id in named)


class ConversationLog(Record):
    """A conversation that is over: D and R of CoRE, section 3.

    `linked` says that the lists were found in what the system said, by the names of items.
    """

    scenario: Scenario
    interaction: tuple[Turn, ...]
    ending: Ending
    linked: bool = False

    @property
    def failed(self) -> bool:
        """Whether the system gave no usable answer in a turn."""
        return self.ending == "system failed"

    @property
    def rounds(self) -> int:
        """How many turns the system had."""
        return sum(turn.speaker == "system" for turn in self.interaction)

    @property
    def session_list(self) -> tuple[ItemRef, ...]:
        """All items that the system recommended, in the order of turns, once each (CoRE, 6.5)."""
        first: dict[str, ItemRef] = {}
        for turn in self.interaction:
            for item in turn.items if turn.speaker == "system" else ():
                first.setdefault(item.id, item)
        return tuple(first.values())
