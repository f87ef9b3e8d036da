"""`recjury train face` from end to end over HTTP: it ends, is killed, and goes on."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recjury.judges.face.instructions import read_instruction_folder, read_instructions
from recjury.records import Aspect
from tests.cli.front_door import recjury
from tests.endpoint import RemoteEndpoint
from tests.papers.face.optimise import player

SETTINGS = ("iterations=2", "beam=2", "candidates=3", "gradients=1", "gradient_particles=8",
            "sampled_particles=8", "final=3")  # fmt: skip
CAMPAIGN = """
scenarios: [{{corpus: sample, limit: 2}}]
systems: [retrieval]
model: {{base_url: "{url}", name: scripted, retries: 0}}
concurrency: 8
"""
PRICED = CAMPAIGN.replace(
    "retries: 0", "retries: 0, price_in: 1, price_cached: 1, price_out: 0, max_tokens: 50"
)


NOBODY = "http://127.0.0.1:9/v1"


class Ran(NamedTuple):
    """How the command ended, what it printed, and what it said on standard error."""

    code: int
    found: dict[str, Any] | None
    said: str


@pytest.fixture(scope="module")
def endpoint() -> Iterator[RemoteEndpoint]:
    with RemoteEndpoint("tests.papers.face.optimise.player:play", latency=0.002) as running:
        yield running


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    player.write_ab_redial(folder)
    return folder


def _arguments(folder: Path, url: str, data: Path, text: str = CAMPAIGN) -> list[str]:
    campaign = folder / "campaign.yaml"
    campaign.write_text(text.format(url=url), "utf-8")
    found = ["train", "face", "--set", "aspect=relevance", "--set", "rules=true", "--json"]
    found += ["--config", str(campaign), "--data", str(data)]
    found += ["--store", f"sqlite:///{folder}/store.db", "--out", str(folder / "out")]
    return [*found, *(part for each in SETTINGS for part in ("--set", each))]


def _run(
    folder: Path,
    endpoint: RemoteEndpoint,
    data: Path,
    *more: str,
    kill: tuple[str, int] | None = None,
    text: str = CAMPAIGN,
) -> Ran:
    command = [sys.executable, "-m", "recjury", *_arguments(folder, endpoint.url, data, text)]
    process = subprocess.Popen(
        [*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if kill is not None:
        endpoint.kill_at(process.pid, kill[1], containing=kill[0])
    out, said = process.communicate(timeout=300)
    return Ran(
        process.returncode, json.loads(out)["report"] if process.returncode == 0 else None, said
    )


@pytest.fixture(scope="module")
def uninterrupted(
    endpoint: RemoteEndpoint, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Ran]:
    """The folder of a run that nothing interrupted, and how it ended."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, _run(folder, endpoint, data)


@pytest.fixture(scope="module")
def whole(uninterrupted: tuple[Path, Ran]) -> dict[str, Any]:
    ran = uninterrupted[1]
    assert ran.found is not None, ran.said
    return ran.found


@pytest.mark.slow
def test_it_finds_better_instructions_and_leaves_files_that_load(
    endpoint: RemoteEndpoint, data: Path, uninterrupted: tuple[Path, Ran], whole: dict[str, Any]
) -> None:
    folder, ran = uninterrupted
    ranks = {line["rank"]: line for line in whole["instructions"] if line["rank"]}
    assert ranks[1]["validation"] > whole["initial"]["validation"]
    assert "iteration 1: selecting" in ran.said
    (chosen,) = read_instruction_folder(folder / "out" / "instructions").values()
    assert [one.text for one in chosen] == [ranks[rank]["text"] for rank in (1, 2, 3)]
    pool = folder / "out" / "relevance" / "pool.json"
    assert len(read_instructions(pool)) == 6
    # FACE*: the same model chooses the same set from the pool, and nothing is sent for it.
    before = len(endpoint.bodies)
    again = _run(folder, endpoint, data, "--set", f"pool={pool}")
    assert again.found is not None, again.said
    assert again.found["chosen"] == [one.name for one in chosen]
    assert len(endpoint.bodies) == before


@pytest.mark.slow
def test_killed_three_times_and_resumed(
    endpoint: RemoteEndpoint, data: Path, tmp_path: Path, whole: dict[str, Any]
) -> None:
    for kill in ((player.REWRITE, 3), (player.SCORE, 60), (player.SCORE, 250)):
        assert _run(tmp_path, endpoint, data, kill=kill).code == -9
    assert _run(tmp_path, endpoint, data).found == whole


@pytest.mark.slow
def test_a_limit_of_calls_ends_it_with_one_line(
    endpoint: RemoteEndpoint, data: Path, tmp_path: Path, whole: dict[str, Any]
) -> None:
    before = len(endpoint.bodies)
    stopped = _run(tmp_path, endpoint, data, "--set", "max_calls=120")
    assert stopped.code == 3
    assert stopped.said.splitlines()[-1].endswith("run again with a higher limit to continue here")
    assert len(endpoint.bodies) - before == 120
    assert _run(tmp_path, endpoint, data).found == whole
    assert len(_status(tmp_path)) == 1, "it went on with the same campaign"


