"""A campaign in parts on several machines, whose stores are merged."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pandas.testing import assert_frame_equal
from sqlalchemy import text

from recjury.campaign import Config, Shard, run
from recjury.errors import UserError
from recjury.results import means, ratings, scores
from recjury.store import Merged, Store, merge
from tests.campaign.campaigns import config, contents, honest, play

PARTS = 2


def campaign(**changes: Any) -> Config:
    return config(scenarios=[{"corpus": "sample", "limit": 4}], **changes)


def merged(into: Path, *paths: Path) -> list[Merged]:
    found = []
    for path in paths:
        with Store(path, readonly=True) as source, Store(into) as target:
            found.append(merge(source, target))
    return found


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """The stores of two parts."""
    paths = [tmp_path / f"{number}.db" for number in range(1, PARTS + 1)]
    for number, path in enumerate(paths, 1):
        done = play(path, campaign(), shard=Shard(number, PARTS))
        assert (done.left_before, done.left) == (4, 0)
    return paths


def test_merged_parts_are_one_campaign(tmp_path: Path, parts: list[Path]) -> None:
    whole = tmp_path / "whole.db"
    play(whole, campaign())
    added = merged(tmp_path / "all.db", *parts)
    assert [each.conversations for each in added] == [4, 4]
    assert contents(tmp_path / "all.db") == contents(whole)
    assert merged(tmp_path / "all.db", *parts, whole) == [Merged(0, 0, ())] * 3
    with Store(whole, readonly=True) as one, Store(tmp_path / "all.db") as other:
        first, second = (means(scores(ratings(store, "small"))) for store in (one, other))
        assert_frame_equal(first, second)
        assert not other.check()


def test_a_merged_campaign_goes_on(tmp_path: Path, parts: list[Path]) -> None:
    merged(tmp_path / "all.db", parts[0])
    assert play(tmp_path / "all.db", campaign()).left_before == 4


def test_other_ratings_are_named_and_the_first_stay(tmp_path: Path, parts: list[Path]) -> None:
    def other(request: Any, code: str) -> str:
        return honest(request, code).replace(">3</rating>", ">1</rating>")

    play(tmp_path / "other.db", campaign(), script=other)
    into = tmp_path / "all.db"
    (_, again) = merged(into, parts[0], tmp_path / "other.db")
    before = contents(parts[0])["ratings"]
    assert len(again.differing) > 0
    assert set(before) <= set(contents(into)["ratings"])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"systems": ["popular", {"kind": "chatcrs", "version": 2}]}, "system chatcrs"),
        ({"evaluators": ["outcome"]}, "evaluator core"),
        ({"session": {"max_rounds": 4}}, "system"),
    ],
)
def test_parts_of_another_campaign_are_refused(
    tmp_path: Path, parts: list[Path], change: dict[str, Any], what: str
) -> None:
    play(tmp_path / "other.db", campaign(**change))
    with pytest.raises(UserError, match=what):
        merged(tmp_path / "all.db", parts[0], tmp_path / "other.db")


def test_an_altered_store_is_refused(tmp_path: Path, parts: list[Path]) -> None:
    with Store(parts[1]) as store, store.database.transaction() as connection:
        connection.execute(text("UPDATE text SET text = 'changed' WHERE length(text) > 50"))
    with pytest.raises(UserError, match="is not whole"):
        merged(tmp_path / "all.db", *parts)


def test_a_part_that_goes_on_is_refused(tmp_path: Path, parts: list[Path]) -> None:
    with Store(parts[1]) as store:
        store.start("small", {}, {})
        with pytest.raises(UserError, match="is being run"):
            merged(tmp_path / "all.db", *parts)


def test_a_part_stops_at_its_scenarios(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        work = run(
            campaign(systems=["popular"], users=["demo"], evaluators=["outcome"]),
            store,
            shard=Shard(3, 3),
        )
        assert asyncio.run(work).left_before == 1
