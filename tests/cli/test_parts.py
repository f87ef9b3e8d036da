"""Parts of a campaign on the command line: what they cost, and those that are empty."""

import json
from pathlib import Path

import pytest

from tests.cli.front_door import Command

CAMPAIGN = """
scenarios: [{corpus: sample, limit: 5}]
systems: [retrieval, {kind: python, name: popular, path: "recjury.demo.popular:Popular"}]
repeats: 2
evaluators: [outcome]
"""


@pytest.fixture
def run(command: Command, tmp_path: Path) -> Command:
    """`recjury run` of a campaign of 5 scenarios, 2 systems and 2 repeats."""
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN, "utf-8")
    file, store = tmp_path / "campaign.yaml", tmp_path / "runs.db"
    return lambda *options: command("run", file, "--store", store, *options)


@pytest.mark.parametrize(
    ("options", "conversations"),
    [
        ((), 20),
        (("--shard", "1/2"), 12),
        (("--shard", "2/2"), 8),
        (("--shard", "2/2", "--system", "popular"), 4),
        (("--shard", "7/8"), 0),
    ],
)
def test_a_part_can_be_estimated(
    run: Command, options: tuple[str, ...], conversations: int
) -> None:
    ended = run("--dry-run", "--json", *options)
    found = json.loads(ended.out)
    assert (found["conversations"], found["evaluations"]["outcome"]) == (conversations,) * 2


def test_what_only_a_plan_knows_is_not_estimated(run: Command) -> None:
    ended = run("--dry-run", "--where", "repeat=1")
    assert (ended.code, ended.err) == (
        2,
        "recjury: --dry-run makes no plan: leave out --where and --failed\n",
    )
    assert "no conversation has c" in run("--dry-run", "--system", "c").err


def test_a_part_of_recordings_can_be_estimated(command: Command, tmp_path: Path) -> None:
    turns = [{"speaker": "user", "text": "Hello."}, {"speaker": "system", "text": "Hello."}]
    lines = [json.dumps({"id": str(n), "system": "mine", "interaction": turns}) for n in range(5)]
    (tmp_path / "logs.jsonl").write_text("\n".join(lines), "utf-8")
    options = ("--evaluator", "outcome", "--dry-run", "--json", "--shard", "1/2")
    ended = command("judge", tmp_path / "logs.jsonl", *options)
    assert json.loads(ended.out)["conversations"] == 3


def test_an_empty_part_is_said_and_no_error(run: Command) -> None:
    ended = run("--shard", "7/8")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines()[-1] == "no scenario is in part 7/8: there is nothing to do"
    assert run("--limit", "1").code == 0
    ended = run("--limit", "1", "--failed")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines()[-1] == "nothing failed: there is nothing to do"
    found = json.loads(run("--limit", "1", "--failed", "--json").out)
    assert found["conversations"]["planned"] == 0
