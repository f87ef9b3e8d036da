"""Anyone's own evaluator: made, asked, and held to what it declares."""

import asyncio
import functools
import math
import threading
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import Corpus, open_corpus
from recjury.errors import ConfigError, UnitFailed
from recjury.judges import EvaluatorContext, read_entry
from recjury.judges.python.evaluator import PythonEvaluator, of_instance
from recjury.llm import Gateway
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    Need,
    Rating,
    Status,
)
from tests.judges.cases import a_log, gateway_of

in_thread = functools.partial(PythonEvaluator, isolate="thread")

LENGTH = Metric(id="length", title="Length", high=10)
FIT = Metric(id="fit", title="Fit", high=1, needs=(Need.LIST, Need.TARGETS))
TURNS = Metric(id="turns", title="Turns", level=Level.TURN, high=4)


def length(score: float = 3, **fields: Any) -> Rating:
    return Rating(**{"evaluator": "own", "factor": "length", "score": score, "high": 10, **fields})


async def _hang(_: ConversationLog) -> object:
    await asyncio.Event().wait()
    return []


def _block(_: ConversationLog) -> object:
    threading.Event().wait()
    return []


def _raise(_: ConversationLog) -> object:
    raise ZeroDivisionError("no turns")


async def _exit(_: ConversationLog) -> object:
    raise SystemExit(1)


def _change(log: ConversationLog) -> object:
    object.__setattr__(log.interaction[0], "text", "Never said.")
    return [length()]


class Own:
    """Its ratings are what `rate` gives."""

    metrics: tuple[Metric, ...] = (LENGTH,)

    def __init__(self, rate: Callable[[ConversationLog], object] = lambda _: [length()]):
        self.rate = rate


class Made:
    """Takes an option."""

    metrics: tuple[Metric, ...] = (LENGTH,)

    def __init__(self, *, score: float = 3):
        self._score = score

    async def rate(self, log: ConversationLog) -> list[Rating]:
        print("to nobody")  # noqa: T201 (as people do)
        return [length(self._score)]


class Around(Made):
    """Asks for what is there."""

    def __init__(self, corpus: Corpus, gateway: Gateway | None):
        super().__init__()
        self.settings: Mapping[str, JSON] = {"items": corpus.name, "asks": gateway is not None}


class Computed:
    """Its metrics are known of instances only."""

    def __init__(self, name: str = "length"):
        self.metrics = [LENGTH.model_copy(update={"id": name})]

    def rate(self, log: ConversationLog) -> list[Rating]:
        return [length()]


class Modelled(Made):
    metrics = (LENGTH.model_copy(update={"needs": (Need.MODEL,)}),)


class Mute:
    metrics = (LENGTH,)


class Nameless:
    def rate(self, log: ConversationLog) -> list[Rating]:
        return []


class Twice(Made):
    metrics = (LENGTH, LENGTH)


class Yielding:
    metrics = (LENGTH,)

    def rate(self, log: ConversationLog) -> Any:
        yield length()


def path(kind: type) -> str:
    return f"{__name__}:{kind.__name__}"


def guarded(own: object, timeout: float = 20) -> PythonEvaluator:
    entry = of_instance(own, "own").model_copy(update={"timeout": timeout})
    return entry.prepared(EvaluatorContext())


def rated(evaluator: PythonEvaluator, log: ConversationLog | None = None) -> tuple[Rating, ...]:
    record = ConversationRecord(log or a_log())
    return asyncio.run(evaluator.evaluate("rate", record, {})).ratings


def test_ones_own_class_is_made_and_asked(capsys: pytest.CaptureFixture[str]) -> None:
    config = in_thread(path=path(Made), options={"score": 5}, name="mine")
    assert config.metrics == (LENGTH,)
    evaluator = config.prepared(EvaluatorContext())
    assert [stage.name for stage in evaluator.stages] == ["rate"]
    assert (evaluator.label, evaluator.kind, evaluator.open_at_once) == ("mine", "python", None)
    (rating,) = rated(evaluator)
    assert (rating.score, rating.low, rating.high) == (5, 0, 10)
    assert capsys.readouterr().out == ""
    other = in_thread(path=path(Made)).prepared(EvaluatorContext())
    assert other.settings != evaluator.settings
    assert other.settings == in_thread(path=path(Made)).prepared(EvaluatorContext()).settings


def test_it_is_given_what_it_asks_for() -> None:
    gateway, _ = gateway_of([], "main")
    corpus = open_corpus("sample")
    config = in_thread(path=path(Around))
    evaluator = config.prepared(EvaluatorContext(corpus, gateway, gateway.models))
    assert evaluator.settings["own"] == {"items": "sample", "asks": True}
    assert evaluator.settings["models"] == {"main": gateway.models["main"].reply_settings()}


def test_metrics_that_only_instances_have_are_asked_of_one() -> None:
    config = in_thread(path=path(Computed), options={"name": "other"})
    assert [metric.id for metric in config.metrics] == ["other"]


