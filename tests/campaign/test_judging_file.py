"""`recjury judge --config` takes a file that says who judges, and nothing of what is played."""

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import EvaluationConfig, judge_files, read_evaluators
from recjury.corpora import conversation_row
from recjury.errors import ConfigError
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.corpora import forms
from tests.endpoint import ScriptedEndpoint

Command = Callable[..., Ended]
STORE = ("--store", "sqlite:///runs.db")
SAID = [
    {"speaker": "user", "text": "I would like a crime film."},
    {"speaker": "system", "text": "Try Heat.", "items": ["Heat (1995)"]},
    {"speaker": "user", "text": "Thank you!"},
]
RECORDED = {"id": "d1", "system": "mine", "catalogue": "sample", "interaction": SAID}
PLAYED = "scenarios: [sample]\nsystems: [retrieval, chatcrs]\n"


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    Path("mine.jsonl").write_text(json.dumps(RECORDED), "utf-8")
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _judged(command: Command, text: str) -> dict[str, Any]:
    Path("judges.yaml").write_text(text, "utf-8")
    judge = ("judge", "mine.jsonl", "--config", "judges.yaml", "--json")
    ended = command(*judge, *STORE)
    assert ended.code == 0, ended.err
    result: dict[str, Any] = json.loads(ended.out)
    return result


def _kinds(endpoint: ScriptedEndpoint) -> dict[str, int]:
    kinds = [player.kind(body) for body in endpoint.bodies]
    return {kind: kinds.count(kind) for kind in kinds}


def test_models_panel_and_debate_are_enough(command: Command) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        spec = f"{{base_url: '{endpoint.url}', name: scripted, retries: 0}}"
        text = f"models: {{strict: {spec}}}\nevaluators:\n  - {{kind: core, "
        text += "judges: {models: [strict]}, "
        result = _judged(command, text + "debate: {model: strict, max_rounds: 2}}\n")
        # Novelty, Diversity and Semantic Relevance have a list; Effectiveness lacks a target.
        assert _kinds(endpoint) == {"judge": 11, "debate": 8}
    assert result["conversations"] == {"planned": 1, "done": 1, "failed": 0}
    assert list(result["evaluations"]) == ["core"]


def test_who_plays_in_the_rest_of_the_file_changes_nothing(command: Command) -> None:
    """The judges are the same: nothing is asked again, and the players' models are not needed."""
    with ScriptedEndpoint(player.play) as endpoint:
        model = f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
        alone = _judged(command, model)
        asked = len(endpoint.bodies)
        nowhere = "models: {gone: {base_url: 'http://127.0.0.1:1/v1', name: gone}}\n"
        whole = _judged(command, PLAYED + model + nowhere + "simulator: {model: gone}\n")
        assert len(endpoint.bodies) == asked
    assert whole == alone


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected keys such as `model` and `evaluators`, got an empty file"),
        ("evalators: []\n", "unknown key `evalators`; did you mean 'evaluators'?"),
        (
            "evaluators: [{kind: core, judges: {modells: [a]}}]\n",
            "unknown key `modells` under `evaluators.0.core.judges`; did you mean 'models'",
        ),
        (
            "evaluators: [{kind: core, judges: {kind: llm}}]\n",
            "judges.models names the model 'main'",
        ),
        ("judges: {kind: llm}\n", "evaluators: [outcome, {kind: core, judges: {...}}]"),
        ("debate: {kind: off}\n", "evaluators: [outcome, {kind: core, debate: {...}}]"),
        ("evaluators: [fase]\n", "unknown evaluator 'fase'; did you mean 'face'?"),
        ("evaluators: [face, face]\n", "two evaluators are named 'face'"),
        ("simulator: {rounds: 3}\n", "unknown key `rounds` under `simulator`"),
        ("systems: [retreival]\n", "unknown system 'retreival'; did you mean 'retrieval'?"),
        ("scenarios: sample\n", "`scenarios`: expected a list, got 'sample'"),
    ],
)
def test_what_is_wrong_is_refused_all_the_same(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "judges.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_evaluators(path)
    assert said in str(caught.value)


def test_a_whole_campaign_file_gives_its_evaluators_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    more = "seed: 3\nevaluators: [{kind: core, debate: {kind: off}}]\n"
    path.write_text(PLAYED.replace(", chatcrs", "") + more, "utf-8")
    found = read_evaluators(path)
    assert type(found) is EvaluationConfig
    (core,) = found.evaluators
    assert (found.seed, core.label, core.metrics[0].title) == (3, "core", "Coherence")


def test_evaluators_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text("evaluators: [outcome, {kind: core, name: plain}]\n", "utf-8")
    assert [e.label for e in read_evaluators(path, ["plain"]).evaluators] == ["plain"]
    assert [e.label for e in read_evaluators(None, ["outcome"]).evaluators] == ["outcome"]
    with pytest.raises(ConfigError, match="did you mean 'outcome'"):
        read_evaluators(path, ["outcomes"])


def test_a_file_that_grows_while_it_is_read_is_refused_in_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = [RECORDED, {**RECORDED, "id": "d2", "interaction": SAID[:2]}]
    write = partial(Path("mine.jsonl").write_text, "\n".join(map(json.dumps, grown)), "utf-8")

    async def grow(*arguments: object) -> None:
        write()

    monkeypatch.setattr("recjury.campaign.campaign_store.open_gateway", grow)
    Path("judges.yaml").write_text("evaluators: [outcome]\n", "utf-8")
    ended = command("judge", "mine.jsonl", "--config", "judges.yaml", *STORE)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert "changed while it was read" in line


def test_an_edited_conversation_before_its_original_is_another_one(tmp_path: Path) -> None:
    """Also in a store that has the original under the identity that both have in the file."""
    first, *more = forms.PLAYED.log.interaction
    turns = (first.model_copy(update={"text": f"{first.text} Really."}), *more)
    log = forms.PLAYED.log.model_copy(update={"interaction": turns})
    original, edited = (
        conversation_row(each) for each in (forms.PLAYED, forms.PLAYED._replace(log=log))
    )
    outcome = EvaluationConfig.model_validate({"evaluators": ["outcome"]})
    store = str(tmp_path / "runs.db")
    for name, rows in (("original", [original]), ("both", [edited, original])):
        path = forms.lines(tmp_path / f"{name}.jsonl", *rows)
        result = asyncio.run(judge_files([path], outcome, store))
        assert (result.done, len(set(result.conversations))) == (len(rows), len(rows))
