"""Stores that were edited: each command says so in one line, or shows what is left of them."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.store import Store
from recjury.store.measurements import Measurement
from tests.cli.front_door import Ended
from tests.frozen.played import Player, command, shared_folder
from tests.robust.edits import Edit, edits

_CAMPAIGN = """\
name: edited
scenarios: [{corpus: sample, limit: 1}]
systems: [retrieval, {kind: python, name: popular, path: "recjury.demo.popular:Popular"}]
"""
_READING = (
    ("status", "--json"),
    ("export", "out"),
    ("compare", "chatcrs", "crs", "--json"),
    ("report", "--out", "report.html"),
    ("replay", "--all"),
    ("replay", "--verify", "--json"),
    ("explain", "CONVERSATION"),
    ("annotate", "export", "task", "--raters", "2"),
    ("doctor", "--json"),
    ("store", "verify"),
)
_WRITING = (
    ("run", "campaign.yaml", "--json"),
    ("judge", "--campaign", "CAMPAIGN", "--evaluator", "outcome", "--json"),
)


@pytest.fixture(scope="session")
def read_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a row in every table: scripted models, a failed conversation, a measurement."""
    played = Player(shared_folder(tmp_path_factory)).play("scripted").folder
    path = tmp_path_factory.mktemp("read") / "store.db"
    shutil.copy(played / "store.db", path)
    with Store.open(str(path)) as store:
        body = {"replies": 1}
        store.save_measurement(Measurement(kind="noise", subject="x", measured_at=1.0, body=body))
        campaign = store.campaigns()[0].id
        planned = store.conversations(campaign)
        failed = planned[0].model_copy(update={"id": "f" * 32, "repeat": 1})
        store.plan(campaign, [*planned, failed])
        log = store.log(planned[0].id)
        asyncio.run(store.save_failure(failed.id, "converse", "it broke", log))
    return path


@pytest.fixture(scope="session")
def written_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a campaign without models, which can go on anywhere."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "campaign.yaml").write_text(_CAMPAIGN, "utf-8")
    ended = command(folder, "run", "campaign.yaml", "--store", "sqlite:///store.db")
    assert ended.code == 0, ended.err
    return folder / "store.db"


def _one_line(ended: Ended) -> None:
    assert ended.code in (0, 2, 3), ended.err
    if ended.code == 2:
        shown = ("reading data", "conversations ·")
        lines = [each for each in ended.err.splitlines() if not any(s in each for s in shown)]
        if '"fine":false' in ended.out:  # doctor finds it, and says so in its table
            return
        assert len(lines) == 1, ended.err
        assert lines[0].startswith("recjury: ")


def _tried(base: Path, commands: tuple[tuple[str, ...], ...], folder: Path) -> Iterator[Edit]:
    """Apply each edit to a copy of `base`, and run one of the commands, in turn, on it."""
    with Store.open(str(base), read_only=True) as store:
        campaign = store.campaigns()[0].id
        ids = {"CAMPAIGN": campaign, "CONVERSATION": store.conversations(campaign)[0].id}
    (folder / "campaign.yaml").write_text(_CAMPAIGN, "utf-8")
    number = 0
    for edit in edits(base):
        shutil.rmtree(folder / "task", ignore_errors=True)
        for name in ("store.db", "store.db-wal", "store.db-shm"):
            (folder / name).unlink(missing_ok=True)
        shutil.copy(base, folder / "store.db")
        if edit.apply(folder / "store.db"):
            number += 1
            arguments = (ids.get(each, each) for each in commands[number % len(commands)])
            try:
                _one_line(command(folder, *arguments, "--store", "sqlite:///store.db"))
            except BaseException as error:
                error.add_note(f"{edit}: {commands[number % len(commands)]}")
                raise
            yield edit


@pytest.mark.long
def test_readers_of_an_edited_store_say_so_in_one_line(read_store: Path, tmp_path: Path) -> None:
    assert len(list(_tried(read_store, _READING, tmp_path))) > 200


@pytest.mark.long
def test_a_campaign_goes_on_in_an_edited_store_or_says_why_not(
    written_store: Path, tmp_path: Path
) -> None:
    assert len(list(_tried(written_store, _WRITING, tmp_path))) > 100


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (Edit("campaign", "name", b"\xff"), "of table campaign"),
        (Edit("campaign", "name", "x"), "of table campaign"),
        (Edit("campaign", "id", b"\xff"), "of table campaign"),
        (Edit("campaign_conversation", "ordinal", 7), "of table campaign_conversation"),
        (
            Edit("campaign_conversation", "set_aside", 1, once=True),
            "of table campaign_conversation",
        ),
        (Edit("schema_version", "secret", b"x"), "of table schema_version"),
        (Edit("stage", "seal", "x"), "stage converse of"),
        (Edit("log", "digest", "x"), "the log of conversation"),
        (Edit("evaluation", "judging", b"\xff"), "`recjury store verify` names the row"),
        (Edit("rating", "score", "x"), "the rating of"),
        (Edit("run", "setup", "x"), "run 1 of campaign"),
    ],
    ids=str,
)
def test_an_edited_value_is_named_with_its_table_and_row(
    written_store: Path, tmp_path: Path, edit: Edit, named: str
) -> None:
    shutil.copy(written_store, tmp_path)
    assert edit.apply(tmp_path / "store.db")
    # What is only counted is not compared with its seal.
    reading = ("status",) if edit.table in ("campaign", "run") else ("export", "out")
    ended = command(tmp_path, *reading, "--store", "sqlite:///store.db")
    _one_line(ended)
    assert ended.code == 2
    assert named in ended.err
    assert "changed after it was written" in ended.err
