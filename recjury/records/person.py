"""Who speaks to the system under test: what the user knows, wants, and how it behaves."""

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from recjury.records.base import Record
from recjury.records.item import ItemRef

Degree = Literal["low", "medium", "high"]
Knows = Literal["targets", "wishes"]
Behaviour = Literal[
    "change_of_mind", "contradiction", "rejection_without_reason", "off_topic", "giving_up"
]
ConditionName = Literal["reference_dependence", "decoy", "priming"]


class Attribute(NamedTuple):
    """A value that a catalogue has for an item: ("actor", "Al Pacino"), ("decade", "1990s").

    `kind` is singular: genre, actor, director, writer, language, year, decade, or one of the
    corpus's own. `value` is the catalogue's spelling.
    """

    kind: str
    value: str


class PersonaTraits(Record):
    """The traits of a persona, each low, medium or high. With all at medium the user is plain.

    `knowledge` is how much the person knows of such items, `question_tolerance` how gladly it
    answers questions, `language` how well it commands the language, and `openness` how willing it
    is to try something new.
    """

    patience: Degree = "medium"
    verbosity: Degree = "medium"
    knowledge: Degree = "medium"
    mood: Degree = "medium"
    question_tolerance: Degree = "medium"
    language: Degree = "medium"
    openness: Degree = "medium"


class Condition(Record):
    """A cognitive bias of the user (CoRE, section 8.4), and what it is about in this conversation.

    - reference_dependence: `item` was enjoyed lately; every suggestion is measured against it.
    - decoy: `item`, which is worse than a target in every respect but one, is the alternative.
    - priming: `attribute`, which no target has, has been on the user's mind just before.
    """

    name: ConditionName
    item: ItemRef | None = None
    attribute: Attribute | None = None


class Person(Record):
    """The user of one conversation. The default is the paper's plain user.

    `knows` is "targets" if the user knows the targets' attributes, or "wishes" if it only has the
    `wishes`. `persona` is the id of a persona of the pack, "" for none, and `about` says in a
    sentence who that is. `behaviours` are drawn for
    this conversation: entry n is what the user does in its answer to the system's turn n+1.
    """

    knows: Knows = "targets"
    wishes: tuple[Attribute, ...] = ()
    persona: str = ""
    about: str = ""
    traits: PersonaTraits = PersonaTraits()
    behaviours: tuple[Behaviour | None, ...] = ()
    condition: Condition | None = None

    def behaviour_in(self, round: int) -> Behaviour | None:  # noqa: A002
        """What the person does in the answer to this system turn, the first one being 1."""
        return self.behaviours[round - 1] if 0 < round <= len(self.behaviours) else None

    @property
    def described(self) -> str:
        """What distinguishes the person from the plain user, on one line; empty if nothing does."""
        condition, behaviours = self.condition, enumerate(self.behaviours, start=1)
        about = condition.item.name if condition and condition.item else ""
        if condition is not None and condition.attribute is not None:
            about = f"{condition.attribute.kind} {condition.attribute.value}"
        parts = {
            "wishes": ", ".join(f"{kind} {value}" for kind, value in self.wishes),
            "persona": self.persona,
            "behaviours": ", ".join(f"{each} in round {n}" for n, each in behaviours if each),
            "condition": f"{condition.name} ({about})" if condition and about else "",
        }
        if self.knows == "wishes" and not self.wishes:
            parts["wishes"] = "none"
        return "; ".join(f"{name}: {value}" for name, value in parts.items() if value)

    def gives_up(self, round: int) -> bool:  # noqa: A002
        """Whether the person ends the conversation with this answer, if it is not content."""
        return self.behaviour_in(round) == "giving_up"


PLAIN = Person()

DRAWN = "drawn"
"""Instead of a persona's id: each conversation has a persona drawn from the pack."""

Rate = Annotated[float, Field(ge=0, le=1)]


class UserSettings(Record):
    """Which users a campaign has. The default is the paper's plain user, who knows the targets.

    `persona` is the id of a persona, or "drawn"; `personas` a file with a pack of one's own.
    `behaviours` maps a behaviour to the share of the user's answers in which it occurs.
    """

    knows: Knows = "targets"
    persona: str | None = None
    personas: str | None = None
    behaviours: dict[Behaviour, Rate] = Field(default_factory=dict)
    condition: ConditionName | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all users are the paper's plain one."""
        rates = any(self.behaviours.values())
        return self.knows == "targets" and not (self.persona or self.condition or rates)
