"""The protocols of systems, users, evaluators and recorders."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from pydantic import field_validator

from recjury.errors import SystemFailed
from recjury.records.act import DeclaredAct
from recjury.records.base import JSON, Record
from recjury.records.call import CallRecord, Reply
from recjury.records.conversation import ConversationLog, Scenario, Speaker, Turn
from recjury.records.item import ItemRef
from recjury.records.person import PLAIN, Attribute, Behaviour, Person
from recjury.records.rating import Rating


class Conversation(Record):
    """What a system under test sees: all turns so far, history first, without the targets.

    `domain` names the kind of item that is wanted ("film", "book"); it is empty if nobody said it.
    A system reads what the user says: declared acts are removed from the turns.
    """

    turns: tuple[Turn, ...]
    domain: str = ""

    @field_validator("turns")
    @classmethod
    def _without_declared_acts(cls, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        return tuple(turn.model_copy(update={"acts": ()}) if turn.acts else turn for turn in turns)


# Several times the longest reply of a language model. Reading far longer answers would delay all
# other conversations until their systems seem to time out.
LONGEST_ANSWER = 100_000  # characters


class SystemReply(Record):
    """A system's answer: its text and its ordered recommendation list, best first.

    `names_filled` tells that the names in the text were put there from the list, so that text and
    list cannot differ.
    """

    text: str
    items: tuple[ItemRef, ...] = ()
    calls: tuple[str, ...] = ()
    names_filled: bool = False


def usable_reply(reply: object) -> SystemReply:
    """`reply`, if it can be evaluated; it may come from the user's own code.

    Raises SystemFailed for another type than `SystemReply`, for a reply without text (most factors
    rate the text, so a list alone is not enough), for more than `LONGEST_ANSWER` characters, and
    for lone surrogates and NUL, which cannot be stored.
    """
    if not isinstance(reply, SystemReply):
        raise SystemFailed(f"expected a SystemReply, got {type(reply).__name__}")
    if not reply.text.strip():
        raise SystemFailed("the answer has no text")
    if len(reply.text) > LONGEST_ANSWER:
        raise SystemFailed(
            f"the answer has {len(reply.text)} characters, at most {LONGEST_ANSWER} are taken"
        )
    said = "".join((reply.text, *(item.name for item in reply.items)))
    if "\0" in said:
        raise SystemFailed("the answer contains the character NUL")
    try:
        said.encode()
    except UnicodeEncodeError as error:
        surrogate = hex(ord(error.object[error.start]))
        raise SystemFailed(f"the answer is invalid Unicode: lone surrogate {surrogate}") from None
    return reply


class Recommender(Protocol):
    """A system under test. One object serves all its conversations, many at once."""

    @property
    def name(self) -> str:
        """The name it has in tables."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change its answers: part of each conversation's identity."""

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Answer the conversation so far. Raises UnitFailed if it cannot."""

    async def aclose(self) -> None:
        """Release what it holds."""


@runtime_checkable
class SupportsCheck(Protocol):
    """A system under test that can be tried before a campaign begins."""

    async def check(self) -> None:
        """Raise UserError, in one line, if the system cannot be used."""


class UserContext(Record):
    """What the simulated user knows when it speaks.

    `person` says who it is. `hit` is the item that the user has been told of and is content with,
    or None: named in a text, or, if it sees lists (`shows_list`), in a list. For a person with
    wishes this is the item that meets all of them. `introduce` asks the user to have the system
    introduce it. `system_named_hit` says that the user may name it, too. `speakable` are the
    targets that the user has been told of, and may name. `barred` are the values that no item but
    the other targets has: they give a target away and must not be said. `last` says that the
    conversation ends after this utterance.
    """

    scenario: Scenario
    interaction: tuple[Turn, ...]
    hit: ItemRef | None = None
    introduce: bool = False
    system_named_hit: bool = False
    person: Person = PLAIN
    shows_list: bool = True
    last: bool = False
    speakable: tuple[ItemRef, ...] = ()
    barred: frozenset[Attribute] = frozenset()

    @property
    def behaviour(self) -> Behaviour | None:
        """What the person's behaviours say about the answer to the last system turn."""
        answered = sum(turn.speaker is Speaker.SYSTEM for turn in self.interaction)
        return self.person.behaviour_in(answered)


class Utterance(Record):
    """What the simulated user says, and the model calls behind it.

    `acts` are what the utterance does, if the user declares it (`records.Act`). `acts_dropped`
    counts declared ones that could not be used, and `acts_differing` those that the words do not
    do, or that they do and nobody declared, as far as a reader is sure.
    """

    text: str
    calls: tuple[str, ...] = ()
    acts: tuple[DeclaredAct, ...] = ()
    acts_dropped: int = 0
    acts_differing: int = 0


class UserSimulator(Protocol):
    """Who talks to the system under test. One object serves all conversations."""

    @property
    def name(self) -> str:
        """ "rule", or the model's alias."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change what it says: part of each conversation's identity."""

    async def speak(self, context: UserContext) -> Utterance:
        """The next utterance."""

    async def rewrite(
        self, context: UserContext, utterance: str, leaks: Sequence[str]
    ) -> Utterance:
        """`utterance` again, without the words in `leaks`."""

    async def persuasiveness(self, log: ConversationLog) -> Rating:
        """How persuasive the conversation was, 0 to 2 (CoRE 6.4, after Wang et al. 2023a)."""


class Recorder(Protocol):
    """Keeps finished calls; `llm` records through it and `store` implements it."""

    @property
    def secret(self) -> bytes:
        """What the codes of answers are keyed with; it must not be shown."""

    async def recall(self, identity: str) -> Reply | None:
        """The reply kept for this identity, or None."""

    async def record(self, call: CallRecord) -> None:
        """Keep a finished call; returns once it is durable."""


class Elsewhere(NamedTuple):
    """What is taken of a budget outside of this process, in its unit.

    `spent` is by earlier runs and by other processes; these have `reserved` so much for open calls,
    and `others` of them live.
    """

    spent: float
    reserved: float = 0.0
    others: int = 0


class Ledger(Protocol):
    """Where the processes that share a budget write what they take; `store` implements it."""

    async def write(
        self, spent: float, limit: float, reserve: Callable[[Elsewhere], float]
    ) -> Elsewhere:
        """Write what this process has `spent`, and what it has reserved: what `reserve` returns.

        `reserve` gets what is taken elsewhere, while no other process writes; it may be called more
        than once, in another thread. A process that is alone has all that is left of `limit`
        reserved. Returns what is taken elsewhere.
        """