def test_a_plain_method_runs_in_a_thread() -> None:
    seen: list[str] = []

    def rate(_: ConversationLog) -> list[Rating]:
        seen.append(threading.current_thread().name)
        return [length()]

    evaluator = guarded(Own(rate))
    assert evaluator.open_at_once == 8
    assert rated(evaluator)[0].score == 3
    assert seen != [threading.current_thread().name]


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (_raise, "own: raised ZeroDivisionError: no turns"),
        (_exit, "own: raised SystemExit: 1"),
        (lambda _: None, "own: expected a list of Rating, got NoneType"),
        (lambda _: [3], "own: expected a Rating, got int"),
        (lambda _: [length(3, high=None), length(4)], "own rated 'length' twice"),
        (lambda _: [], "own gave no rating of length"),
        (lambda _: [length(11, high=20)], "own: length is 11, outside its scale 0 to 10"),
        (
            lambda _: [length(11)],
            "raised ValidationError: score must be a finite number from 0 to 10, got 11 .test_own",
        ),
        (
            lambda _: [length(math.nan)],
            "raised ValidationError: score must be a finite number from 0 to 10, got nan .test_own",
        ),
        (
            lambda _: [length(math.inf, high=None)],
            "raised ValidationError: score must be a finite number from 0, got inf .test_own",
        ),
        (
            lambda _: [length().model_copy(update={"score": math.nan})],
            "own: a rating cannot be used: score must be a finite number from 0 to 10, got nan$",
        ),
        (lambda _: [length(factor="breadth")], "own rated 'breadth', .* .it has: length."),
        (lambda _: [length(turn=0)], "own: a rating of length names a turn"),
        (lambda _: [length(turn=0, level=Level.TURN)], "length is declared for a dialogue"),
        (
            lambda _: [length().model_copy(update={"score": "x"})],
            "own: a rating cannot be used: score: input should be a valid number",
        ),
    ],
)
def test_its_mistakes_fail_the_evaluation_with_the_reason(
    rate: Callable[[ConversationLog], object], said: str
) -> None:
    with pytest.raises(UnitFailed, match=said) as caught:
        rated(guarded(Own(rate)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rate", [_hang, _block])
def test_one_that_hangs_is_given_up_and_holds_nothing_up(
    rate: Callable[[ConversationLog], object],
) -> None:
    with pytest.raises(UnitFailed, match=r"own gave no ratings within 0\.05 s"):
        rated(guarded(Own(rate), timeout=0.05))
    late = [each for each in threading.enumerate() if each.name == "recjury-plugin"]
    assert all(each.daemon for each in late)


def test_what_it_does_to_the_log_by_force_stays_with_it() -> None:
    log = a_log()
    rated(guarded(Own(_change)), log)
    assert log == a_log()


def test_needs_that_a_log_does_not_meet_leave_a_metric_unscored() -> None:
    own = Own(lambda _: [length()])
    own.metrics = (LENGTH, FIT)
    first, second = rated(guarded(own), a_log(targets=()))
    assert (first.score, second.score) == (3, None)
    assert (second.status, second.reason) == (Status.NOT_APPLICABLE, "the log has no target item")
    own.metrics = (FIT,)
    own.rate = _raise  # nothing is left to ask it
    assert rated(guarded(own), a_log(items=()))[0].reason == "the log has no recommendation list"


def test_turns_are_rated_one_by_one() -> None:
    def turn(number: int) -> Rating:
        return Rating(evaluator="own", factor="turns", score=1, turn=number, level=Level.TURN)

    own = Own(lambda _: [turn(0), turn(2)])
    own.metrics = (TURNS,)
    assert [rating.turn for rating in rated(guarded(own), a_log("One.", "Two."))] == [0, 2]
    own.rate = lambda _: [turn(1)]
    with pytest.raises(UnitFailed, match="turns is rated for turn 1, which is not a system turn"):
        rated(guarded(own))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Mute, "is not an evaluator: it has no rate"),
        (Nameless, "is not an evaluator: it has no metrics"),
        (Twice, "two of its metrics are called 'length'"),
        (Yielding, "is not an evaluator: rate has a `yield`"),
        (Modelled, "python needs a model: add `model`"),
        (Around, "cannot be made: AttributeError"),
    ],
)
def test_what_cannot_be_an_evaluator_is_refused_in_one_line(kind: type, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        in_thread(path=path(kind)).prepared(EvaluatorContext())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("no.such.module:Class", "cannot be imported"),
        (f"{__name__}:Nobody", "has no Nobody"),
        ("nobody-offers-this", r"unknown evaluator .* expected module:Class"),
    ],
)
def test_what_is_not_there_is_one_line(given: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        _ = in_thread(path=given).metrics


def test_an_instance_is_identified_by_its_settings_and_its_source() -> None:
    first, second = Made(score=3), Made(score=4)
    settings = guarded(first).settings
    assert guarded(Made(score=3)).settings == settings
    assert guarded(second).settings != settings
    sourceless = types.FunctionType(compile("1", "nowhere", "eval"), {})
    kind = type("Bare", (), {"__module__": "nowhere", "metrics": (LENGTH,), "rate": sourceless})
    code = guarded(kind()).settings["code"]
    assert str(code).startswith("of this process only: ")
    assert guarded(kind()).settings["code"] == code


def test_an_instance_that_holds_more_than_json_is_another_one_in_every_process() -> None:
    own = Own()
    assert str(guarded(own).settings["own"]).startswith("of this process only: ")
    assert guarded(own).settings == guarded(own).settings
    assert guarded(own).settings != guarded(Own()).settings


def test_an_object_among_the_entries_is_an_evaluator_under_its_own_name() -> None:
    entry = read_entry(Made())
    assert isinstance(entry, PythonEvaluator)
    assert (entry.label, entry.metrics) == ("made", (LENGTH,))
    assert "instance" not in entry.model_dump()
    with pytest.raises(ValueError, match="Made is a class: give an instance"):
        read_entry(Made)


def test_the_example_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "examples")
    evaluator = in_thread(path="own_evaluator:Talk", name="talk").prepared(EvaluatorContext())
    ratings = rated(evaluator, a_log("Do you like Heat?", "Try Ronin."))
    assert [(rating.factor, rating.turn, rating.score) for rating in ratings] == [
        ("words", 0, 4),
        ("words", 2, 2),
        ("questions", None, 0.5),
    ]
