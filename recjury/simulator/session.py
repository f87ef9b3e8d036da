"""The conversation between the simulated user and a system under test (CoRE, section 6.4)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from recjury.errors import CallFailed, ParseError, UnitFailed
from recjury.knowledge import Catalogue
from recjury.records import (
    JSON,
    LIST_LENGTH,
    PLAIN,
    Attribute,
    ConversationLog,
    DeclaredAct,
    Ending,
    Person,
    Recommender,
    Scenario,
    Speaker,
    Turn,
    UserContext,
    UserSimulator,
    Utterance,
    contradiction_in,
)
from recjury.simulator.leak_guard import LeakChecker, LeakGuard, SpeechContext
from recjury.simulator.reply import ConversationFailed, answer
from recjury.simulator.told_items import ToldItems


@dataclass(frozen=True)
class SessionSettings:
    """How long a conversation lasts, and what counts as a hit.

    The conversation ends after the round in which a target has been hit and `min_rounds` are done,
    or after `max_rounds`. A hit is any target, by id, among the first `list_length` items of a
    turn. With `shows_list`, the user sees these items; otherwise it knows only the text. The user
    is content with an item that it was `told` of, or only with one of a `list`. Raises ValueError
    unless 1 <= min_rounds <= max_rounds.
    """

    min_rounds: int = 3
    max_rounds: int = 5
    list_length: int = LIST_LENGTH
    shows_list: bool = True
    ends_on: Literal["told", "list"] = "told"

    def __post_init__(self) -> None:
        """Refuse limits with which no conversation is possible."""
        if not 1 <= self.min_rounds <= self.max_rounds:
            raise ValueError(
                f"expected 1 <= min_rounds <= max_rounds, got {self.min_rounds}, {self.max_rounds}"
            )

    def identity(self, guard: LeakGuard) -> Mapping[str, JSON]:
        """The settings that can change a log: part of the identity of each conversation."""
        own = asdict(self)
        if self.ends_on == "told":  # conversations are older than this key
            del own["ends_on"]
        return {**guard.settings, **own}


async def converse(
    user: UserSimulator,
    recommender: Recommender,
    scenario: Scenario,
    guard: LeakGuard,
    catalogue: Catalogue,
    settings: SessionSettings | None = None,
    *,
    person: Person = PLAIN,
    earlier: ConversationLog | None = None,
) -> ConversationLog:
    """Hold one conversation and return its log.

    A round is a system turn and the user's answer. If the history ends with a turn of the user, the
    system begins; otherwise the user begins. Without `settings` the defaults are used. `person`
    says who the user is in this conversation. `earlier` is the log of the same conversation if it
    failed before: it goes on at the turn that failed.

    If a system raises or gives an answer that cannot be used, the conversation ends: the log has
    the failed turn and its reason. Raises ConversationFailed if the user cannot speak or the budget
    is spent, and UserError if an endpoint refuses the user's or the system's calls.
    """
    settings = settings or SessionSettings()
    watch = guard.watch(scenario.targets, scenario.history)
    told = ToldItems(
        scenario,
        person,
        catalogue,
        settings.list_length,
        settings.shows_list,
        listed_only=settings.ends_on == "list",
    )
    session = _Session(user, recommender, scenario, watch, settings, person, told)
    if earlier is not None:
        session.resume(earlier)
    try:
        ending = await session.run()
    except UnitFailed as failure:
        log = session.log(session.why_broken(failure)) if session.interaction else None
        raise ConversationFailed(f"simulated user: {failure}", log) from failure
    return session.log(ending)


@dataclass
class _Session:
    """The state of a conversation that is running."""

    user: UserSimulator
    recommender: Recommender
    scenario: Scenario
    watch: LeakChecker
    settings: SessionSettings
    person: Person
    told: ToldItems
    interaction: list[Turn] = field(default_factory=list)
    caught: int = 0
    through: int = 0
    values_caught: int = 0
    values_through: int = 0
    pairs_told: int = 0
    names_filled: bool = False
    acts_dropped: int = 0
    acts_differing: int = 0
    said: set[Attribute] = field(default_factory=set)

    async def run(self) -> Ending:
        """Let both speak in turn, and return why the conversation ended."""
        opening = int(user_opens(self.scenario))
        if self._turns_of(Speaker.USER) < opening:
            await self.user_speaks(last=False)
        for number in range(1, self.settings.max_rounds + 1):
            is_new = self._turns_of(Speaker.SYSTEM) < number
            if is_new and not await self.system_answers():
                return Ending.SYSTEM_FAILED
            content = self.told.content_since
            has_found = content is not None and content <= number
            gives_up = self.person.gives_up(number) and not has_found
            over = number == self.settings.max_rounds or (
                has_found and number >= self.settings.min_rounds
            )
            if self._turns_of(Speaker.USER) < opening + number:
                await self.user_speaks(last=over or gives_up)
            if gives_up:
                return Ending.GAVE_UP
            if over:
                break
        return self._why_over()

    def _why_over(self) -> Ending:
        if self.told.content_with is None:
            return Ending.ROUND_LIMIT
        decided = self.told.hit_round is not None and self.person.knows == "targets"
        return Ending.HIT if decided else Ending.CONTENT

    def why_broken(self, failure: UnitFailed) -> Ending:
        """The ending if the user cannot speak; what a system says can make its model refuse, or
        answer what is not readable."""
        refused = isinstance(failure, CallFailed) and failure.permanent
        heard = self._turns_of(Speaker.SYSTEM) > 0
        is_about_text = refused or isinstance(failure, ParseError)
        return Ending.UNANSWERED if heard and is_about_text else Ending.BROKEN_OFF

    def resume(self, earlier: ConversationLog) -> None:
        """Take the turns of a conversation that failed, up to the turn that failed."""
        for turn in earlier.interaction:
            if turn.failure is None:
                self._add(turn)
        self.caught, self.through = earlier.leaks_caught, earlier.leaks_through
        self.values_caught, self.values_through = earlier.values_caught, earlier.values_through
        self.names_filled = earlier.names_filled
        self.acts_dropped, self.acts_differing = earlier.acts_dropped, earlier.acts_differing

    def _add(self, turn: Turn) -> None:
        self.interaction.append(turn)
        if turn.speaker is Speaker.SYSTEM:
            self.told.hear(turn)
            return
        values = self.watch.target_values
        before = values.pairs(self.said)
        self.said.update(each.attribute for each in values.spoken(turn.text))
        self.pairs_told += values.pairs(self.said) > before

    def _turns_of(self, speaker: Speaker) -> int:
        return sum(turn.speaker is speaker for turn in self.interaction)

    async def system_answers(self) -> bool:
        """Add the system's turn; return False if it failed."""
        turn, names_filled = await answer(
            self.recommender, self.scenario, self.told.catalogue, self.interaction
        )
        if turn.failure is not None:
            self.interaction.append(turn)
            return False
        self.names_filled |= names_filled
        self._add(turn)
        return True

    async def user_speaks(self, *, last: bool) -> None:
        """Add the user's turn; words that give a target away are rewritten or cut."""
        found = self.told.content_with
        context = UserContext(
            scenario=self.scenario,
            interaction=tuple(self.interaction),
            hit=found,
            introduce=found is not None and not last,
            system_named_hit=found is not None,
            person=self.person,
            shows_list=self.settings.shows_list,
            last=last,
            speakable=self.told.targets,
            barred=self.watch.barred(self.told.targets),
        )
        said = await self.user.speak(context)
        if not said.text.strip():
            raise ParseError(f"the simulated user {self.user.name} said nothing")
        self._check_declared(said.acts)
        leaked, telling = leaks, values = self._found(said.text)
        if self._blocked(said.text):
            said = await self._without_leaks(context, said)
            leaks, values = self._found(said.text)
        self.caught += leaked  # once the turn is complete: one that fails is held again
        self.values_caught += telling and not values
        self.through += leaks
        self.values_through += values
        self.acts_dropped += said.acts_dropped
        self.acts_differing += said.acts_differing
        self._add(Turn(speaker=Speaker.USER, text=said.text, calls=said.calls, acts=said.acts))

    async def _without_leaks(self, context: UserContext, said: Utterance) -> Utterance:
        leaks = self._blocked(said.text)
        try:
            again = await self.user.rewrite(context, said.text, leaks)
        except ParseError:
            again = Utterance(text="", calls=())
        calls = said.calls + again.calls
        text = again.text if again.text.strip() else said.text
        if self._blocked(text):
            text = self.watch.cut(text, **self._speech_context)
        # What was declared of other words may not be true of these.
        declared = again if text == again.text else Utterance(text=text)
        return declared.model_copy(update={"calls": calls})

    def _check_declared(self, acts: tuple[DeclaredAct, ...]) -> None:
        """Raise ParseError for acts that contradict each other, or about an unknown item."""
        wrong = contradiction_in(acts)
        ids = (act.item for act in acts if act.item is not None)
        unknown = next((id_ for id_ in ids if id_ not in self.told.catalogue), None)
        if unknown is not None:
            wrong = f"{unknown!r} is no item of the catalogue"
        if wrong:
            raise ParseError(f"the simulated user {self.user.name} declared acts: {wrong}")

    def _blocked(self, text: str) -> tuple[str, ...]:
        return self.watch.blocked(text, **self._speech_context)

    def _found(self, text: str) -> tuple[bool, bool]:
        """Whether a text names a target, and whether it has a value that only targets have."""
        leaks = self.watch.leaks(text, **self._speech_context)
        return bool(leaks), bool(self.watch.telling_values(text, spoken=self.told.targets))

    @property
    def _speech_context(self) -> SpeechContext:
        """What the user may name, what it answers, and what it has said before."""
        turns = self.interaction or self.scenario.history
        return {
            "spoken": self.told.targets,
            "answering": turns[-1].text if turns else "",
            "earlier": tuple(t.text for t in self.interaction if t.speaker is Speaker.USER),
        }

    def log(self, ending: Ending) -> ConversationLog:
        """The conversation so far."""
        return ConversationLog(
            system=self.recommender.name,
            scenario=self.scenario,
            interaction=tuple(self.interaction),
            ending=ending,
            hit_round=self.told.hit_round,
            leaks_caught=self.caught,
            leaks_through=self.through,
            list_length=self.settings.list_length,
            values_caught=self.values_caught,
            values_through=self.values_through,
            pairs_told=self.pairs_told,
            speechless=self.watch.is_speechless,
            person=None if self.person == PLAIN else self.person,
            names_filled=self.names_filled,
            acts_dropped=self.acts_dropped,
            acts_differing=self.acts_differing,
        )


def user_opens(scenario: Scenario) -> bool:
    """Whether the user speaks first: there is no history, or it ends with a turn of the system."""
    return not scenario.history or scenario.history[-1].speaker is Speaker.SYSTEM
