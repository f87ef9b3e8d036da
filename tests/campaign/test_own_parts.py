"""Corpora and simulated users of one's own play a campaign, and fail in one line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.front_door import Ended, recjury

Command = Callable[..., Ended]
EXAMPLES = Path(__file__).parents[2] / "examples"
CAMPAIGN = """
scenarios: [{corpus: "own_corpus:Songs"}]
systems: [retrieval]
simulator: {kind: "own_user:Terse", options: {polite: true}}
evaluators: [outcome]
"""


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`recjury` in a folder with the examples."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("own_corpus.py", "own_user.py"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text())
    Path("campaign.yaml").write_text(CAMPAIGN)
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _play(command: Command, campaign: str) -> Ended:
    Path("campaign.yaml").write_text(campaign)
    return command("run", "campaign.yaml", "--store", "runs.db", "--json")


def test_an_own_corpus_and_an_own_user_play_a_campaign(command: Command) -> None:
    ended = _play(command, CAMPAIGN)
    assert ended.code == 0, ended.err
    run = json.loads(ended.out)
    assert run["conversations"]["done"] == 4
    shown = json.loads(command("replay", "--store", "runs.db", "--all", "--json").out)
    assert shown is not None
    assert command("export", "out", "--store", "runs.db").code == 0
    turns = (Path("out") / "turns.csv").read_text()
    assert '"Any jazz?"' in turns
    assert '"That is the one. Thanks!"' in turns
    again = json.loads(_play(command, CAMPAIGN).out)
    assert again["campaign"] == run["campaign"]
    other = json.loads(_play(command, CAMPAIGN.replace("polite: true", "polite: false")).out)
    assert other["campaign"] != run["campaign"]
    judged = command(
        "judge",
        "--campaign",
        run["campaign"],
        "--evaluator",
        "core",
        "--store",
        "runs.db",
        "--json",
    )
    assert judged.code == 0, judged.err


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("own_corpus:Songs", "own_corpus:Song", "has no Song"),
        ("own_corpus:Songs", "nosuch", "no corpus 'nosuch'"),
        ("own_user:Terse", "terse", "unknown user 'terse'"),
        ("polite: true", "rude: true", "own_user:Terse cannot be made"),
        ('kind: "own_user:Terse", ', "", "are for a user of your own"),
    ],
)
def test_what_cannot_be_used_is_one_line(command: Command, old: str, new: str, why: str) -> None:
    ended = _play(command, CAMPAIGN.replace(old, new))
    assert ended.code == 2
    assert why in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "why"),
    [
        ("own_corpus.py", '"own_corpus:Songs", (', '"songs", (', 2, "its name is 'songs'"),
        ("own_corpus.py", "self._items[:limit]", "self._items[limit.x]", 2, "AttributeError"),
        (
            "own_user.py",
            "if context.hit:",
            'raise OSError("tired")\n        if context.hit:',
            3,
            "OSError: tired",
        ),
    ],
)
def test_code_that_raises_is_a_line_or_fails_a_conversation(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    old: str,
    new: str,
    code: int,
    why: str,
) -> None:
    module = file.removesuffix(".py")
    broken = Path(f"broken_{file}")
    text = Path(file).read_text()
    assert old in text
    broken.write_text(text.replace(old, new).replace(module, f"broken_{module}"))
    monkeypatch.delitem(sys.modules, broken.stem, raising=False)
    ended = _play(command, CAMPAIGN.replace(module, f"broken_{module}"))
    assert ended.code == code
    assert why in ended.out + ended.err
    assert "Traceback" not in ended.err
