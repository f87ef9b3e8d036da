"""Shards of a campaign, merged, are what one process leaves."""

import asyncio
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import recjury
from recjury.campaign import CampaignConfig, run_campaign
from recjury.campaign.provenance import code_digest
from recjury.demo.popular import Popular
from recjury.errors import ConfigError, StoreError, SystemFailed
from recjury.records import SystemReply
from recjury.results import summarise
from recjury.store import Selection, Shard, Store
from recjury.store.merging import Merged, copy_store, merge_stores
from tests.cli.front_door import Command
from tests.report.filling import CAMPAIGN, Played, fill

CONFIG: dict[str, Any] = {
    "scenarios": [{"corpus": "sample", "limit": 8}],
    "systems": [
        "retrieval",
        {"kind": "python", "name": "popular", "path": "recjury.demo.popular:Popular"},
    ],
    "evaluators": ["core", "outcome"],
}
PARTS = 4
TIMED = "outcome.seconds_per_turn"


def _run(path: Path, selection: Selection = Selection(), **changes: object) -> str:  # noqa: B008
    config = CampaignConfig.model_validate({**CONFIG, **changes})
    return asyncio.run(run_campaign(config, str(path), selection=selection)).campaign


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The stores of all parts."""
    folder = tmp_path_factory.mktemp("shards")
    paths = [folder / f"{number}.db" for number in range(1, PARTS + 1)]
    for number, path in enumerate(paths, start=1):
        _run(path, Selection(shard=Shard(number, PARTS)))
    return paths


def _copy(path: Path, into: Path) -> None:
    """With what its write-ahead log has."""
    with sqlite3.connect(path) as connection, sqlite3.connect(into) as copy:
        connection.backup(copy)


def _merged(shards: list[Path], into: Path) -> Merged:
    return merge_stores([str(path) for path in shards], str(into))


def _said(path: Path, campaign: str) -> tuple[object, ...]:
    """All that does not depend on the clock."""
    with Store.open(str(path), read_only=True) as kept:
        results = [
            (each.conversation, each.log, sorted(own.evaluation for own in each.evaluations))
            for each in kept.results(campaign)
        ]
        summary = summarise(kept, campaign)
        systems = {
            name: {m: own for m, own in each.items() if m != TIMED}
            for name, each in summary.systems_json().items()
        }
        held = [
            debate.verdict
            for each in kept.debates(campaign)
            if (debate := kept.debate(each.evaluation)) is not None
        ]
    return results, systems, summary.conversations, summary.evaluations, held


def test_merged_shards_are_what_one_process_leaves(shards: list[Path], tmp_path: Path) -> None:
    campaign = _run(tmp_path / "one.db")
    found = _merged(shards, tmp_path / "all.db")
    assert (found.conversations, found.conflicts) == (16, ())
    assert _said(tmp_path / "all.db", campaign) == _said(tmp_path / "one.db", campaign)
    with Store.open(str(tmp_path / "all.db"), create=False) as kept:
        assert kept.summarise()[1:] == (0, 0)
        assert all(not kept.integrity(each.id) for each in kept.planned(campaign))


def test_shards_are_even(shards: list[Path]) -> None:
    for path in shards:
        with Store.open(str(path), read_only=True) as kept:
            played = Counter(each.scenario for each in kept.conversations())
        assert sorted(played.values()) == [2, 2]


def test_what_failed_in_a_shard_is_asked_again_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> SystemReply:
        raise SystemFailed("no answer")

    popular = {**CONFIG["systems"][1], "isolate": "thread"}
    shard = Selection(shard=Shard(3, PARTS))
    with monkeypatch.context() as patch:
        patch.setattr(Popular, "respond", fail)
        campaign = _run(tmp_path / "3.db", shard, systems=[popular])
    _run(tmp_path / "3.db", shard._replace(failed=True), systems=[popular])
    with Store.open(str(tmp_path / "3.db"), read_only=True) as kept:
        assert kept.counts(campaign).conversations == (2, 2, 0)


def test_a_merge_may_be_repeated_and_continued(shards: list[Path], tmp_path: Path) -> None:
    into = tmp_path / "all.db"
    _merged(shards[:2], into)
    _merged(shards, into)
    once = into.read_bytes()
    assert _merged(shards, into) == Merged()
    with sqlite3.connect(into) as connection:
        (calls,) = connection.execute("SELECT count(*) FROM call").fetchone()
    campaign = _run(into)  # nothing is left to do
    with sqlite3.connect(into) as connection:
        assert connection.execute("SELECT count(*) FROM call").fetchone() == (calls,)
        links = connection.execute(
            "SELECT count(*) FROM campaign_conversation WHERE campaign = ?", (campaign,)
        )
        assert links.fetchone() == (16,)
    assert once


def test_different_results_are_listed_and_the_first_stays(tmp_path: Path) -> None:
    paths = [tmp_path / "a.db", tmp_path / "b.db"]
    for path, hit_at, factor in zip(paths, (1, 2), (3.0, 1.0), strict=True):
        with Store.open(str(path)) as kept:
            fill(kept, [Played("a", "1", hit_at=hit_at), Played("a", "2", [factor] * 12)])
    found = _merged(paths, tmp_path / "all.db")
    kinds = sorted(each.partition(":")[0].rpartition(" ")[0] for each in found.conflicts)
    assert kinds == ["conversation", "stage rate of evaluation"]
    assert (found.conversations, found.evaluations) == (2, 4)
    with Store.open(str(tmp_path / "all.db")) as kept:
        first, second = kept.results(CAMPAIGN)
        assert {each.score for each in second.evaluations[1].ratings} == {3.0, 60.0}
    with Store.open(str(paths[0])) as kept:
        assert first.log == next(kept.results(CAMPAIGN)).log


def test_the_command_takes_urls(shards: list[Path], command: Command) -> None:
    url = f"sqlite:///{shards[0]}"
    ended = command("store", "merge", url, "--into", "sqlite:///all.db", "--json")
    assert json.loads(ended.out)["conversations"] > 0
    assert json.loads(command("store", "verify", url, "--json").out)["problems"] == []
    assert json.loads(command("store", "summarise", "all.db", "--json").out)["changed"] == 0


def test_another_campaign_is_not_merged(shards: list[Path], tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "other.db")) as kept:
        fill(kept, [Played("a", "1")])
    for into in (tmp_path / "all.db", shards[0]):
        said = r"other\.db and .*1\.db have no campaign in common: another seed"
        with pytest.raises(StoreError, match=said):
            _merged([shards[0], tmp_path / "other.db"][into == shards[0] :], into)
    assert not (tmp_path / "all.db").exists()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE rating SET score = 0 WHERE score > 0",
        "DELETE FROM rating WHERE position = 1",
        "UPDATE log SET body = replace(body, 'you', 'You')",
        "UPDATE conversation SET system = 'better'",
        "UPDATE evaluation SET judging = 1",
        "UPDATE statement SET text = 'x'",
    ],
)
def test_an_altered_store_is_not_merged(shards: list[Path], tmp_path: Path, change: str) -> None:
    altered = tmp_path / "altered.db"
    _copy(shards[1], altered)
    with sqlite3.connect(altered) as connection:
        connection.execute(change)
    into = tmp_path / "all.db"
    with pytest.raises(StoreError, match=r"altered\.db: .* was changed after it was written"):
        _merged([shards[0], altered], into)
    with pytest.raises(StoreError, match=r"the store is incomplete, .*: add what is missing"):
        Store.open(str(into))
    with pytest.raises(StoreError, match=r"all\.db: the store is incomplete"):
        _merged([shards[0], into], tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()


def test_an_altered_store_leaves_no_copy_that_looks_sound(
    shards: list[Path], tmp_path: Path
) -> None:
    altered, into = tmp_path / "altered.db", tmp_path / "copy.db"
    _copy(shards[0], altered)
    with sqlite3.connect(altered) as connection:
        connection.execute("UPDATE rating SET score = 1 WHERE score = 0")
    with pytest.raises(StoreError, match=r"altered\.db: .* was changed after it was written"):
        copy_store(str(altered), str(into))
    with pytest.raises(StoreError, match="the store is incomplete"):
        Store.open(str(into), read_only=True)
    assert _merged(shards[:1], into).calls == 0
    with Store.open(str(into), read_only=True) as kept:
        assert kept.verify().problems == ()


def test_nothing_added_to_a_store_makes_it_incomplete(shards: list[Path], tmp_path: Path) -> None:
    altered, into = tmp_path / "altered.db", tmp_path / "all.db"
    _merged(shards[:1], into)
    _copy(shards[1], altered)
    with sqlite3.connect(altered) as connection:
        connection.execute("UPDATE rating SET score = 1 WHERE score = 0")
    with pytest.raises(StoreError, match="was changed after it was written"):
        _merged([altered], into)
    assert _merged(shards, into).conversations


def test_other_code_is_said_and_not_merged(
    shards: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = tmp_path / "other.db"
    _copy(shards[1], other)
    code = f"recjury {recjury.__version__} (code {code_digest()[:12]})"
    with monkeypatch.context() as patch:
        patch.setattr("recjury.campaign.campaign_store.code_digest", lambda: "0123abc")
        _run(other, Selection(shard=Shard(2, PARTS)))
    both = f"{code} and goes on with recjury {recjury.__version__} (code 0123abc)"
    assert both in capsys.readouterr().err
    into = tmp_path / "all.db"
    with pytest.raises(StoreError, match=r"other\.db ran with .*code 0123abc.*1\.db with recjury"):
        _merged([shards[0], other], into)
    assert not into.exists()
    _run(other, Selection(shard=Shard(2, PARTS)))  # the way out: with this code, it is complete
    assert not _merged([shards[0], other], into).conflicts


def test_the_folder_where_a_shard_was_started_is_not_its_code(
    shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recjury.campaign.campaign_store.working_commit", lambda: "0123abc")
    _run(tmp_path / "other.db", Selection(shard=Shard(2, PARTS)))
    assert not _merged([shards[0], tmp_path / "other.db"], tmp_path / "all.db").conflicts


def test_a_store_remembers_how_it_was_divided(shards: list[Path], tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    _copy(shards[2], own)
    with pytest.raises(StoreError, match=r"own\.db has part 3/4 of .*, and not 1/3: .* leave out"):
        _run(own, Selection(shard=Shard(1, 3)))
    _run(own, Selection(shard=Shard(1, 4)))
    _run(own)  # all of it
    _run(own, Selection(shard=Shard(1, 3)))


def test_a_store_is_not_merged_into_itself(shards: list[Path]) -> None:
    with pytest.raises(StoreError, match="cannot be merged into itself"):
        _merged(shards, shards[0])


def test_a_campaign_that_may_stop_has_no_shards(tmp_path: Path) -> None:
    stop = {"pairs": 0.95, "min_scenarios": 4}
    with pytest.raises(ConfigError, match="leave out --shard"):
        _run(tmp_path / "x.db", Selection(shard=Shard(1, 2)), stop=stop)
