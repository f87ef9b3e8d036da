"""What a user's turn does: its acts, as whoever knows them declares them."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from recjury.records.base import Record
from recjury.records.person import Attribute


class Act(StrEnum):
    """What a user does with a turn (docs/acts.md has the codebook)."""

    ACCEPT = "accept"  # takes a suggestion up
    REFUSE = "refuse"  # turns a suggestion, or a kind of item, down
    SEEN = "seen"  # knows the item already: seen, read, heard, bought
    WISH = "wish"  # says what is wanted, or asks for a suggestion
    ASK = "ask"  # asks for information
    COMPLAIN = "complain"  # is unhappy with the system
    THANK = "thank"
    BYE = "bye"  # ends the conversation
    CHAT = "chat"  # none of these


_WITH_ATTRIBUTE = frozenset({Act.WISH, Act.REFUSE, Act.ASK})
_WITHOUT_ITEM = frozenset({Act.THANK, Act.BYE, Act.CHAT})


class DeclaredAct(Record):
    """One act of a turn, declared by the user who spoke, or by whoever recorded the turn.

    `item` is the id of the item that it is about: the one accepted, refused, seen, asked about or
    complained of, or the one that the user wants something like; None for the suggestion in
    general. `attribute` and `value` say what is wished for, refused or asked about ("genre",
    "comedy"; the catalogue's spelling); a question may have an attribute alone. Raises ValueError
    for a value without an attribute, and for what the act cannot have.
    """

    act: Act
    item: str | None = None
    attribute: str = ""
    value: str = ""

    @model_validator(mode="after")
    def _has_what_the_act_allows(self) -> Self:
        if self.value and not self.attribute:
            raise ValueError(f"the value {self.value!r} has no attribute")
        if self.attribute and not self.value and self.act is not Act.ASK:
            raise ValueError(f"the attribute {self.attribute!r} has no value")
        if self.attribute and self.act not in _WITH_ATTRIBUTE:
            raise ValueError(f"the act {self.act} has no attribute")
        if self.item is not None and self.act in _WITHOUT_ITEM:
            raise ValueError(f"the act {self.act} is about no item")
        return self

    @model_serializer(mode="wrap")
    def _without_the_defaults(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = content(self)
        return {name: value for name, value in fields.items() if value not in (None, "")}

    @property
    def wish(self) -> Attribute | None:
        """What is wished for or refused, as an attribute; None if the act names none."""
        return Attribute(self.attribute, self.value) if self.value else None


def contradiction_in(acts: Iterable[DeclaredAct]) -> str:
    """Why these acts of one turn cannot all be true, in a few words; empty if they can.

    Nobody accepts and refuses one item, or wants and refuses one value, and a chat does nothing
    else.
    """
    declared = tuple(acts)
    kinds = {each.act for each in declared}
    if Act.CHAT in kinds and len(kinds) > 1:
        return "chat stands beside another act"
    if Act.REFUSE not in kinds:
        return ""
    about = {(each.act, each.item) for each in declared if not each.attribute}
    for act, item in sorted(about, key=str):
        if act is Act.ACCEPT and (Act.REFUSE, item) in about:
            return f"accepts and refuses {'a suggestion' if item is None else repr(item)}"
    wanted, refused = (
        {
            Attribute(each.wish.kind.casefold(), each.wish.value.casefold())
            for each in declared
            if each.act is act and each.wish
        }
        for act in (Act.WISH, Act.REFUSE)
    )
    both = min(wanted & refused, default=None)
    return "" if both is None else f"wants and refuses {both.kind} {both.value!r}"
