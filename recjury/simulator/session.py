"""The conversation between the simulated user and a system under test (CoRE, section 6.4)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

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


@dataclass(frozen=True)
class SessionSettings:
    """How long a conversation lasts, and what counts as a hit.

    The conversation ends after the round in which a target has been hit and `min_rounds` are done,
    or after `max_rounds`. A hit is any target, by id, among the first `list_length` items of a
    turn. Raises ValueError unless 1 <= min_rounds <= max_rounds.
    """

    min_rounds: int = 3
    max_rounds: int = 5
    list_length: int = LIST_LENGTH

    def __post_init__(self) -> None:
        """Refuse limits with which no conversation is possible."""
        if not 1 <= self.min_rounds <= self.max_rounds:
            raise ValueError(
                f"expected 1 <= min_rounds <= max_rounds, got {self.min_rounds}, {self.max_rounds}"
            )

    def identity(self, guard: LeakGuard) -> Mapping[str, JSON]:
        """The settings that can change a log: part of the identity of each conversation."""
        return {**guard.settings, **asdict(self)}


class ConversationFailed(UnitFailed):
    """A conversation did not reach its end; `log` has the turns so far, None if there are none."""

    def __init__(self, reason: str, log: ConversationLog | None = None):
        """`reason` says what failed and why."""
        super().__init__(reason)
        self.log = log


async def converse(
    user: UserSimulator,
    recommender: Recommender,
    scenario: Scenario,
    guard: LeakGuard,
    catalogue: Catalogue,
    settings: SessionSettings | None = None,
    *,
    earlier: ConversationLog | None = None,
) -> ConversationLog:
    """Hold one conversation and return its log.

    A round is a system turn and the user's answer. If the history ends with a turn of the user, the
    system begins; otherwise the user begins. Without `settings` the defaults are used. `earlier`
    is the log of the same conversation if it failed before: it goes on at the turn that failed.

    If a system raises or gives an answer that cannot be used, the conversation ends: the log has
    the failed turn and its reason. Raises ConversationFailed if the user cannot speak or the budget
    is spent, and UserError if an endpoint refuses the user's or the system's calls.
    """
    settings = settings or SessionSettings()
    session = _Session(user, recommender, scenario, guard.watch(scenario.targets), catalogue)
    if earlier is not None:
        session.resume(earlier, settings.list_length)
    try:
        ending = await session.run(settings)
    except UnitFailed as failure:
        log = session.log(Ending.BROKEN_OFF, settings) if session.interaction else None
        raise ConversationFailed(f"simulated user: {failure}", log) from failure
    return session.log(ending, settings)


@dataclass
class _Session:
    """The state of a conversation that is running."""

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

    async def run(self, settings: SessionSettings) -> Ending:
        """Let both speak in turn, and return why the conversation ended."""
        opening = int(user_opens(self.scenario))
        if self._turns_of(Speaker.USER) < opening:
            await self.user_speaks(introduce=False)
        for number in range(1, settings.max_rounds + 1):
            is_new = self._turns_of(Speaker.SYSTEM) < number
            if is_new and not await self.system_answers(settings.list_length):
                return Ending.SYSTEM_FAILED
            has_hit = self.hit_round is not None and self.hit_round <= number
            over = number == settings.max_rounds or (has_hit and number >= settings.min_rounds)
            if self._turns_of(Speaker.USER) < opening + number:
                await self.user_speaks(introduce=self.hit is not None and not over)
            if over:
                break
        return Ending.ROUND_LIMIT if self.hit is None else Ending.HIT

    def resume(self, earlier: ConversationLog, list_length: int) -> None:
        """Take the turns of a conversation that failed, up to the turn that failed."""
        for turn in earlier.interaction:
            if turn.failure is None:
                self.interaction.append(turn)
                if turn.speaker is Speaker.SYSTEM:
                    self._look_for_hit(list_length)
        self.caught, self.through = earlier.leaks_caught, earlier.leaks_through

    def _turns_of(self, speaker: Speaker) -> int:
        return sum(turn.speaker is speaker for turn in self.interaction)

    async def system_answers(self, list_length: int) -> bool:
        """Add the system's turn; return False if it failed."""
        turns = (*self.scenario.history, *self.interaction)
        try:
            heard = Conversation(
                turns=turns, domain=self.catalogue.wanted_domain(self.scenario).name
            )
            reply = usable_reply(await self.recommender.respond(heard))
        except (BudgetSpent, UserError):
            raise
        except Exception as failure:  # a system under test may raise any exception: the log is kept
            reason = _reason(failure)
            self.interaction.append(Turn(speaker=Speaker.SYSTEM, text="", failure=reason))
            return False
        turn = Turn(
            speaker=Speaker.SYSTEM, text=reply.text, items=tuple(reply.items), calls=reply.calls
        )
        self.interaction.append(turn)
        self._look_for_hit(list_length)
        return True

    def _look_for_hit(self, list_length: int) -> None:
        """Note whether the last turn, the system's, has a target in its list or names the hit."""
        if self.hit is None:
            shown = self.interaction[-1].items[:list_length]
            # The target with the scenario's name: the system's list may use another name.
            self.hit = next(
                (t for i in shown for t in self.scenario.targets if i.same_item(t)), None
            )
            self.hit_round = None if self.hit is None else self._turns_of(Speaker.SYSTEM)
        self.named = self.named or self._names_hit()

    async def user_speaks(self, *, introduce: bool) -> None:
        """Add the user's turn; words that give a target away are rewritten or cut."""
        context = UserContext(
            scenario=self.scenario,
            interaction=tuple(self.interaction),
            hit=self.hit,
            introduce=introduce,
            system_named_hit=self.named,
        )
        said = await self.user.speak(context)
        if not said.text.strip():
            raise ParseError(f"the simulated user {self.user.name} said nothing")
        leaked = bool(self._leaks(said.text))
        if leaked:
            said = await self._without_leaks(context, said)
        self.caught += leaked  # once the turn is complete: one that fails is held again
        self.through += bool(self._leaks(said.text))
        self.interaction.append(Turn(speaker=Speaker.USER, text=said.text, calls=said.calls))

    async def _without_leaks(self, context: UserContext, said: Utterance) -> Utterance:
        leaks = self._leaks(said.text)
        try:
            again = await self.user.rewrite(context, said.text, leaks)
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
        """The one target that the user may name: a hit that the system has already named."""
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

    def log(self, ending: Ending, settings: SessionSettings) -> ConversationLog:
        """The conversation so far."""
        return ConversationLog(
            system=self.recommender.name,
            scenario=self.scenario,
            interaction=tuple(self.interaction),
            ending=ending,
            hit_round=self.hit_round,
            leaks_caught=self.caught,
            leaks_through=self.through,
            list_length=settings.list_length,
        )


def user_opens(scenario: Scenario) -> bool:
    """Whether the user speaks first: there is no history, or it ends with a turn of the system."""
    return not scenario.history or scenario.history[-1].speaker is Speaker.SYSTEM


def _reason(failure: Exception) -> str:
    # The name of a private class says nothing to a reader: its first public ancestor's does.
    names = (each.__name__ for each in type(failure).__mro__)
    kind = next(name for name in names if not name.startswith("_"))
    message = " ".join(str(failure).split())
    return f"{kind}: {message}"[:500] if message else kind
