"""What every habit comes to: each once with the readers, and mixed in a small campaign."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from benchmarks.habits import MixedRun, mixed
from recjury.agents import SystemContext
from recjury.agents.chatcrs import ChatCRS
from recjury.corpora import open_corpus
from recjury.debate import RatedLog
from recjury.debate.llm_debaters import LlmDebaters
from recjury.errors import ProviderError, UnitFailed
from recjury.judges.core.panel import Panel
from recjury.llm import EndpointSpec, Gateway, Question, ask_each
from recjury.records import (
    ChatRequest,
    Conversation,
    ConversationLog,
    Ending,
    Factor,
    Message,
    Rating,
    Role,
    Scenario,
    Speaker,
    Turn,
    UserContext,
)
from recjury.simulator import LlmUser
from tests.endpoint import ScriptedEndpoint
from tests.habits.errors import SPOILED
from tests.habits.habit import HABITS, Habit
from tests.habits.meaning import Meaning, meaning
from tests.habits.server import Alone, mixable
from tests.llm.doubles import FakeClock, MemoryRecorder

CORPUS = open_corpus("sample")
CATALOGUE = CORPUS.catalogue
TARGET = next(iter(CATALOGUE)).ref
OPENING = Turn(speaker=Speaker.USER, text="Good evening, any film for a quiet night?")
SCENARIO = Scenario(corpus="sample", record="1", history=(OPENING,), targets=(TARGET,))
LOG = ConversationLog(
    system="chatcrs",
    scenario=SCENARIO,
    interaction=(
        Turn(speaker=Speaker.SYSTEM, text="Try Heat (1995).", items=(TARGET,)),
        Turn(speaker=Speaker.USER, text="I will."),
    ),
    ending=Ending.HIT,
)
READ = {"read": True, "unscored": False, "failed": False, "stopped": False}

Ask = Callable[[Gateway], Awaitable[object]]


async def _rate(gateway: Gateway) -> object:
    questions = Panel(gateway, ["main"]).questions(LOG)
    asked = [each for each in questions if isinstance(each, Question)]
    (rating,) = await ask_each(gateway, [q for q in asked if q.subject.factor == SPOILED])
    assert rating.score is not None or rating.reason
    return rating.score


async def _persuade(gateway: Gateway) -> object:
    rating = await LlmUser(gateway, "main", CATALOGUE).persuasiveness(LOG)
    assert rating.score is not None or rating.reason
    return rating.score


async def _debate(gateway: Gateway) -> object:
    ratings = [Rating(evaluator="main", factor=factor, score=2) for factor in Factor]
    debaters = LlmDebaters(gateway, dict.fromkeys(Role, "main"))
    said = await debaters.speak(Role.COMMON_USER, 1, RatedLog(LOG, ratings), ())
    assert said.score is not None or said.reason
    return said.score


async def _speak(gateway: Gateway) -> object:
    context = UserContext(scenario=SCENARIO, interaction=LOG.interaction[:1])
    return (await LlmUser(gateway, "main", CATALOGUE).speak(context)).text


async def _recommend(gateway: Gateway) -> object:
    system = ChatCRS(list_source="from_text").prepared(SystemContext(CORPUS, gateway))
    reply = await system.respond(Conversation(turns=(OPENING,)))
    return reply.text, [item.name for item in reply.items]


ASKING: dict[str, Ask] = {
    "judge": _rate,
    "persuasiveness": _persuade,
    "debate": _debate,
    "user": _speak,
    "system": _recommend,
}
"""How the reply of each kind is asked for and read; None or an exception is no reply."""


def _of(meant: Meaning) -> object:
    """What `ASKING` gives where the reply is read as it was meant."""
    if meant.score is not None:
        return meant.score
    return (meant.words, ["Heat (1995)"]) if meant.kind == "system" else meant.words


def _asked(habit: Habit, kind: str) -> tuple[object, Alone, Meaning | None]:
    """What comes of asking a server with that habit; None where it could not be read."""
    script = Alone(habit)
    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        spec = EndpointSpec(
            base_url=endpoint.url, name="scripted", timeout=0.5, json_mode="schema", patience=60
        )

        async def run() -> object:
            async with Gateway({"main": spec}, MemoryRecorder(), clock=FakeClock()) as gateway:
                await gateway.check()
                return await ASKING[kind](gateway)

        try:
            found = asyncio.run(run())
        except UnitFailed:
            found = None
        asked = [meaning(body) for body in endpoint.bodies]
    return found, script, next((each for each in asked if each.kind == kind), None)


def _kinds(habit: Habit) -> list[str]:
    """Who is asked: all whom the habit concerns, or one where it is the same for all."""
    if habit.group in ("transport", "errors", "endpoints"):
        return ["judge" if "judge" in habit.on else "system"]
    asked = set(ASKING) & habit.on
    return sorted(asked - {"persuasiveness"} if "judge" in asked else asked)


CASES = [(habit.name, kind) for habit in HABITS.values() for kind in _kinds(habit)]


def test_there_are_at_least_fifty_habits_of_all_groups() -> None:
    groups = {habit.group for habit in HABITS.values()}
    assert len(groups) == 6
    assert len(mixable()) >= 50
    assert sum(habit.group == "reasoning" for habit in mixable()) >= 5
    assert all(habit.about for habit in HABITS.values())


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_habit_is_read_as_meant_or_not_at_all(name: str, kind: str) -> None:
    habit = HABITS[name]
    if habit.expected == "stopped":
        with pytest.raises(ProviderError) as stopped:
            _asked(habit, kind)
        assert len(str(stopped.value).splitlines()) == 1
        return
    found, script, meant = _asked(habit, kind)
    assert script.spoiled or habit.name in NOT_ASKED or habit.when == "a while"
    assert meant is not None
    assert found == (_of(meant) if READ[habit.expected] else None)


NOT_ASKED = {
    "refuses many tokens",
    "refuses n",
    "refuses two of a role",
    "one choice whatever n",
}
"""What no single rating asks for."""


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("refuses n", {"n": 3}),
        ("one choice whatever n", {"n": 3}),
        ("refuses two of a role", {"roles": ("assistant", "user", "user")}),
    ],
)
def test_what_an_endpoint_refuses_is_left_out(name: str, fields: dict[str, object]) -> None:
    script = Alone(HABITS[name])
    given = dict(fields)
    roles = given.pop("roles", ("user",))
    assert isinstance(roles, tuple)
    messages = tuple(Message(role, ("Which film do you like?",)) for role in roles)
    request = ChatRequest("main", messages, "test", temperature=1.0, **given)  # type: ignore[arg-type]
    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        spec = EndpointSpec(base_url=endpoint.url, name="scripted")

        async def run() -> str:
            async with Gateway({"main": spec}, MemoryRecorder(), clock=FakeClock()) as gateway:
                return (await gateway.complete(request)).text

        assert "wish number" in asyncio.run(run())
    assert script.spoiled


@pytest.fixture(scope="module")
def mixed_run() -> MixedRun:
    return mixed(4, scenarios=4)


@pytest.mark.slow
def test_a_quarter_of_all_replies_with_a_habit_costs_no_score(mixed_run: MixedRun) -> None:
    assert mixed_run.spoiled > 30
    assert mixed_run.wrong == []
    assert mixed_run.verdicts >= mixed_run.trials - 1
    assert mixed_run.unexplained == []


@pytest.mark.slow
def test_the_next_run_asks_only_for_what_is_missing(mixed_run: MixedRun) -> None:
    failed = [name for name, is_so in mixed_run.checks.items() if not is_so]
    assert failed in ([], ["at least 26 of 28 verdicts"])
