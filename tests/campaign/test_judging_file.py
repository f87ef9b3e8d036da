"""`recjury judge --config` takes a file that says who judges, and nothing of what is played."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import RatingConfig, read_raters
from recjury.errors import ConfigError
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
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
    judge = ("judge", "mine.jsonl", "--format", "jsonl", "--config", "judges.yaml", "--json")
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
        text = f"models: {{strict: {spec}}}\njudges: {{models: [strict]}}\n"
        result = _judged(command, text + "debate: {model: strict, max_rounds: 2}\n")
        # Novelty, Diversity and Semantic Relevance have a list; Effectiveness lacks a target.
        assert _kinds(endpoint) == {"judge": 11, "debate": 8}
    assert result["trials"] == {"planned": 1, "done": 1, "failed": 0}
    assert result["systems"]["mine"]["raters"] == ["strict"]


def test_who_plays_in_the_rest_of_the_file_changes_no_trial(command: Command) -> None:
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
        ("", "expected keys such as `model` and `judges`, got an empty file"),
        ("judgs: {}\n", "unknown key `judgs`; did you mean `judges`?"),
        ("judges: {modells: [a]}\n", "unknown key `modells` under `judges`; did you mean `models`"),
        ("judges: {kind: llm}\n", "judges.models names the model 'main'"),
        ("simulator: {rounds: 3}\n", "unknown key `rounds` under `simulator`"),
        ("systems: [retreival]\n", "unknown kind 'retreival'; did you mean `retrieval`?"),
        ("scenarios: sample\n", "`scenarios`: expected a list, got 'sample'"),
    ],
)
def test_what_is_wrong_is_refused_all_the_same(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "judges.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_raters(path)
    assert said in str(caught.value)


def test_a_whole_campaign_file_gives_its_raters_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(PLAYED.replace(", chatcrs", "") + "seed: 3\ndebate: {kind: off}\n", "utf-8")
    raters = read_raters(path)
    assert type(raters) is RatingConfig
    assert (raters.seed, raters.debate.kind) == (3, "off")
