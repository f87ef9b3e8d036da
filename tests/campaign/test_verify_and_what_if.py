"""Verification, what-if and dry runs: the run itself with another provider."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recjury.campaign import Change, WhatIf, dry_run, run, verify, what_if
from recjury.errors import UserError
from recjury.records import statements_of
from recjury.store import Store
from tests.campaign.campaigns import Counting, config, honest, play
from tests.campaign.test_run import unreadable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    play(tmp_path / "s.db", config(), unreadable(1))
    return tmp_path / "s.db"


def debated(path: Path) -> str:
    """The first conversation with a debate."""
    with Store(path, readonly=True) as store:
        rows = store.evaluations("small")
        return next(row.conversation for row in rows if statements_of(store.findings(row.id)))


def asked(
    path: Path, *, round_: int = 1, script: Counting | None = None, **changes: Change
) -> WhatIf:
    names = {name.replace("_", " "): change for name, change in changes.items()}
    opened = script or Counting()
    with Store(path) as store:
        work = what_if(store, debated(path), names, round_=round_, open_provider=opened)
        return asyncio.run(work)


def test_every_evaluation_comes_out_equal(path: Path) -> None:
    with Store(path, readonly=True) as store:
        found = asyncio.run(verify(store, "small"))
    assert (found.equal, found.differing, found.changed) == (8, {}, 0)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE rating SET score = 3 - score WHERE metric = 'novelty' AND score <> 1.5",
        "UPDATE statement SET score = 99 WHERE role = 'Linguist' AND round = 1",
        "UPDATE rating SET score = 1 WHERE metric = 'overall'",
        "UPDATE rating SET status = 'fine' WHERE metric = 'novelty'",
        "UPDATE text SET text = replace(text, '<rating', '<rating>') WHERE text LIKE '%<rating%'",
    ],
)
def test_what_was_altered_is_found(path: Path, change: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change)
    with Store(path, readonly=True) as store:
        assert asyncio.run(verify(store, "small")).differing


def test_a_changed_evaluator_is_not_tried(path: Path) -> None:
    with Store(path) as store:
        changed = config(evaluators=["outcome", {"kind": "core", "debate": {"max_rounds": 3}}])
        asyncio.run(run(changed, store, open_provider=Counting(), limit=1))
    with Store(path, readonly=True) as store:
        found = asyncio.run(verify(store, "small"))
    assert found.changed == 4
    assert not found.differing


def test_what_if_keeps_what_was_before_and_plays_the_rest(path: Path) -> None:
    both = asked(path, linguist=Change(score=7))
    first = [said for said in both.after.statements if said.round == 1]
    assert [said.score for said in first if said.role == "Linguist"] == [7]
    assert all(said in both.before.statements for said in first if said.role != "Linguist")
    assert both.after.rounds == 2
    assert both.before != both.after


def test_a_second_look_asks_nothing(path: Path) -> None:
    asked(path, linguist=Change(score=7))
    script = Counting()
    asked(path, script=script, linguist=Change(score=7))
    assert script.requests == []


def test_the_settings_are_those_of_a_campaign_that_still_rates_so(path: Path) -> None:
    other = {"name": "other", "model": {"name": "scripted", "max_tokens": 300}}
    play(path, config(name="other"), unreadable(1))
    play(path, config(**other), unreadable(1))
    both = asked(path, linguist=Change(score=7))
    with Store(path) as store:
        assert both.campaign == "small"
        assert both.sent == store.spent("small").calls - store.spent("other").calls
        refused = what_if(store, debated(path), {}, campaign="other", dry_run=True)
        with pytest.raises(UserError, match="other has changed"):
            asyncio.run(refused)


def test_a_dry_run_counts_calls_and_sends_none(path: Path) -> None:
    script = Counting()
    with Store(path, readonly=True) as store:
        changes = {"linguist": Change(score=7)}
        work = what_if(store, debated(path), changes, dry_run=True, open_provider=script)
        expected = asyncio.run(work).sent
    assert (asked(path, linguist=Change(score=7)).sent, script.requests) == (expected, [])


def test_nothing_changed_is_the_same_debate(path: Path) -> None:
    both = asked(path)
    assert both.after == both.before


def test_another_text_is_what_the_others_read(path: Path) -> None:
    script = Counting()
    asked(path, script=script, common_user=Change(text="It wasted my evening."))
    assert all(
        "It wasted my evening." in "".join(m.text for m in r.messages) for r in script.requests
    )


@pytest.mark.parametrize(("role", "round_"), [("nobody", 1), ("linguist", 5)])
def test_what_is_not_there_is_one_line(path: Path, role: str, round_: int) -> None:
    conversation, changes = debated(path), {role: Change(score=1)}
    with Store(path) as store, pytest.raises(UserError, match=r"nobody|round"):
        asyncio.run(what_if(store, conversation, changes, round_=round_, open_provider=Counting()))


def test_a_dry_run_is_near_the_run_and_writes_nothing(tmp_path: Path) -> None:
    campaign = config(scenarios=[{"corpus": "sample", "limit": 8}])
    found = asyncio.run(dry_run(campaign))
    sent = play(tmp_path / "s.db", campaign).sent
    assert found.trials == 16
    assert abs(found.calls - sent) <= 0.1 * sent
    assert found.dollars is not None
    with Store(tmp_path / "s.db", readonly=True) as store:
        assert asyncio.run(dry_run(campaign, store)).calls == 0


def test_a_dry_run_scales_a_sample_up() -> None:
    campaign = config(scenarios=["sample"], repeats=3)
    all_ = asyncio.run(dry_run(campaign))
    assert all_.trials == 32 * 2 * 3
    some = asyncio.run(dry_run(campaign, limit=8))
    assert 2.5 <= all_.calls / some.calls <= 5.5


def test_an_unknown_price_stays_unknown() -> None:
    campaign = config(model={"name": "scripted"})
    assert asyncio.run(dry_run(campaign, limit=1)).dollars is None


def test_the_script_is_the_same_each_time(tmp_path: Path) -> None:
    """What the tests above rest on."""
    play(tmp_path / "a.db", config(), honest)
    play(tmp_path / "b.db", config(), honest)
    from tests.campaign.campaigns import contents

    assert contents(tmp_path / "a.db") == contents(tmp_path / "b.db")
