"""Systems by kind, and anyone's own class."""

import asyncio
import contextlib
import math
import threading
import types
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from recjury.agents import SYSTEMS, System, SystemContext, load_recommender, read_entry
from recjury.agents.python_system import PythonSystem
from recjury.agents.retrieval import Retrieval
from recjury.corpora import Corpus, open_corpus
from recjury.errors import ConfigError, SystemFailed
from recjury.records import JSON, Conversation, ItemRef, SystemReply
from tests.agents.conversations import talk

CORPUS = open_corpus("sample")
AROUND = SystemContext(CORPUS, list_length=3)


class Own:
    """Says what it was told to."""

    def __init__(self, corpus: Corpus, *, name: str, say: str = "Try Heat.", items: int = 1):
        self.name = name
        self.settings: Mapping[str, JSON] = {"say": say}
        self._say = say
        self._items = (corpus.catalogue.ref("Ran (1985)"),)[:items]

    async def respond(self, conversation: Conversation) -> SystemReply:
        if self._say in RAISED:
            raise RAISED[self._say]
        if self._say == "hang":
            await asyncio.Event().wait()
        if self._say == "hang on":
            await _hang_on()
        if self._say == "print":
            print("to nobody")  # noqa: T201 (as people do)
        if self._say == "strange items":
            strange = ItemRef(id="no-such-id", name="Nobody's Film")
            return SystemReply(text="So.", items=(strange, strange, self._items[0]))
        if self._say in ANSWERED:
            return ANSWERED[self._say]
        if self._say == "change":
            object.__setattr__(conversation.turns[-1], "text", "Never said.")
        if self._say == "a title":
            return SystemReply(text="So.", items=("Ran (1985)",))
        if self._say == "none":
            return None  # type: ignore[return-value]  # a mistake of the kind people make
        return SystemReply(text=self._say, items=self._items)

    async def aclose(self) -> None:
        return None


class Stop(BaseException):
    """What `except Exception` does not catch."""


RAISED: dict[str, BaseException] = {
    "raise": ZeroDivisionError("no ratings"),
    "raise half": ValueError("no \ud800\0\nrating"),
    "raise its own": Stop("enough"),
    "exit": SystemExit(1),
    "cancel": asyncio.CancelledError(),
}

ANSWERED = {
    "surrogate": SystemReply(text="\ud800"),
    "strange name": SystemReply(text="So.", items=(ItemRef(id=None, name="Ran\udcff"),)),
    "unchecked": SystemReply(text="So.").model_copy(update={"items": ("Ran (1985)",)}),
    "calls": SystemReply(text="So.", calls=("no call of ours",)),
}


class Sticky(Own):
    """It cannot be closed."""

    async def aclose(self) -> None:
        raise RuntimeError("stuck")


class Settled(Own):
    """Its settings are what `say` stands for."""

    def __init__(self, corpus: Corpus, *, name: str, say: str):
        super().__init__(corpus, name=name)
        print("made")  # noqa: T201 (as people do)
        strange = {"list": [1], "half": {"a": "\ud800"}, "large": {"a": 2**70}, "fine": {"a": (1,)}}
        self.settings = strange[say]  # type: ignore[assignment]


