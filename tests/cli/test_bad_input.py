"""What the user can fix is one line on standard error, exit code 2, and nothing half-written."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.front_door import Ended, recjury
from tests.endpoint import ScriptedEndpoint

Command = Callable[..., Ended]
SAMPLE = "scenarios: [{corpus: sample, limit: 1}]\nsystems: [retrieval]\n"


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`recjury` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECJURY_STORE", raising=False)
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _refused(ended: Ended, *said: str) -> None:
    assert ended.code == 2, ended
    assert ended.out == ""
    # A slow machine is told after some seconds that it is still at work.
    lines = [line for line in ended.err.splitlines() if not line.startswith("reading data")]
    assert len(lines) == 1, ended.err
    assert lines[0].startswith("recjury: ")
    for part in said:
        assert part in lines[0]


def _campaign(text: str) -> Path:
    path = Path("campaign.yaml")
    path.write_text(text, "utf-8")
    return path


def _model(url: str, more: str = "") -> str:
    return f"model: {{base_url: '{url}', name: scripted, retries: 0{more}}}\n"


def _untouched() -> bool:
    return not list(Path().glob("*.db*")) and not list(Path().glob("*.html"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SAMPLE + "evaluator: []\n", ["unknown key `evaluator`", "did you mean 'evaluators'?"]),
        (SAMPLE + "evaluators: [cor]\n", ["unknown evaluator 'cor'", "did you mean 'core'"]),
        (SAMPLE + "evaluators: [face]\n", ["model"]),
        (SAMPLE + "debate: {kind: off}\n", ["evaluators: [outcome, {kind: core, debate: {...}}]"]),
        (SAMPLE + "evaluators: [{kind: rubric, file: none.yaml}]\n", ["rubric.model"]),
        (SAMPLE.replace("sample", "nowhere"), ["no corpus 'nowhere'"]),
        ("data: missing\n" + SAMPLE.replace("sample", "redial"), ["no data folder missing"]),
        (SAMPLE.replace("retrieval", "{kind: kbrd, checkpoint: none}"), ["none"]),
        (SAMPLE.replace("retrieval", "{kind: python, name: x, path: 'nothing:X'}"), ["nothing:X"]),
        (SAMPLE.replace("limit: 1", "split: middle"), ["middle"]),
    ],
)
def test_campaign_files(command: Command, text: str, said: list[str]) -> None:
    _refused(command("run", _campaign(text), "--report", "r.html"), *said)
    assert _untouched()


def test_a_budget_in_dollars_needs_prices(command: Command) -> None:
    with ScriptedEndpoint(lambda _: "hello") as endpoint:
        text = SAMPLE + _model(endpoint.url)
        for more in ("budget: 2\n", "budget: {dollars: 2}\n"):
            said = command("run", _campaign(text + more))
            _refused(said, "price_in", "price_out", "tokens")
        assert endpoint.bodies == []
    assert _untouched()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["judge"], "name files to evaluate, or a campaign"),
        (["judge", "x.jsonl", "--campaign", "1"], "not both"),
        (["judge", "--campaign", "1"], "name what evaluates the campaign"),
        (["judge", "none.jsonl"], "none.jsonl"),
        (["judge", "none.jsonl", "--evaluator", "face"], "face.model names the model 'main'"),
        (["judge", "--campaign", "1", "--evaluator", "cor"], "did you mean 'core'?"),
        (["judge", "--campaign", "1", "--evaluator", "core"], "there is no store"),
        (["compare", "--evaluators", "a", "b"], "there is no store"),
    ],
)
def test_what_to_judge_must_be_said(command: Command, arguments: list[str], said: str) -> None:
    _refused(command(*arguments), said)
    assert _untouched()


def test_a_key_that_is_not_set(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    model = _model("http://127.0.0.1:9/v1", ", key_env: MY_KEY")
    _refused(command("run", _campaign(SAMPLE + model)), "MY_KEY")
    assert _untouched()


def test_an_endpoint_that_is_not_there(command: Command) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    _refused(command("run", _campaign(SAMPLE + _model(url))), url)
    assert _untouched()


NOBODY = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    "text",
    [
        SAMPLE + _model(NOBODY),
        SAMPLE.replace("retrieval", "{kind: kbrd, checkpoint: none}"),
        SAMPLE.replace("retrieval", f"{{kind: http, name: x, url: '{NOBODY}'}}"),
    ],
)
def test_the_folder_of_a_new_store_is_made_when_all_is_in_order(
    command: Command, text: str
) -> None:
    ended = command("run", _campaign(text), "--store", "sqlite:///new/folder/runs.db")
    assert ended.code == 2, ended
    assert not Path("new").exists()


def test_an_endpoint_that_refuses_the_key(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with ScriptedEndpoint(lambda _: "hello", key="another") as endpoint:
        ended = command("run", _campaign(SAMPLE + _model(endpoint.url, ", key_env: MY_KEY")))
    _refused(ended, "401", "MY_KEY")
    assert "sk-very-secret" not in ended.err
    assert _untouched()


def test_an_endpoint_without_the_model(command: Command) -> None:
    with ScriptedEndpoint(lambda _: "hello", models=("other",)) as endpoint:
        _refused(command("run", _campaign(SAMPLE + _model(endpoint.url))), "scripted")
    assert _untouched()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{"], ["mine.jsonl:1:"]),
        (['{"id": "a", "system": "s", "interaction": []}'], ["mine.jsonl:1:", "interaction"]),
        ([], ["holds no conversation"]),
    ],
)
def test_recorded_conversations(command: Command, lines: list[str], said: list[str]) -> None:
    Path("mine.jsonl").write_text("\n".join(lines), "utf-8")
    _refused(command("judge", "mine.jsonl", "--format", "jsonl"), *said)
    assert _untouched()


def test_a_corrupt_line_after_good_ones_leaves_nothing_behind(command: Command) -> None:
    turns = [{"speaker": "user", "text": "Hi"}, {"speaker": "system", "text": "Hello, a film?"}]
    good = json.dumps({"id": "a", "system": "s", "interaction": turns})
    Path("mine.jsonl").write_text(f"{good}\n{good[:40]}\n", "utf-8")
    _refused(command("judge", "mine.jsonl", "--format", "jsonl"), "mine.jsonl:2:")
    assert _untouched()


def test_an_unknown_item_in_a_recorded_conversation(command: Command) -> None:
    turns = [{"speaker": "system", "text": "Hello", "items": [{"id": "f9999", "name": "None"}]}]
    row = {"id": "a", "system": "s", "catalogue": "sample", "interaction": turns}
    Path("mine.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    _refused(command("judge", "mine.jsonl", "--format", "jsonl"), "mine.jsonl:1:", "f9999")


@pytest.mark.parametrize(
    "arguments",
    [
        ["status"],
        ["replay", "--all"],
        ["compare", "a", "b"],
        ["report"],
        ["export", "out"],
    ],
)
def test_a_store_that_is_not_there(command: Command, arguments: list[str]) -> None:
    _refused(command(*arguments), "there is no store at recjury.db")
    assert _untouched()


def test_a_store_that_is_something_else(command: Command) -> None:
    Path("recjury.db").write_text("not a database, but text" * 100, "utf-8")
    _refused(command("status"), "recjury.db")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "x", "--limit", "0"],
        ["run", "x", "--budget", "nan"],
        ["run", "x", "--budget", "-1"],
        ["run", "x", "--concurrency", "99999"],
        ["fly"],
        ["replay", "--al"],
    ],
)
def test_usage(command: Command, arguments: list[str]) -> None:
    ended = command(*arguments)
    assert ended.code == 2
    assert "Usage" in ended.err
