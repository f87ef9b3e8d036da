"""Parts of a campaign: what is selected, and what cannot be."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from recjury.cli.selecting import selection_of, with_shard
from recjury.errors import ConfigError, StoreError
from recjury.records import Status
from recjury.results import summarise
from recjury.store import PlannedConversation, Selection, Shard, Store
from tests.report.filling import CAMPAIGN, Played, fill

MANY = 60


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two systems on sixty scenarios of two corpora; one conversation failed, one lost a rating."""
    kept = Store.open(str(tmp_path / "kept.db"))
    several = [
        Played(system, str(number), corpus=f"sample/{'test' if number % 2 else 'valid'}")
        for number in range(MANY)
        for system in ("a", "b")
    ]
    several[0] = Played("a", "0", corpus="sample/valid", failure="no answer")
    lost = [None, *[2.0] * 11]
    several[2] = Played("a", "1", lost, unscored=Status.UNREADABLE)
    fill(kept, several)
    return kept


def _taken(store: Store, selection: Selection) -> set[str]:
    return set(store.selected(CAMPAIGN, selection) or ())


def test_everything_is_no_list(store: Store) -> None:
    assert store.selected(CAMPAIGN, Selection()) is None


def test_filters_hold_together(store: Store) -> None:
    assert len(_taken(store, Selection(systems=("a",)))) == MANY
    of_corpus = Selection(systems=("a",), where={"corpus": "sample/valid"})
    assert len(_taken(store, of_corpus)) == MANY // 2
    one = Selection(scenarios=("sample/test#1",))
    assert len(_taken(store, one)) == 2
    summary = summarise(store, CAMPAIGN, conversations=store.selected(CAMPAIGN, one))
    assert summary.conversations == (2, 2, 0)


def test_what_failed_is_what_lost_a_score_to_a_failure(store: Store) -> None:
    failed = store.planned(CAMPAIGN, store.selected(CAMPAIGN, Selection(failed=True)))
    assert [each.scenario for each in failed] == ["sample/valid#0", "sample/test#1"]


def test_shares_grow_and_have_all_systems(store: Store) -> None:
    few, more = (_taken(store, Selection(share=share)) for share in (0.2, 0.6))
    assert few < more
    for own in (few, more):
        scenarios = [each.scenario for each in store.planned(CAMPAIGN, own)]
        assert all(scenarios.count(each) == 2 for each in scenarios)
    assert 0.3 * MANY < len(more) / 2 < 0.9 * MANY


def _dealt(planned: Sequence[PlannedConversation], selection: Selection) -> set[str]:
    found = selection.taken(planned, lambda each: each, selection.shard.dealt())
    return {each.id for each in found}


def test_shards_are_disjoint_and_all_and_even() -> None:
    planned = [
        PlannedConversation(
            id=f"{repeat}{system}{number}", system=system, scenario=str(number), corpus="sample"
        )
        for repeat in range(3)
        for number in range(MANY + 2)
        for system in ("a", "b")
    ]
    parts = [_dealt(planned, Selection(shard=Shard(number, 4))) for number in (1, 2, 3, 4)]
    assert [len(each) / (3 * 2) for each in parts] == [16, 16, 15, 15]  # scenarios
    assert set().union(*parts) == {each.id for each in planned}
    assert _dealt(planned[:MANY], Selection(shard=Shard(2, 4))) < parts[1]
    for selection in (Selection(share=0.5), Selection(systems=("a",)), Selection(scenarios=("7",))):
        own = [_dealt(planned, selection._replace(shard=Shard(n, 4))) for n in (1, 2, 3, 4)]
        assert set().union(*own) == _dealt(planned, selection)
        assert all(some <= part for some, part in zip(own, parts, strict=True))


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (Selection(systems=("c",)), "--system: no conversation has c"),
        (Selection(scenarios=("sample/test#99",)), "no conversation has sample/test#99; did you"),
        (Selection(where={"corpsu": "x"}), "--where: no conversation has corpsu; did you mean"),
        (
            Selection(where={"corpus": "sample"}),
            "--where corpus: no conversation has sample, but sample/test, sample/valid$",
        ),
        (
            Selection(where={"scenario": "none"}),
            r"no conversation has none, but (sample/\w+#\d+, ){12}\.\.\.$",
        ),
        (
            Selection(scenarios=("sample/test#1",), where={"corpus": "sample/valid"}),
            "no conversation is selected",
        ),
        (Selection(systems=("b",), failed=True), "nothing of what is selected failed"),
    ],
)
def test_what_nothing_has_is_named(store: Store, selection: Selection, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        store.selected(CAMPAIGN, selection)


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(ConfigError, match="--share must be above 0 and at most 1"):
        selection_of(system=None, scenario=None, where=None, failed=False, share=share)


def _slurm(task: int, array: Sequence[int] = (1, 2, 3, 4)) -> dict[str, str]:
    values = {"ID": task, "COUNT": len(array), "MIN": array[0], "MAX": array[-1]}
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("named", "variables", "shard"),
    [
        ("2/8", {}, Shard(2, 8)),
        *(("slurm", _slurm(n), Shard(n, 4)) for n in (1, 4)),
        *(("slurm", _slurm(n, range(32)), Shard(n or 32, 32)) for n in (0, 1, 31)),
        *(("slurm:32", _slurm(n, [n]), Shard(n or 32, 32)) for n in (0, 1, 31)),
        ("slurm:8", _slurm(3, [1, 3, 7]), Shard(3, 8)),
        ("k8s:5", {"JOB_COMPLETION_INDEX": "4"}, Shard(5, 5)),
    ],
)
def test_a_shard_is_named_or_the_schedulers(
    named: str, variables: dict[str, str], shard: Shard
) -> None:
    assert with_shard(Selection(), named, variables).shard == shard


@pytest.mark.parametrize(
    ("named", "variables", "said"),
    [
        ("9/8", {}, "part 9 of 8 does not exist"),
        ("0/8", {}, "part 0 of 8 does not exist"),
        ("1/0", {}, "part 1 of 0 does not exist"),
        ("half", {}, "expected I/N"),
        ("k8s", {}, "expected I/N"),
        ("1:8", {}, "expected I/N"),
        ("slurm/8", {}, "expected I/N"),
        ("slurm:", {}, "expected I/N"),
        ("slurm", {}, "SLURM_ARRAY_TASK_MIN"),
        ("slurm:8", {}, "SLURM_ARRAY_TASK_ID, got ''"),
        ("slurm:8", _slurm(9, [9]), "part 9 of 8 does not exist"),
        # What was started again, or is no range: it is not known how many tasks there are.
        *(("slurm", _slurm(n, [n]), "as in --shard slurm:32") for n in (0, 1, 2)),
        *(("slurm", _slurm(3, some), "must be all tasks") for some in ([1, 3, 7], [2, 3])),
        ("k8s:5", {"JOB_COMPLETION_INDEX": "x"}, "JOB_COMPLETION_INDEX, got 'x'"),
        ("k8s:5", {"JOB_COMPLETION_INDEX": "5"}, "part 6 of 5 does not exist"),
    ],
)
def test_another_shard_is_refused(named: str, variables: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        with_shard(Selection(), named, variables)
