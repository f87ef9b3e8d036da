"""The Python interface does what the command line does: same identities, numbers and rows."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

import recjury
from tests.frozen.played import Player, command
from tests.frozen.plugins import Turns

STORE = "sqlite:///store.db"


@pytest.fixture
def folder(played: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a played campaign, in which Python and commands work."""
    for name in ("campaign.yaml", "store.db", "printed.json"):
        shutil.copy(played.play("plain").folder / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_campaign_is_the_same_in_both(folder: Path) -> None:
    printed = json.loads(Path("printed.json").read_text("utf-8"))
    content = yaml.safe_load(Path("campaign.yaml").read_text("utf-8"))
    of_file = recjury.evaluate("campaign.yaml", store=STORE)
    of_mapping = recjury.evaluate(content, store=STORE)
    del content["systems"], content["evaluators"]
    whole = yaml.safe_load(Path("campaign.yaml").read_text("utf-8"))
    of_arguments = recjury.evaluate(
        content, systems=whole["systems"], evaluators=whole["evaluators"], store=STORE
    )
    for run in (of_file, of_mapping, of_arguments):
        assert run.campaign == printed["campaign"]
        assert run.systems == printed["systems"]  # with its seconds: nothing was played again
    assert len(recjury.open(STORE).campaigns) == 1
    assert recjury.open(STORE).systems == printed["systems"]


def test_frames_are_exported_tables(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    ended = command(folder, "export", "out", "--format", "jsonl", "--store", STORE)
    assert ended.code == 0, ended.err
    stored = recjury.open(STORE)
    for name in ("conversations", "evaluations", "turns", "ratings", "statements", "calls"):
        file = "conversation_scores" if name == "conversations" else name
        lines = (folder / "out" / f"{file}.jsonl").read_text("utf-8").splitlines()
        assert stored.frame(name).to_pylist() == [json.loads(line) for line in lines], name


class _Counted(Turns):
    """Counts how often it is asked."""

    asked = 0

    def rate(self, log: recjury.ConversationLog) -> list[recjury.Rating]:
        type(self).asked += 1
        return super().rate(log)


def test_an_object_is_identified_by_its_settings(folder: Path) -> None:
    """Equal ones share their evaluations, others do not."""
    campaign = json.loads(Path("printed.json").read_text("utf-8"))["campaign"]
    asked = []
    for evaluator in (_Counted(), _Counted(), _Counted(least=1)):
        recjury.judge(campaign=campaign, evaluators=[evaluator], store=STORE)
        asked.append(_Counted.asked)
    assert asked[0] == asked[1] > 0
    assert asked[2] == 2 * asked[0]
