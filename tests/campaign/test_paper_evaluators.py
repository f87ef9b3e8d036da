"""The evaluators of other papers in campaigns: run, dry run, verified, and what is refused."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import Config, dry_run, read_config, run, verify
from recjury.errors import UserError
from recjury.llm import ScriptedModel
from recjury.records import RatingShape, Request, Status
from recjury.results import ratings
from recjury.store import Store
from tests.campaign.campaigns import config, honest, said
from tests.judges import likely

ALL = [
    {"kind": "face", "aspects": ["relevance", "understanding"], "samples": 2},
    {"kind": "direct", "aspects": ["understanding"]},
    {"kind": "g-eval", "aspects": ["understanding"]},
    "paireval",
    {"kind": "paireval", "name": "direct-eval", "method": "direct"},
    "dialogue-quality",
]


def small(*evaluators: Any) -> Config:
    one = [{"corpus": "sample", "limit": 1}]
    return config(scenarios=one, systems=["popular"], evaluators=list(evaluators or ALL))


def with_odds(request: Request, code: str) -> Any:
    """A model that sends log-probabilities where they are asked for."""
    match request.shape:
        case None:
            return honest(request, code)
        case shape if shape.kind == "object":
            found = [{"act": "recommendation", "mention": "How about", "feedback": None}]
            return json.dumps({"particles": found, "code": code})
        case shape if shape.kind == "odds":
            return likely.word({choice: 1 / len(shape.choices) for choice in shape.choices})
        case RatingShape(logprobs=True):
            return likely.rating(code, {"0": 0.5, "2": 0.5})
        case _:
            return f'<rating code="{code}">1</rating>'


def without_odds(request: Request, code: str) -> Any:
    answer = with_odds(request, code)
    return answer if isinstance(answer, str) else answer.text


def played(path: Path, script: Callable[[Request, str], Any]) -> dict[str, set[str]]:
    """The statuses of each evaluator's ratings; what was done is verified."""
    with Store(path) as store:
        done = asyncio.run(run(small(), store, open_provider=lambda _: ScriptedModel(script)))
        assert done.left == 0
        checked = asyncio.run(verify(store, "small"))
        assert (checked.differing, checked.changed, checked.equal) == ({}, 0, len(ALL))
        frame = ratings(store, "small")
    return {str(name): set(part["status"]) for name, part in frame.groupby("evaluator")}


def test_all_rate_where_log_probabilities_come(tmp_path: Path) -> None:
    statuses = played(tmp_path / "s.db", with_odds)
    assert set(statuses) == {
        "face",
        "direct",
        "g-eval",
        "paireval",
        "direct-eval",
        "dialogue-quality",
    }
    assert set().union(*statuses.values()) == {Status.OK}


def test_without_log_probabilities_the_others_go_on(tmp_path: Path) -> None:
    statuses = played(tmp_path / "s.db", without_odds)
    lacking = {name for name, each in statuses.items() if each == {Status.NOT_APPLICABLE}}
    assert lacking == {"paireval", "direct-eval", "dialogue-quality"}
    assert {*statuses["face"], *statuses["direct"], *statuses["g-eval"]} == {Status.OK}


def test_a_dry_run_counts_their_calls() -> None:
    counted = asyncio.run(dry_run(small()))
    assert counted.calls > 100
    spared = small()
    model = spared.models["main"].model_copy(update={"refuses": ("logprobs",)})
    fewer = asyncio.run(dry_run(spared.model_copy(update={"models": {"main": model}})))
    assert fewer.calls != counted.calls


@pytest.mark.parametrize(
    ("evaluator", "problem"),
    [
        ("{kind: face, aspects: [relevence]}", "did you mean relevance"),
        ("{kind: face, instructions: other.json, aspects: [relevance]}", "no instructions for"),
        ("{kind: face, instrutions: x}", "did you mean instructions"),
        ("{kind: paireval, examples: {number: 999}}", "999 are wanted"),
        ("{kind: paireval, prompts: pack}", "begin alike"),
        ("{kind: dialogue-quality, examples: {number: 4}}", "`file` is missing"),
    ],
)
def test_mistakes_are_one_line_with_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluator: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "manifest.yaml").write_text("pair: [Better, Bette]\n")
    (tmp_path / "other.json").write_text('[{"text": "Be kind."}]')
    file = tmp_path / "c.yaml"
    file.write_text(f"systems: [popular]\nmodel: {{name: m}}\nevaluators:\n- {evaluator}\n")
    with pytest.raises(UserError, match=problem) as refused:
        asyncio.run(dry_run(read_config(file)))
    assert str(refused.value).startswith(f"{file}:4: ")
    assert "\n" not in str(refused.value)


def test_another_content_of_a_file_is_another_evaluator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluator = {"kind": "face", "instructions": "relevance.json", "aspects": ["relevance"]}

    def asked(text: str) -> int:
        (tmp_path / "relevance.json").write_text(json.dumps([{"text": text}]))
        model = ScriptedModel(with_odds)
        with Store(tmp_path / "s.db") as store:
            asyncio.run(run(small(evaluator), store, open_provider=lambda _: model))
        return sum("Work by these instructions" in said(request) for request in model.requests)

    assert asked("Be kind.") > 0
    assert asked("Be kind.") == 0
    assert asked("Be strict.") > 0
