"""How much of a change is the system's, and how much the judge's."""

import json

import pytest

from recjury.errors import StoreError
from recjury.results import explain_change
from recjury.store import Store
from tests.cli.front_door import recjury
from tests.report.filling import Played, evaluator, fill

OLD, NEW = (evaluator("core"),), (evaluator("core", version=1),)
RECORDS = range(8)


def _played(verdicts: list[float], said: str = "Try Heat.") -> list[Played]:
    return [
        Played("mine", str(record), scores=[(verdict,) * 4], said=said, settings={"run": said})
        for record, verdict in zip(RECORDS, verdicts, strict=True)
    ]


def _two_runs(store: Store) -> None:
    """The later judge gives 6 less to the same conversations; the system gained 10."""
    fill(store, _played([50.0 + n for n in RECORDS]), campaign="one", evaluators=OLD)
    fill(store, _played([44.0 + n for n in RECORDS]), campaign="one", evaluators=NEW)
    later = _played([54.0 + n for n in RECORDS], said="Try Alien.")
    fill(store, later, campaign="two", evaluators=NEW)


def test_the_parts_are_those_that_were_planted_and_add_up(store: Store) -> None:
    _two_runs(store)
    found = explain_change(store, "mine", "one", "two", metrics=["core.overall"])
    (own,) = found.values()
    assert (own.total.difference, own.judge.difference, own.system.difference) == (4.0, -6.0, 10.0)
    assert own.total.n == 8
    assert own.system.low == 10.0


def test_by_one_judge_all_is_the_systems(store: Store) -> None:
    fill(store, _played([50.0] * 8), campaign="one", evaluators=OLD)
    fill(store, _played([60.0] * 8, said="Try Alien."), campaign="two", evaluators=OLD)
    own = explain_change(store, "mine", "one", "two")["core.overall"]
    assert (own.judge.difference, own.system.difference) == (0.0, 10.0)


def test_what_the_later_judge_has_not_rated_is_said(store: Store) -> None:
    fill(store, _played([50.0] * 8), campaign="one", evaluators=OLD)
    fill(store, _played([60.0] * 8, said="Try Alien."), campaign="two", evaluators=NEW)
    with pytest.raises(StoreError, match="judge it again, `recjury judge --campaign one"):
        explain_change(store, "mine", "one", "two")
    with pytest.raises(StoreError, match="did you mean 'mine'"):
        explain_change(store, "mime", "one", "two")


def test_the_command(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _two_runs(store)
    at = ("--store", f"sqlite:///{store.location}")

    def command(*arguments: str) -> tuple[int, str, str]:
        return recjury(monkeypatch, capsys, "compare", *arguments, *at)

    code, out, err = command("mine", "--before", "one", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["before"], found["after"]) == ("one", "two")
    assert found["metrics"]["core.overall"]["judge"]["difference"] == -6.0
    assert "of the judge" in command("mine", "--before", "one")[1]
    assert "name a campaign before" in command("mine", "--before", "two")[2]
    assert "is for one system" in command("mine", "other", "--before", "one")[2]