class Unreadable(Own):
    """Its name cannot be read."""

    name = property(lambda _: 1 // 0, lambda *_: None)


async def _hang_on() -> None:
    """Wait on when told to stop; the second time, stop (else nothing could end the test)."""
    for _ in range(2):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


class Mute:
    """No recommender."""

    def __init__(self, corpus: Corpus, *, name: str):
        self.name = name


class Hasty(Own):
    """Its answer cannot be awaited: it runs in a thread."""

    def respond(self, conversation: Conversation) -> SystemReply:  # type: ignore[override]
        if self._say == "hang":
            threading.Event().wait()
        if self._say == "exit":
            raise SystemExit(1)
        return SystemReply(text=threading.current_thread().name)


class Yielding(Own):
    """Its answers come one by one."""

    async def respond(self, conversation: Conversation) -> AsyncIterator[SystemReply]:  # type: ignore[override]
        yield SystemReply(text="now")


def made(path: str, *, timeout: float = 300, **options: object) -> System:
    entry = PythonSystem(name="mine", path=path, options=options, timeout=timeout, isolate="thread")
    return entry.prepared(AROUND)


def own(*, timeout: float = 300, say: str = "Try Heat.", **options: object) -> System:
    return made(f"{__name__}:Own", timeout=timeout, say=say, **options)


def respond(system: System) -> SystemReply:
    return asyncio.run(system.respond(talk("Hello")))


def test_kinds_are_made_with_the_list_length_of_the_campaign() -> None:
    assert {"chatcrs", "http", "kbrd", "python", "retrieval"} <= set(SYSTEMS.names)
    system = load_recommender("retrieval", "search", {}, AROUND)
    assert isinstance(system, Retrieval)
    assert system.name == "search"
    assert len(respond(system).items) == 3


def test_ones_own_class_is_made_and_called() -> None:
    options = {"path": f"{__name__}:Own", "options": {"say": "Try Ran."}}
    system = load_recommender("python", "mine", options, AROUND)
    assert system.name == "mine"
    assert respond(system).text == "Try Ran."
    assert system.settings["options"] == {"say": "Try Ran."}
    assert system.settings["system"] == {"say": "Try Ran."}
    other = load_recommender("python", "mine", options | {"options": {"say": "Try Up."}}, AROUND)
    assert other.settings != system.settings
    asyncio.run(system.aclose())


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("retreival", {}, "did you mean 'retrieval'"),
        ("quantum", {}, "known: retrieval, kbrd, "),
        ("retrieval", {"depth": 3}, "depth: is not a known key"),
        ("kbrd", {"checkpoint": 3}, "checkpoint: input should be a valid string, got 3"),
        (
            "kbrd",
            {"checkpoint": "x", "fidelity": "best"},
            "'ievalm', got 'best'",
        ),
        ("chatcrs", {}, "needs a model"),
        ("python", {"path": 3}, "path: input should be a valid string"),
        ("kbrd", {"checkpoint": ""}, "checkpoint: is empty: fill it in, or leave it out"),
        ("barcor", {"checkpoint": " "}, "checkpoint: is empty"),
        ("unicrs", {"fidelity": ""}, "fidelity: .*, got ''"),
        ("unicrs", {"backbones": {"gpt2": ""}}, "backbones.gpt2: is empty"),
        ("http", {"url": "http://x/", "key_env": ""}, "key_env: is empty"),
        ("http", {"url": "http://x/", "health": ""}, "health: is empty"),
        ("http", {"url": "http://x/", "retries": True}, "retries: must be a number, got True"),
        ("http", {"url": "http://x/", "timeout": True}, "timeout: must be a number, got True"),
        ("http", {"url": "http://x/", "timeout": math.nan}, "than 0, got nan"),
        ("python", {"path": "a:B", "timeout": math.inf}, "timeout: .* a finite number"),
    ],
)
def test_mistakes_are_one_clear_line(kind: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_recommender(kind, "mine", options, AROUND)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.such.module:Class", "cannot be imported"),
        (f"{__name__}:Nobody", "has no Nobody"),
        (f"{__name__}:AROUND", "to be a class or a function"),
        (f"{__name__}:Mute", "it has no settings, respond, aclose"),
        (f"{__name__}:Yielding", "respond has a `yield` and does not return"),
        (f"{__name__}:Unreadable", "its name cannot be read: ZeroDivisionError"),
        (":Own", "expected module:Class"),
        ("mine:", "expected module:Class"),
        ("../mine.py:Own", "expected module:Class .*, got '../mine.py:Own'"),
        ("nobody-offers-this", r"unknown system .*: expected module:Class"),
    ],
)
def test_what_cannot_be_a_system_is_refused(path: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(path)


def test_an_option_the_class_does_not_take_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be made: TypeError"):
        own(depth=3)


@pytest.mark.parametrize(
    ("say", "reason"),
    [
        (
            "raise",
            r"mine: raised ZeroDivisionError: no ratings \(test_system_config.py:\d+\)$",
        ),
        ("exit", "mine: raised SystemExit: 1"),
        (
            "a title",
            r"items\.0: expected an ItemRef, got 'Ran \(1985\)': use corpus\.catalogue\.ref",
        ),
        ("cancel", "mine cancelled its own answer"),
        ("none", "mine: expected a SystemReply, got NoneType"),
        (" ", "mine: the answer has no text"),
        ("a" * 100_001, "mine: the answer has 100001 characters, at most 100000 are"),
        ("unchecked", r"mine: the answer cannot be used: items\.0: .*ItemRef"),
        ("raise half", r"mine: raised ValueError: no \\ud800\\0 rating"),
        ("raise its own", "mine: raised Stop: enough"),
        ("T\0o", "mine: the answer contains the character NUL"),
        ("strange name", r"mine: the answer is invalid Unicode: lone surrogate 0xdcff"),
        ("surrogate", r"mine: the answer is invalid Unicode: lone surrogate 0xd800"),
    ],
)
def test_its_mistakes_fail_the_turn_with_the_reason(say: str, reason: str) -> None:
    with pytest.raises(SystemFailed, match=reason):
        respond(own(say=say))


@pytest.mark.parametrize(
    ("say", "message"),
    [
        ("list", "its settings must be a mapping, got list"),
        ("half", "its settings cannot be stored as JSON: .*surrogates"),
        ("large", "its settings cannot be stored as JSON: .*64-bit"),
    ],
)
def test_settings_that_are_no_json_are_refused(say: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(f"{__name__}:Settled", say=say)


def test_what_it_prints_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    system = made(f"{__name__}:Settled", say="fine")
    assert system.settings["system"] == {"a": [1]}

    async def both() -> None:
        await asyncio.gather(*(own(say=s).respond(talk("Hello")) for s in ("print", "Try Ran.")))

    asyncio.run(both())
    print("the result")  # noqa: T201 (to see where it goes)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("the result\n", "made\nto nobody\n")


def test_one_that_cannot_be_closed_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(made(f"{__name__}:Sticky").aclose())
    assert "mine: raised RuntimeError: stuck" in "".join(capsys.readouterr())


@pytest.mark.parametrize("say", ["hang", "hang on"])
def test_one_that_hangs_is_given_up_even_if_it_goes_on(say: str) -> None:
    system = own(say=say, timeout=0.05)
    with pytest.raises(SystemFailed, match=r"mine gave no answer within 0\.05 s"):
        respond(system)


def test_a_plain_method_runs_in_a_thread_that_nobody_waits_for() -> None:
    path = f"{__name__}:Hasty"
    assert respond(made(path)).text == "recjury-plugin"
    system = made(path, say="exit")
    with pytest.raises(SystemFailed, match="mine: raised SystemExit: 1"):
        respond(system)
    system = made(path, say="hang", timeout=0.05)
    with pytest.raises(SystemFailed, match=r"mine gave no answer within 0\.05 s"):
        respond(system)
    late = [each for each in threading.enumerate() if each.name == "recjury-plugin"]
    assert all(each.daemon for each in late)


def test_an_instance_is_identified_by_its_settings_and_its_source() -> None:
    first, second = (Own(CORPUS, name="any", say=say) for say in ("Hi.", "Ho."))
    guarded = read_entry(first).prepared(AROUND)
    assert (guarded.name, respond(guarded).text) == ("any", "Hi.")
    assert guarded.settings == read_entry(first).prepared(AROUND).settings
    assert guarded.settings != read_entry(second).prepared(AROUND).settings
    sourceless = types.FunctionType(compile("1", "nowhere", "eval"), {})
    kind = type("Made", (Own,), {"__module__": "nowhere", "respond": sourceless})
    code = read_entry(kind(CORPUS, name="x")).prepared(AROUND).settings["code"]
    assert str(code).startswith("of this process only: ")


def test_a_time_limit_above_zero_is_needed() -> None:
    with pytest.raises(ConfigError, match=r"timeout: .* greater than 0, got 0"):
        load_recommender("python", "m", {"path": f"{__name__}:Own", "timeout": 0}, AROUND)


def test_calls_that_are_none_of_ours_are_left_out() -> None:
    system = own(say="calls")
    assert respond(system).calls == ()


def test_what_it_does_to_the_conversation_by_force_stays_with_it() -> None:
    system = own(say="change")
    conversation = talk("Something like Heat?")
    asyncio.run(system.respond(conversation))
    assert conversation == talk("Something like Heat?")


def test_items_that_the_catalogue_does_not_have_lose_their_id() -> None:
    ran = CORPUS.catalogue.ref("Ran (1985)")
    reply = respond(own(say="strange items"))
    assert [(item.id, item.name) for item in reply.items] == [
        (None, "Nobody's Film"),
        (ran.id, "Ran (1985)"),
    ]


PACKAGE = {
    "offered.py": (
        "from tests.agents.test_system_config import Own\n"
        "broken = 3\n"
        "def make(corpus, *, name, **options):\n"
        "    return Own(corpus, name=name, **options)\n"
    ),
    "offered-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: offered\nVersion: 1.0\n",
    "offered-1.0.dist-info/entry_points.txt": (
        "[recjury.systems]\n"
        "by-class = tests.agents.test_system_config:Own\n"
        "by-function = offered:make\n"
        "broken = offered:broken\n"
        "gone = offered:no_such_class\n"
        "lost = no_such_module_at_all:Class\n"
    ),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose metadata offers systems, as an installer would leave it."""
    for name, text in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["by-class", "by-function"])
def test_what_an_installed_package_offers_is_found_by_its_name(name: str) -> None:
    system = load_recommender("python", "m", {"path": name, "options": {"say": "Hi."}}, AROUND)
    assert respond(system).text == "Hi."
    assert system.settings["path"] == name
    assert {"by-class", "by-function"} <= set(SYSTEMS.names)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("by-clas", "did you mean 'by-class'"),
        ("broken", "to be a class or a function"),
        ("gone", "cannot be loaded: .*no_such_class"),
        ("lost", "cannot be loaded: .*no_such_module_at_all"),
    ],
)
def test_an_offer_that_cannot_be_used_is_refused(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(name)