def _status(folder: Path) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "recjury", "status", "--json"]
    shown = subprocess.run(
        [*command, "--store", f"sqlite:///{folder}/store.db"], capture_output=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(shown.stdout)["campaigns"]
    return found


@pytest.mark.slow
def test_a_budget_holds_for_all_runs_of_an_optimisation(
    endpoint: RemoteEndpoint, data: Path, tmp_path: Path
) -> None:
    """A call costs 10 tokens, and is feared to cost a thousand: a budget ends long before."""

    def run(budget: str, *more: str) -> tuple[Ran, int]:
        before = len(endpoint.bodies)
        ran = _run(tmp_path, endpoint, data, "--budget", budget, *more, text=PRICED)
        return ran, len(endpoint.bodies) - before

    stopped, first = run("0.002")
    assert (stopped.code, first > 50) == (3, True), stopped.said
    assert "budget of 0.002 USD" in stopped.said.splitlines()[-1]
    again, second = run("0.002")
    assert (again.code, second < 5) == (3, True), "nothing is left of it for another run"
    (campaign,) = _status(tmp_path)
    assert campaign["name"] == "face optimise relevance"
    assert campaign["calls"] == first + second
    assert campaign["cost"] == pytest.approx(campaign["calls"] * 10e-6)
    assert campaign["tokens"] == campaign["calls"] * 15
    done, third = run("5")
    assert done.found is not None, done.said
    # To choose anew is another piece of work; it sends nothing here.
    chosen, fourth = run("5", "--set", f"pool={tmp_path / 'out' / 'relevance' / 'pool.json'}")
    assert (chosen.code, fourth) == (0, 0), chosen.said
    assert [(each["name"], each["calls"]) for each in _status(tmp_path)] == [
        ("face optimise relevance", first + second + third),
        ("face choose relevance", 0),
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--set", "iteratons=2"), "iterations"),
        (("--set", "batches=0"), "batches: input should be greater than or equal to 1"),
        (("--set", "beam=[1"), "recjury: --set beam: '[1' is not a YAML value"),
        (("--out", "{folder}/campaign.yaml"), "cannot be written: {folder}/campaign.yaml is no"),
        (("--set", "beam"), "recjury: --set: expected KEY=VALUE, got 'beam'"),
        (("--set", "rewriter=big"), "has no model 'big' (it has: main)"),
        (("--data", "nowhere"), "nowhere/ab-redial/annotated_dialogues.csv: cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    endpoint: RemoteEndpoint,
    data: Path,
    tmp_path: Path,
    more: tuple[str, ...],
    said: str,
) -> None:
    arguments = [
        *_arguments(tmp_path, endpoint.url, data),
        *(e.format(folder=tmp_path) for e in more),
    ]
    ended = recjury(monkeypatch, capsys, *arguments)
    assert ended.code == 2
    assert said.format(folder=tmp_path) in ended.err
    assert len(ended.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["campaign.yaml"]


def test_an_endpoint_that_is_not_there_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    ended = recjury(monkeypatch, capsys, *_arguments(tmp_path, NOBODY, data))
    assert ended.code == 2
    assert not list(tmp_path.glob("store*"))


def test_a_dry_run_asks_nothing_and_needs_no_endpoint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    ended = recjury(monkeypatch, capsys, *_arguments(tmp_path, NOBODY, data), "--dry-run")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    calls = {each["kind"]: each["once"] for each in found["breakdown"]}
    assert calls["face/rewrite"] == 16
    assert calls["face/score"] > 2 * 5 * 4 * 8, "the bandit's samples, and both sides"
    assert found["once"]["prompt_tokens"] > 900 * calls["face/score"]


def test_a_dry_run_of_a_new_selection_only_counts_the_validation_side(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    asked = _arguments(tmp_path, NOBODY, data)
    pool = tmp_path / "pool.json"
    rows = [
        {"filename": f"{n}", "rank": n, "iteration": n, "index": n, "text": f"Be fair {n} times."}
        for n in range(1, 4)
    ]
    pool.write_text(json.dumps(rows))
    ended = recjury(monkeypatch, capsys, *asked, "--set", f"pool={pool}", "--dry-run", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    calls = {each["kind"]: each["once"] for each in found["breakdown"]}
    assert calls.get("face/rewrite", 0) == 0
    assert calls["face/score"] > 0
    assert calls["face/score"] % 3 == 0


def test_training_keeps_labels_apart_and_on_the_aspects_scale(data: Path) -> None:
    from recjury.papers.face.optimise.training_data import read_training

    turns = read_training(data / "ab-redial", Aspect.RELEVANCE)
    assert {one.label for one in turns.train} <= {0, 0.5, 1, 1.5, 2}
    assert not {one.dialogue for one in turns.train} & {one.dialogue for one in turns.validation}
    assert len(turns.train) + len(turns.validation) == 36
    whole = read_training(data / "ab-redial", Aspect.DIALOGUE_OVERALL)
    assert {one.label for one in (*whole.train, *whole.validation)} == {0, 1, 2, 3, 4}


def test_the_real_ab_redial_is_split_sixty_to_forty(data_folder: Path) -> None:
    from recjury.papers.face.optimise.training_data import read_training

    turns = read_training(data_folder / "ab-redial", Aspect.RELEVANCE)
    assert turns.left_out == ("1B#1", "1B#2", "1B#3")
    assert 352 <= len(turns.train) <= 366
    for aspect in Aspect:
        found = read_training(data_folder / "ab-redial", aspect, seed=3)
        labels = [one.label for one in (*found.train, *found.validation)]
        assert min(labels) >= aspect.low
        assert max(labels) <= aspect.high
