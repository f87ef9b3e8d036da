"""The conversation between the simulated user and a system under test (CoRE, section 6.4)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recjury.errors import BudgetSpent, ParseError, UnitFailed, UserError
from recjury.knowledge import Catalogue
from recjury.records import (
    JSON,
    LIST_LENGTH,
    Conversation,
    ConversationLog,
    Ending,
    ItemRef,
    Recommender,
    Scenario,
    Speaker,
    Turn,
    UserContext,
    UserSimulator,
    Utterance,
    usable_reply,
)
from recjury.simulator.leak_guard import LeakGuard, Watch

MIN_ROUNDS = 3
MAX_ROUNDS = 5


async def converse(
    user: UserSimulator,
    recommender: Recommender,
    scenario: Scenario,
    guard: LeakGuard,
    catalogue: Catalogue,
    *,
    min_rounds: int = MIN_ROUNDS,
    max_rounds: int = MAX_ROUNDS,
    list_length: int = LIST_LENGTH,
    broken_off: Callable[[ConversationLog], None] | None = None,
) -> ConversationLog:
    """Hold one conversation and return its log.

    A round is a system turn and the user's answer. The system opens where the history ends on
    the user, else the user does. A hit is any target, by id, among the first `list_length`
    items of a turn. The conversation ends after the round in which a target has been hit and
    `min_rounds` are done, or after `max_rounds`.

    A system that raises, or answers with nothing usable, ends the conversation: the log keeps
    the failed turn and its reason. Raises UnitFailed when the user cannot speak, BudgetSpent
    and UserError errors (an endpoint that refuses) whoever's call it was; ValueError for rounds
    that make no conversation. Before UnitFailed is raised, `broken_off` is given what was said
    until then, if anything.
    """
    if not 1 <= min_rounds <= max_rounds:
        raise ValueError(f"expected 1 <= min_rounds <= max_rounds, got {min_rounds}, {max_rounds}")
    session = _Session(user, recommender, scenario, guard.watch(scenario.targets), catalogue)
    try:
        ending = await session.hold(min_rounds, max_rounds, list_length)
    except UnitFailed:
        if broken_off is not None and session.interaction:
            broken_off(session.log(Ending.BROKEN_OFF, list_length))
        raise
    return session.log(ending, list_length)


@dataclass
class _Session:
    """What changes while a conversation goes on."""

    user: UserSimulator
    recommender: Recommender
    scenario: Scenario
    watch: Watch
    catalogue: Catalogue
    interaction: list[Turn] = field(default_factory=list)
    hit: ItemRef | None = None
    hit_round: int | None = None
    named: bool = False
    caught: int = 0
    through: int = 0

    async def hold(self, min_rounds: int, max_rounds: int, list_length: int) -> Ending:
        """Hold the conversation; why it ended."""
        if user_opens(self.scenario):
            await self.user_speaks(introduce=False)
        for number in range(1, max_rounds + 1):
            if not await self.system_answers(number, list_length):
                return Ending.SYSTEM_FAILED
            over = number == max_rounds or (self.hit is not None and number >= min_rounds)
            await self.user_speaks(introduce=self.hit is not None and not over)
            if over:
                break
        return Ending.ROUND_LIMIT if self.hit is None else Ending.HIT

    async def system_answers(self, number: int, list_length: int) -> bool:
        """Add the system's turn; False when it failed."""
        turns = (*self.scenario.history, *self.interaction)
        try:
            reply = usable_reply(await self.recommender.respond(Conversation(turns=turns)))
        except (BudgetSpent, UserError):
            raise
        except Exception as failure:  # whatever a system under test does, its log is kept
            reason = _reason(failure)
            self.interaction.append(Turn(speaker=Speaker.SYSTEM, text="", failure=reason))
            return False
        turn = Turn(
            speaker=Speaker.SYSTEM, text=reply.text, items=tuple(reply.items), calls=reply.calls
        )
        self.interaction.append(turn)
        if self.hit is None:
            shown = turn.items[:list_length]
            # The target as the scenario names it: the name in the list is the system's own words.
            self.hit = next(
                (t for i in shown for t in self.scenario.targets if i.same_item(t)), None
            )
            self.hit_round = None if self.hit is None else number
        self.named = self.named or self._names_hit()
        return True

    async def user_speaks(self, *, introduce: bool) -> None:
        """Add the user's turn, with what would give a target away rewritten or cut."""
        moment = UserContext(
            scenario=self.scenario,
            interaction=tuple(self.interaction),
            hit=self.hit,
            introduce=introduce,
            system_named_hit=self.named,
        )
        said = await self.user.speak(moment)
        if not said.text.strip():
            raise ParseError(f"the simulated user {self.user.name} said nothing")
        if self._leaks(said.text):
            self.caught += 1
            said = await self._without_leaks(moment, said)
        self.through += bool(self._leaks(said.text))
        self.interaction.append(Turn(speaker=Speaker.USER, text=said.text, calls=said.calls))

    async def _without_leaks(self, moment: UserContext, said: Utterance) -> Utterance:
        leaks = self._leaks(said.text)
        try:
            again = await self.user.rewrite(moment, said.text, leaks)
        except ParseError:
            again = Utterance(text="", calls=())
        calls = said.calls + again.calls
        text = again.text if again.text.strip() else said.text
        if self._leaks(text):
            text = self.watch.cut(text, spoken=self._spoken, answering=self._answering)
        return Utterance(text=text, calls=calls)

    def _leaks(self, text: str) -> tuple[str, ...]:
        return self.watch.leaks(text, spoken=self._spoken, answering=self._answering)

    @property
    def _spoken(self) -> ItemRef | None:
        """The one target that the user may name: a hit that the system has named itself."""
        return self.hit if self.named else None

    @property
    def _answering(self) -> str:
        turns = self.interaction or self.scenario.history
        return turns[-1].text if turns else ""

    def _names_hit(self) -> bool:
        """Whether any system turn so far has named the hit in its text."""
        return self.hit is not None and any(
            mention.id == self.hit.id
            for turn in self.interaction
            if turn.speaker is Speaker.SYSTEM
            for mention in self.catalogue.link(turn.text)
        )

    def log(self, ending: Ending, list_length: int) -> ConversationLog:
        """What the conversation leaves behind."""
        return ConversationLog(
            system=self.recommender.name,
            scenario=self.scenario,
            interaction=tuple(self.interaction),
            ending=ending,
            hit_round=self.hit_round,
            leaks_caught=self.caught,
            leaks_through=self.through,
            list_length=list_length,
        )


def user_opens(scenario: Scenario) -> bool:
    """Whether the user speaks first: where there is no history, or it ends on the system."""
    return not scenario.history or scenario.history[-1].speaker is Speaker.SYSTEM


def session_settings(
    guard: LeakGuard,
    *,
    min_rounds: int = MIN_ROUNDS,
    max_rounds: int = MAX_ROUNDS,
    list_length: int = LIST_LENGTH,
) -> Mapping[str, JSON]:
    """What of the session itself can change a log: part of each conversation's identity."""
    rounds = {"min_rounds": min_rounds, "max_rounds": max_rounds, "list_length": list_length}
    return {**guard.settings, **rounds}


def _reason(failure: Exception) -> str:
    kind, message = type(failure).__name__, " ".join(str(failure).split())
    return f"{kind}: {message}"[:500] if message else kind
