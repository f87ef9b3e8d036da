"""Systems of one's own: every form is heard, and every failure is one line."""

import asyncio

import pytest

from recjury.agents import OUTSIDE, LoadedSystem
from recjury.errors import BatchPending, Stop, SystemFailed, UserError
from recjury.llm import Dialect, ScriptedModel
from recjury.records import Completion, Conversation, Request, Turn
from tests.agents import own
from tests.agents.talk import loaded, run, talk, talk_with
from tests.simulator.doubles import ask_of

FORMS = (
    "function async_function generator async_generator Class Called instance called bound partial"
)


def kind(name: str) -> str:
    return f"tests.agents.own:{name}"


def failure(name: str, timeout: float = 60.0) -> str:
    (turn,) = talk({"kind": kind(name), "timeout": timeout})
    assert not turn.text
    assert "\n" not in turn.failure
    return turn.failure


@pytest.mark.parametrize("name", FORMS.split())
def test_a_system_has_one_of_many_forms(name: str) -> None:
    settings = {"kind": kind(name)}
    (turn,) = talk(settings)
    assert turn.text == "Try Heat (1995)."
    assert [item.id for item in turn.items] == ["f205"]
    assert loaded(settings).name == name.lower()


@pytest.mark.parametrize(
    ("name", "words"),
    {
        "returns_none": "None",
        "returns_number": "int",
        "says_nothing": "nothing",
        "says_megabyte": "100,000 characters",
        "raises": "ValueError: out of films",
        "exits": "SystemExit: I am done",
        "interrupts": "KeyboardInterrupt",
        "stops_iteration": "StopIteration",
        "async_exits": "SystemExit: 3",
        "cancels_itself": "cancelled",
        "never_ends": "100,000 characters",
        "async_never_ends": "100,000 characters",
        "breaks_off": "ConnectionError: gone",
        "yields_numbers": "int",
        "shows_lock": "lock",
        "lists_numbers": "sku",
        "wrong_list": "items",
    }.items(),
)
def test_a_failure_is_one_line_of_the_turn(name: str, words: str) -> None:
    assert words in failure(name)


@pytest.mark.parametrize("name", ["hangs", "async_hangs"])
def test_a_system_that_hangs_is_left(name: str) -> None:
    assert "within 0.05 s" in failure(name, timeout=0.05)


def test_many_hanging_calls_do_not_keep_others_waiting() -> None:
    async def talks() -> list[list[Turn]]:
        slow = loaded({"kind": kind("hangs"), "timeout": 0.05})
        quick = loaded({"kind": kind("function")})
        systems = [*[slow] * 40, quick]
        return await asyncio.gather(*(talk_with(system, ["Hi."]) for system in systems))

    *slow, (quick,) = asyncio.run(talks())
    assert all(turn.failure for (turn,) in slow)
    assert not quick.failure


def test_what_a_stream_shows() -> None:
    (turn,) = talk({"kind": kind("Shows"), "length": 1})
    assert turn.text == "Some films, Up (2009) not among them. 😀"
    assert [item.id for item in turn.items] == ["f001", "f205", "?no such film"]
    assert [event.kind for event in turn.events] == ["tool call"]


@pytest.mark.parametrize(
    ("name", "link", "links"),
    [("function", None, True), ("function", False, False), ("Shows", None, False)],
)
def test_lists_are_searched_for_in_texts_alone(name: str, link: bool | None, links: bool) -> None:
    async def listed(system: LoadedSystem) -> tuple[bool, bool]:
        (turn,) = await talk_with(system, ["Hi."])
        return bool(turn.items), turn.linked

    items, says = run({"kind": kind(name)} | ({} if link is None else {"link": link}), listed)
    assert items is (link is not False)
    assert says is links


def test_a_conversation_is_opened_and_closed_and_the_system_too() -> None:
    own.ENDED.clear()
    (turn,) = talk({"kind": kind("Stateful")})
    assert turn.text == "Heat (1995) in 1 of True"
    assert (set(), ["closed"]) == (own.OPEN, own.ENDED)


