"""One system as a grid of variants."""

from pathlib import Path
from typing import Any

import pytest

from recjury.errors import UserError
from recjury.records import factors, variants
from recjury.results import ratings
from recjury.store import Store
from tests.campaign.campaigns import config, play

GRID = {
    "kind": "chatcrs",
    "name": "chat",
    "vary": {"list_source": ["independent", "from_text"], "version": [1, 2]},
}


def test_each_combination_is_a_system_named_by_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    campaign = config(systems=["popular", GRID], evaluators=["outcome"])
    assert play(path, campaign).planned == 5 * 2
    with Store(path, readonly=True) as store:
        frame = ratings(store, "small")
    versions = dict(zip(frame["system"], frame["version"], strict=True))
    assert set(versions) == {"popular"} | {
        f"chat/list_source={source}/version={version}"
        for source in ("independent", "from_text")
        for version in (1, 2)
    }
    assert len(set(versions.values())) == 5, "what differs is in the identity"
    assert not play(path, campaign).left_before


def test_the_factors_of_a_grid_are_read_from_its_names() -> None:
    names = [settings["name"] for settings in variants(GRID)]
    read = factors(["popular", "a/b", *names])
    assert list(read) == names
    assert read[names[0]] == {"list_source": "independent", "version": "1"}


@pytest.mark.parametrize("vary", [["a"], {"version": 1}, {"version": [1]}, {"version": [1, 1]}])
def test_a_grid_without_two_values_for_each_key_is_refused(vary: Any, tmp_path: Path) -> None:
    campaign = config(systems=[{"kind": "chatcrs", "vary": vary}])
    with pytest.raises(UserError, match="vary"):
        play(tmp_path / "s.db", campaign)


def test_a_key_of_the_grid_that_stands_beside_it_is_refused(tmp_path: Path) -> None:
    both = {"kind": "chatcrs", "version": 1, "vary": {"version": [1, 2]}}
    with pytest.raises(UserError, match="version"):
        play(tmp_path / "s.db", config(systems=[both]))
