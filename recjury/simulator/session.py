"""The conversation between a simulated user and a system under test (CoRE, section 6.4)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, NamedTuple, Protocol, Self

from pydantic import Field, model_validator

from recjury.corpora import Title
from recjury.corpora.words import is_blank
from recjury.errors import SystemFailed, UnitFailed
from recjury.llm import Ask
from recjury.logs import logger
from recjury.records import (
    LEAK,
    LIST_LENGTH,
    Conversation,
    ConversationLog,
    Ending,
    Event,
    ItemRef,
    Record,
    Scenario,
    Turn,
)
from recjury.simulator.user import SimulatedUser, Situation

_OFFLINE_LENGTH = 100  # papers look at 50; no system that ships gives more than 100


class Session(Record):
    """How long a conversation lasts, what ends it, and what the user sees and may say.

    It ends after the round in which a target was recommended and `min_rounds` are over, or after
    `max_rounds`. `list_length` items of a system turn count. With `ends_on: list`, only a list
    recommends (CoRE); otherwise a text that names a target ends the conversation as well, and is
    still no hit. With `block_values`, the user may not say what only a target has.

    With `offline`, the system answers the history once, and nobody answers it; up to 100 items of
    the list count.
    """

    offline: bool = False
    min_rounds: int = Field(default=3, ge=1)
    max_rounds: int = Field(default=5, ge=1, le=100)
    list_length: int = Field(default=LIST_LENGTH, ge=1)
    ends_on: Literal["list", "list or text"] = "list or text"
    shows_list: bool = True
    block_values: bool = True

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, values: Any) -> Any:
        """The word `offline` alone will do. Raises ValueError for keys without an effect."""
        if isinstance(values, str) and values != "offline":
            raise ValueError(f"expected `offline`, or keys such as max_rounds, got {values!r}")
        values = {"offline": True} if values == "offline" else values
        if not isinstance(values, Mapping) or not values.get("offline"):
            return values
        for key in cls.model_fields.keys() & values.keys() - {"offline", "list_length"}:
            if values[key] != cls.model_fields[key].default:
                raise ValueError(f"an offline session is one answer: leave `{key}` out")
        return {"list_length": _OFFLINE_LENGTH} | dict(values)

    @model_validator(mode="after")
    def _has_rounds(self) -> Self:
        if self.min_rounds > self.max_rounds:
            raise ValueError(
                f"min_rounds must be at most max_rounds, got {self.min_rounds} and "
                f"{self.max_rounds}"
            )
        return self


class System(Protocol):
    """What the session needs of a system under test."""

    @property
    def name(self) -> str:
        """How tables call it."""

    async def start(self, conversation: Conversation) -> None:
        """Open a conversation. Raises SystemFailed."""

    async def turn(self, conversation: Conversation, ask: Ask) -> Turn:
        """Its next turn; one that failed has the reason."""

    async def end(self, conversation: Conversation) -> None:
        """Close a conversation."""


class TimedLog(NamedTuple):
    """A log, and how many seconds each system turn took."""

    log: ConversationLog
    seconds: tuple[float, ...]


async def converse(
    user: SimulatedUser,
    system: System,
    scenario: Scenario,
    ask: Ask,
    *,
    session: Session,
    play: str,
    clock: Callable[[], float] = perf_counter,
) -> TimedLog:
    """One conversation: rounds of a system turn and a user turn, until a hit or the round limit.

    `play` is the conversation's id for the system. If the system fails, the log has the failed turn
    and its reason. Raises UnitFailed if the user cannot speak.
    """
    talk = _Talk(user, system, scenario, ask, session, play, clock)
    ids = {"conversation": ask.unit.conversation, "play": play, "scenario": scenario.id}
    ids |= {"system": system.name, "user": user.name}
    logger.info("conversation begins", **ids)
    ending = "broken off"
    try:
        ending = await talk.ending()
    finally:
        said = talk.interaction
        reason = said[-1].failure if said else ""
        logger.info("conversation ends", **ids, ending=ending, turns=len(said), reason=reason)
    log = ConversationLog(
        scenario=scenario,
        interaction=tuple(talk.interaction),
        ending=ending,
        linked=any(turn.linked for turn in talk.interaction),
    )
    return TimedLog(log, tuple(talk.seconds))


@dataclass
class _Talk:
    """A conversation that is going on.

    `hit` is the first target in a list, `found` the first one that was recommended in any way, and
    `named` has the ids of all targets that the user has heard of.
    """

    user: SimulatedUser
    system: System
    scenario: Scenario
    ask: Ask
    session: Session
    play: str
    clock: Callable[[], float]
    interaction: list[Turn] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    hit: ItemRef | None = None
    found: ItemRef | None = None
    named: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.guard = self.user.guard(self.scenario)
        self.targets = {target.id: target for target in self.scenario.targets}
        self.titles = {target.id: Title(target.name) for target in self.scenario.targets}

    async def ending(self) -> Ending:
        """Let both speak in turn, and return why the conversation is over."""
        try:
            await self.system.start(self._heard())
        except SystemFailed as failure:
            self.interaction.append(Turn(speaker="system", failure=str(failure)))
            self.seconds.append(0.0)
            return "system failed"
        try:
            return await (self._answer() if self.session.offline else self._rounds())
        finally:
            await self.system.end(self._heard())

    async def _answer(self) -> Ending:
        return "offline" if await self._system_speaks() else "system failed"

    async def _rounds(self) -> Ending:
        history = self.scenario.history
        if not history or history[-1].speaker == "system":
            await self._user_speaks()
        for number in range(1, self.session.max_rounds + 1):
            if not await self._system_speaks():
                return "system failed"
            enough = self.found is not None and number >= self.session.min_rounds
            last = enough or number == self.session.max_rounds
            await self._user_speaks(last=last)
            if last:
                break
        return "hit" if self.hit else "named" if self.found else "round limit"

    async def _system_speaks(self) -> bool:
        """Whether the system gave a usable answer."""
        started_at = self.clock()
        turn = await self.system.turn(self._heard(), self.ask)
        self.seconds.append(self.clock() - started_at)
        turn = turn.model_copy(update={"items": turn.items[: self.session.list_length]})
        self.interaction.append(turn)
        if not turn.failure:
            self._note(turn)
        return not turn.failure

    def _note(self, turn: Turn) -> None:
        """Keep which targets a system turn recommends, and which ones the user has heard of."""
        listed = [item.id for item in turn.items if item.id in self.targets]
        named = [id_ for id_, title in self.titles.items() if title.in_text(turn.text) is not None]
        self.named.update(named, listed if self.session.shows_list else ())
        new = [] if self.session.ends_on == "list" else [i for i in named if not self._is_old(i)]
        self.hit = self.hit or self._first(listed)
        self.found = self.found or self._first([*listed, *new])

    def _first(self, ids: list[str]) -> ItemRef | None:
        return self.targets[ids[0]] if ids else None

    def _is_old(self, target: str) -> bool:
        """Whether the history names a target: a text that names it again may look back."""
        title = self.titles[target]
        return any(title.in_text(turn.text) is not None for turn in self.scenario.history)

    async def _user_speaks(self, *, last: bool = False) -> None:
        situation = self._situation(last)
        said = await self.user.speak(situation, self.ask)
        if is_blank(said.text):
            raise UnitFailed(f"the simulated user {self.user.name} said nothing")
        self.interaction.append(await self._without_leaks(situation, said))

    def _situation(self, last: bool) -> Situation:
        heard = self.interaction[-1].items if self.interaction else ()
        said = "\n".join(turn.text for turn in (*self.scenario.history, *self.interaction))
        values = self.guard.withheld(may_name=self.named, said=said)
        return Situation(
            scenario=self.scenario,
            interaction=tuple(self.interaction),
            found=self.found,
            last=last,
            shown=heard if self.session.shows_list else None,
            may_name=tuple(each for id_, each in self.targets.items() if id_ in self.named),
            withheld=values if self.session.block_values else (),
        )

    async def _without_leaks(self, situation: Situation, said: Turn) -> Turn:
        """The turn, asked for again if it leaks; what leaks then as well is cut."""
        may_name, withheld = self.named, situation.withheld
        leaks = self.guard.leaks(said.text, may_name=may_name, withheld=withheld)
        if not leaks:
            return said
        again = await self.user.rewrite(situation, said.text, leaks, self.ask)
        text, mended = again.text.strip() or said.text, "rewritten"
        if self.guard.leaks(text, may_name=may_name, withheld=withheld):
            text, mended = self.guard.cut(text, may_name=may_name, withheld=withheld), "cut"
        leak = Event(kind=LEAK, value={"text": said.text, "leaks": leaks, "mended": mended})
        return Turn(
            speaker="user", text=text, events=(*said.events, leak), calls=said.calls + again.calls
        )

    def _heard(self) -> Conversation:
        """What the system is given: what the guard has taken away is not in it."""
        said = [
            turn.model_copy(update={"events": ()}) if turn.speaker == "user" else turn
            for turn in self.interaction
        ]
        turns = (*self.scenario.history, *said)
        return Conversation(id=self.play, turns=turns, domain=self.scenario.domain)
