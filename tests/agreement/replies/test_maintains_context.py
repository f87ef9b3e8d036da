"""FACE* chooses instructions on the other set."""

import pytest

from recjury.agreement.replies.maintains_context import (
    ASPECT,
    USR_SETS,
    best_instructions,
    context_rows,
    face_star,
    log_of,
    maintained_context,
    pooled,
    with_context_target,
)
from recjury.agreement.replies.rows import RatedRow
from recjury.records import Speaker
from tests.agreement.replies.rated import row

ONE, OTHER = USR_SETS


def rated(name: str) -> list[RatedRow]:
    return [
        row(number, 0.0)._replace(
            set=name, id=f"{name}-{number}", ratings={ASPECT: (float(number), number + 1.0)}
        )
        for number in range(6)
    ]


ROWS = [with_context_target(each) for each in (*rated(ONE), *rated(OTHER))]
# "a" is right on one set and wrong on the other one, "b" the other way round; "c" never varies.
SCORES = {
    each.id: {
        "a": each.target if each.set == ONE else -each.target,
        "b": -each.target if each.set == ONE else each.target,
        "c": 1.0,
    }
    for each in ROWS
}


def test_the_rating_is_the_mean_over_annotators() -> None:
    assert [each.target for each in ROWS[:2]] == [0.5, 1.5]
    unrated = row(0, 3.0)._replace(set=ONE)
    assert context_rows([unrated, *ROWS, row(1, 3.0)]) == tuple(range(1, 13))


def test_an_instruction_is_chosen_on_the_other_set() -> None:
    star, chosen = face_star(ROWS, SCORES, 1)
    assert chosen == {ONE: ("b",), OTHER: ("a",)}
    assert star == [-each.target for each in ROWS]


def test_instructions_that_do_not_vary_come_last() -> None:
    assert best_instructions(ROWS[:6], SCORES, 3) == ("a", "b", "c")


def test_scores_are_pooled_over_the_instructions_that_are_there() -> None:
    some = {ROWS[0].id: {"a": 1.0, "b": 3.0}, ROWS[1].id: {}}
    assert pooled(ROWS[:3], some) == [2.0, None, None]
    assert pooled(ROWS[:2], some, ["a", "z"]) == [1.0, None]


def test_a_reply_is_the_one_system_turn_of_a_conversation() -> None:
    log = log_of(ROWS[0])
    assert log.scenario.record == ROWS[0].id
    assert [turn.text for turn in log.scenario.history] == ["Hi!"]
    assert [turn.speaker for turn in log.interaction] == [Speaker.SYSTEM]


def test_the_table_is_about_the_other_rating() -> None:
    table = maintained_context(
        [*ROWS, row(1, 3.0)], {"x": [each.target for each in ROWS] + [0.0]}, resamples=20, seed=0
    )
    assert table is not None
    found = {subset.set: own["x"] for subset, own in table.subsets.items()}
    assert {name: each.n for name, each in found.items()} == {ONE: 6, OTHER: 6}
    assert found[ONE].pearson.value == pytest.approx(1)
    assert maintained_context([row(1, 3.0)], {"x": [0.0]}, resamples=20, seed=0) is None