def test_a_conversation_that_cannot_be_opened() -> None:
    with pytest.raises(SystemFailed, match="no session"):
        talk({"kind": kind("NotReady")})


def test_concurrency_counts_open_conversations() -> None:
    most, open_ = 0, 0

    async def conversation(system: LoadedSystem) -> None:
        nonlocal most, open_
        async with system.place():
            open_ += 1
            most = max(most, open_)
            await asyncio.sleep(0.01)
            open_ -= 1

    async def all_of_them(system: LoadedSystem) -> None:
        await asyncio.gather(*(conversation(system) for _ in range(6)))

    run({"kind": kind("function"), "concurrency": 2}, all_of_them)
    assert most == 2


def test_a_system_that_asks_has_its_calls_in_the_turn() -> None:
    (turn,) = talk({"kind": kind("asks")}, provider=ScriptedModel(["Heat"]))
    assert turn.text == "Heat"
    assert len(turn.calls) == 1


@pytest.mark.parametrize("error", [Stop("no credit"), BatchPending("later")])
def test_what_ends_the_run_is_no_failure_of_the_system(error: Exception) -> None:
    class Raises:
        async def ask(
            self, calls: list[str], request: Request, code: str, dialect: Dialect
        ) -> list[Completion]:
            raise error

        async def aclose(self) -> None: ...

    with pytest.raises(type(error)):
        talk({"kind": kind("asks")}, provider=Raises())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kind": "popullar"}, "popular"),
        ({"kind": kind("functoin")}, "function"),
        ({"kind": "no.such.module:x"}, "no.such"),
        ({"kind": kind("number")}, "int"),
        ({"kind": kind("Mute")}, "respond"),
        ({"kind": kind("Broken"), "size": 3}, "no model of size 3"),
        ({"kind": kind("Class"), "flim": own.HEAT}, "film"),
        ({"kind": kind("Class"), "timout": 3}, "timeout"),
        ({"kind": kind("function"), "film": own.HEAT}, "film"),
        ({"kind": "popular", "length": 0}, "length"),
        ({"kind": kind("function"), "timeout": "soon"}, "timeout"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(settings: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words) as raised:
        loaded(settings)
    assert "\n" not in str(raised.value)


def test_the_version_is_of_what_changes_answers() -> None:
    def version(**settings: object) -> str:
        return loaded({"kind": kind("Class")} | settings).version

    assert version() == version(name="other", concurrency=3, timeout=9)
    assert len({version(), version(film="Up"), version(version="2"), version(link=False)}) == 4
    system = loaded({"kind": kind("Class")})
    assert system.labelled("") is system
    assert system.labelled("today").version != system.version


def test_a_stand_in_has_the_version_of_what_it_stands_for() -> None:
    settings = {"kind": kind("Broken")}
    stand_in = loaded(settings, stand_ins=OUTSIDE)
    assert stand_in.version == loaded({"kind": kind("Broken")}, stand_ins=OUTSIDE).version
    conversation = Conversation(id="x", turns=(Turn(speaker="user", text="Hi."),))
    turn = asyncio.run(stand_in.turn(conversation, ask_of()))
    assert len(turn.items) == 2
    assert not turn.failure
    real = {"kind": kind("Class")}
    assert loaded(real).version == loaded(real, stand_ins=OUTSIDE).version


@pytest.mark.parametrize("name", ["popular", "random"])
def test_systems_without_a_model_recommend_what_is_new(name: str) -> None:
    first, second = talk({"kind": name, "length": 2}, "Hi.", "Others?")
    assert len({item.id for item in first.items + second.items}) == 4
    assert talk({"kind": name, "length": 2}, "Hi.", "Others?") == [first, second]
    (third,) = talk({"kind": name, "length": 100}, f"I liked {first.items[0].name}.")
    assert first.items[0] not in third.items
