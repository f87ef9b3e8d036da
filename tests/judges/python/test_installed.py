"""Evaluators of an installed package: plain classes, and classes with keys of their own."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pytest
from pydantic import ValidationError

from recjury import Evaluator
from recjury.errors import ConfigError
from recjury.judges import EvaluatorContext, listed_evaluators, read_entry
from recjury.judges.python.evaluator import PythonEvaluator
from recjury.llm import PlannedCall, Prompt, Question, ask_each
from recjury.plugins import source_digest
from recjury.records import (
    ConversationLog,
    ConversationRecord,
    Message,
    Metric,
    Rating,
    RatingSubject,
    StageResult,
)
from tests.judges.cases import a_log, gateway_of, planned

LENGTH = Metric(id="length", title="Length", high=10)


class Lengths:
    """Rates how long a conversation is."""

    metrics = (LENGTH,)

    def __init__(self, *, score: float = 3):
        self._score = score

    def rate(self, log: ConversationLog) -> list[Rating]:
        return [Rating(evaluator="own", factor="length", score=self._score, high=10)]


class Politeness(Evaluator):
    """Asks a model how polite the system was."""

    kind: Literal["polite"] = "polite"
    model: str = "main"
    words: str = "How polite is it?"

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (Metric(id="polite", title="Polite", high=4),)

    @property
    def aliases(self) -> list[tuple[str, str]]:
        return [("model", self.model)]

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        yield self._question(log).planned(self.kind)

    async def evaluate(
        self, stage: str, record: ConversationRecord, done: Mapping[str, StageResult]
    ) -> StageResult:
        return StageResult(await ask_each(self._gateway, [self._question(record.log)]))

    def _question(self, log: ConversationLog) -> Question:
        said = " ".join(turn.text for turn in log.system_turns)
        text = f"{self.words} {said}"
        return Question(
            subject=RatingSubject(evaluator=self.model, factor="polite"),
            model=self.model,
            prompts=(Prompt((Message("user", (text,)),)),),
            purpose="polite",
        )


class Unfinished(Evaluator):
    """Has no metrics."""

    kind: Literal["unfinished"] = "unfinished"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose metadata offers evaluators, as an installer would leave it."""
    offered = {"lengths": Lengths, "polite": Politeness, "unfinished": Unfinished}
    lines = [f"{name} = {__name__}:{kind.__name__}" for name, kind in offered.items()]
    files = {
        "METADATA": "Metadata-Version: 2.1\nName: rating\nVersion: 1.0\n",
        "entry_points.txt": "\n".join(
            ["[recjury.evaluators]", *lines, "lost = no_such_module:Class", ""]
        ),
    }
    for name, text in files.items():
        place = tmp_path / "rating-1.0.dist-info" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)


def test_a_plain_class_is_guarded_under_its_name() -> None:
    entry = read_entry("lengths")
    assert isinstance(entry, PythonEvaluator)
    assert (entry.kind, entry.path, entry.label) == ("python", "lengths", "lengths")
    mine = read_entry({"kind": "lengths", "name": "mine", "options": {"score": 1}})
    ready = mine.prepared(EvaluatorContext())
    record = ConversationRecord(a_log())
    (rating,) = asyncio.run(ready.evaluate("rate", record, {})).ratings
    assert (mine.label, rating.score) == ("mine", 1)


def test_a_class_of_evaluators_has_keys_of_its_own() -> None:
    entry = read_entry({"kind": "polite", "words": "Is it polite?"})
    gateway, model = gateway_of(["<rating>3</rating>"], "main")
    ready = entry.prepared(EvaluatorContext(None, gateway, gateway.models))
    assert planned(ready) == {("main", "polite"): 1}
    (rating,) = asyncio.run(ready.evaluate("rate", ConversationRecord(a_log()), {})).ratings
    assert (rating.score, len(model.requests)) == (3, 1)
    assert ready.settings == {
        "words": "Is it polite?",
        "models": {"main": gateway.models["main"].reply_settings()},
        "code": source_digest(Politeness),
    }
    with pytest.raises(ValidationError, match="word\n"):
        read_entry({"kind": "polite", "word": "Is it?"})


def test_a_class_is_named_by_its_path_too() -> None:
    assert isinstance(read_entry(f"{__name__}:Politeness"), Politeness)
    plain = read_entry({"kind": f"{__name__}:Lengths", "options": {"score": 2}})
    assert isinstance(plain, PythonEvaluator)
    assert (plain.label, plain.metrics) == ("Lengths", (LENGTH,))


def test_what_cannot_be_used_is_one_line() -> None:
    with pytest.raises(ConfigError, match="unfinished is not an evaluator: it has no evaluate"):
        read_entry("unfinished")
    with pytest.raises(ConfigError, match="'lost' cannot be loaded"):
        read_entry("lost")
    with pytest.raises(ValueError, match="unknown evaluator 'length'; did you mean 'lengths'"):
        read_entry("length")


def test_what_is_offered_is_listed_with_metrics_or_the_reason() -> None:
    listed = {each.kind: each for each in listed_evaluators()}
    assert listed["lengths"].metrics == (LENGTH,)
    assert listed["polite"].summary == "Asks a model how polite the system was."
    assert [metric.id for metric in listed["polite"].metrics] == ["polite"]
    assert "cannot be loaded" in listed["lost"].summary
    assert "has no evaluate" in listed["unfinished"].summary
