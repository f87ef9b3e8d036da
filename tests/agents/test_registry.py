"""Systems by kind, and anyone's own class."""

import asyncio
import importlib.metadata
from collections.abc import Mapping

import pytest

from recjury.agents import Retrieval, Surroundings, known_kinds, load_recommender
from recjury.agents.own import load_own
from recjury.corpora import Corpus, open_corpus
from recjury.errors import ConfigError, SystemFailed
from recjury.records import JSON, Conversation, Recommender, SystemReply
from tests.agents.conversations import talk

CORPUS = open_corpus("sample")
AROUND = Surroundings(CORPUS, list_length=3)


class Own:
    """Says what it was told to."""

    def __init__(self, corpus: Corpus, *, name: str, say: str = "Try Heat.", items: int = 1):
        self.name = name
        self.settings: Mapping[str, JSON] = {"say": say}
        self._say = say
        self._items = tuple(item.ref for item in list(corpus.catalogue)[:items])

    async def respond(self, conversation: Conversation) -> SystemReply:
        if self._say == "raise":
            raise ZeroDivisionError("no ratings")
        if self._say == "none":
            return None  # type: ignore[return-value]  # a mistake of the kind people make
        return SystemReply(text=self._say, items=self._items)

    async def aclose(self) -> None:
        return None


class Mute:
    """No recommender."""

    def __init__(self, corpus: Corpus, *, name: str):
        self.name = name


class Hasty(Own):
    """Its answer cannot be awaited."""

    def respond(self, conversation: Conversation) -> SystemReply:  # type: ignore[override]
        return SystemReply(text="now")


def own(**options: object) -> Recommender:
    return load_own(f"{__name__}:Own", CORPUS, name="mine", options=options)


def respond(system: Recommender) -> SystemReply:
    return asyncio.run(system.respond(talk("Hello")))


def test_kinds_are_made_with_the_list_length_of_the_campaign() -> None:
    assert known_kinds() == ("chatcrs", "kbrd", "python", "retrieval")
    system = load_recommender("retrieval", "search", {}, AROUND)
    assert isinstance(system, Retrieval)
    assert system.name == "search"
    assert len(respond(system).items) == 3


def test_ones_own_class_is_made_and_called() -> None:
    options = {"path": f"{__name__}:Own", "options": {"say": "Try Ran."}}
    system = load_recommender("python", "mine", options, AROUND)
    assert system.name == "mine"
    assert respond(system).text == "Try Ran."
    assert system.settings == {"kind": "python", "path": f"{__name__}:Own", "say": "Try Ran."}
    asyncio.run(system.aclose())


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("retreival", {}, "did you mean retrieval"),
        ("quantum", {}, "expected chatcrs, kbrd, python, retrieval"),
        ("retrieval", {"depth": 3}, "unknown option 'depth'"),
        ("kbrd", {}, "checkpoint must be str"),
        ("kbrd", {"checkpoint": "x", "fidelity": "best"}, "corrected or ievalm"),
        ("chatcrs", {}, "needs a model"),
        ("python", {"path": 3}, "path must be str"),
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
        (f"{__name__}:AROUND", "no class or function"),
        (f"{__name__}:Mute", "it has no settings, respond, aclose"),
        (f"{__name__}:Hasty", "respond is not `async def`"),
        ("nobody-offers-this", "no installed package offers"),
    ],
)
def test_what_cannot_be_a_system_is_refused(path: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_own(path, CORPUS, name="mine", options={})


def test_an_option_the_class_does_not_take_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be made: TypeError"):
        own(depth=3)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"say": "raise"}, "mine raised ZeroDivisionError: no ratings"),
        ({"say": "none"}, "answered NoneType"),
        ({"say": " ", "items": 0}, "neither text nor items"),
    ],
)
def test_its_mistakes_fail_the_turn_with_the_reason(
    options: dict[str, object], reason: str
) -> None:
    with pytest.raises(SystemFailed, match=reason):
        respond(own(**options))


def test_an_entry_point_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("mine", f"{__name__}:Own", "recjury.recommenders")

    def entry_points(*, group: str, name: str | None = None) -> tuple[object, ...]:
        return (point,) if group == point.group and name in (None, point.name) else ()

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert respond(load_own("mine", CORPUS, name="m", options={})).text == "Try Heat."
    with pytest.raises(ConfigError, match="did you mean mine"):
        load_own("mien", CORPUS, name="m", options={})
