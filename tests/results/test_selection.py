"""Which trials are chosen, by names, conditions and failures; and what is said if none is."""

import asyncio

import pytest

from recjury.errors import UserError
from recjury.results import Selection, comparison, conversation_list, summary, trials
from recjury.store import PlannedConversation, Store
from tests.results.filled import Scores, evaluator, fill, log_of

SCORES: Scores = {"overall": [10.0, 50.0, None], "rounds": [1.0, 2.0, 3.0]}


@pytest.fixture
def films(store: Store) -> Store:
    """Two systems and three scenarios; `two` has another ending, and loses one verdict."""
    logs = {"two": log_of("s0", "No.", ending="hit")}
    fill(store, {"one": {**SCORES, "overall": [60.0, 70.0, 80.0]}, "two": SCORES}, logs=logs)
    return store


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (Selection(), "one0 one1 one2 two0 two1 two2"),
        (Selection(systems=("two",)), "two0 two1 two2"),
        (Selection(systems=("one", "two"), scenarios=("s1",)), "one1 two1"),
        (Selection(scenarios=("sample/s2", "s0"), systems=("one",)), "one0 one2"),
        (Selection(where=("ending=hit",)), "two0 two1 two2"),
        (Selection(where=("ending!=hit", "core.rounds>=2")), "one1 one2"),
        (Selection(where=("core.overall < 40",)), "two0"),
        (Selection(where=("core.overall!=10", "system=two")), "two1"),
        (Selection(where=("corpus==sample", "overall=50")), "two1"),
        (Selection(where=("rounds=0", "repeat<1"), users=("llm",), systems=("one",)), None),
        (Selection(failed=True), "two2"),
    ],
)
def test_what_is_chosen(films: Store, selection: Selection, chosen: str | None) -> None:
    """Of a frame, of the list that replay shows, and of a plan alike."""
    frame = trials(films, "films")
    if chosen is None:
        with pytest.raises(UserError, match="leaves none of 3 conversations of --system one"):
            selection.of(frame)
        return
    rows = selection.of(frame)
    names = rows["system"].astype(str) + rows["scenario"].astype(str).str[1:]
    assert " ".join(sorted(names)) == chosen
    data = conversation_list(films, selection=selection).data["conversations"]
    assert " ".join(sorted(row["system"] + row["scenario"][1:] for row in data)) == chosen
    ids = selection.of_plan(films, "films", films.played("films"))
    assert ids == {row["id"] for row in data}


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"systems": ("tow",)}, r"--system tow: .*\(did you mean two\?\): there are one and two"),
        ({"scenarios": ("books/s1",)}, "no such scenario"),
        ({"where": ("ending=hti",)}, "did you mean hit"),
        ({"where": ("core.overal<40",)}, r"did you mean core\.overall"),
        ({"where": ("ending<hit",)}, "by = or !="),
        ({"where": ("core.overall<low",)}, "is a number, got 'low'"),
        ({"where": ("core.overall",)}, "expected a name, one of"),
        ({"where": ("core.overall<5",)}, "leaves none of 6 conversations"),
        ({"systems": ("one",), "failed": True}, "--failed leaves none of 3 .* --system one"),
    ],
)
def test_what_leaves_nothing_is_said(films: Store, selection: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Selection(**selection).of(trials(films, "films"))  # type: ignore[arg-type]


def test_a_name_that_two_evaluators_have_is_named_whole(store: Store) -> None:
    both = [evaluator("core"), evaluator("strict")]
    fill(store, {"one": SCORES}, evaluators=both)
    with pytest.raises(UserError, match=r"one of core\.overall and strict\.overall"):
        Selection(where=("overall<40",)).of(trials(store, "films"))


def test_a_repeat_with_the_same_log_has_the_score_of_the_first(store: Store) -> None:
    fill(store, {"one": SCORES}, repeats=2)
    chosen = Selection(where=("core.overall>=0",)).of(trials(store, "films"))
    assert list(chosen["repeat"]) == [0, 1, 0, 1]


def test_trials_that_nobody_played_are_chosen_by_name(films: Store) -> None:
    """A plan has more than the store: what is new has no ending and no score."""
    about = ("three", "1", "llm", "1", "sample", "s0", 0)
    plan = [*films.played("films"), PlannedConversation("new", 9, *about)]
    assert Selection(systems=("three",)).of_plan(films, "films", plan) == {"new"}
    assert "new" not in Selection(where=("core.overall<40",)).of_plan(films, "films", plan)
    with Store() as empty, pytest.raises(UserError, match="no column or metric"):
        Selection(where=("core.overall<40",)).of_plan(empty, "films", plan)


def test_a_comparison_of_chosen_trials(films: Store) -> None:
    """A part that was selected by its scores is said to be one."""
    found = comparison(films, selection=Selection(scenarios=("s0", "s1")))
    row = found.data["comparisons"][0]
    assert (row["n"], row["mean_a"], row["mean_b"]) == (2, 65, 30)
    assert "Only --scenario s0 --scenario s1: 4 conversations." in found.answer
    assert not any("what came of them" in note for note in found.notes)
    low = comparison(films, selection=Selection(where=("core.overall<75",)))
    assert any("what came of them" in note for note in low.notes)


def test_lost_scores_may_count_as_the_worst(films: Store) -> None:
    """`rounds` is better if lower and has no upper end, so the worst is the highest seen."""
    fill(films, {"one": {"overall": [90.0], "rounds": [1.0]}}, first=3)
    fails(films, PlannedConversation("f", 0, "two", "1111aaaa", "llm", "1", "sample", "s3", 0))
    assert comparison(films).data["comparisons"][0]["n"] == 2
    found = comparison(films, missing="worst")
    overall, rounds = found.data["comparisons"]
    assert (overall["n"], overall["mean_b"]) == (4, pytest.approx((10 + 50 + 0 + 0) / 4))
    assert rounds["mean_b"] == pytest.approx((1 + 2 + 3 + 3) / 4)
    assert "worst of their scale: 2 of" in found.answer
    of_all = summary(films, missing="worst")
    assert of_all.data["systems"]["two"]["core.overall"]["mean"] == overall["mean_b"]
    assert of_all.problems == summary(films).problems


def fails(store: Store, planned: PlannedConversation) -> None:
    """A conversation that its system failed."""
    run = store.start("films", {"name": "films"}, {})
    store.plan(run, [planned], [evaluator()])
    log = log_of(planned.scenario, "", ending="system failed")
    asyncio.run(store.save_log(planned.conversation, log, play="f", seconds=()))
    store.end(run, "finished")
