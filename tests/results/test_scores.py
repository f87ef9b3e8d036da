"""One number of each metric, whoever and however many rated."""

from collections.abc import Sequence

import pytest

from recjury.records import MEAN, Level, Rating, StageResult, Status, shown_ratings
from recjury.results.scores import scores_of
from recjury.store import ConversationResult, EvaluationResult
from recjury.store.summaries import scores_of_stage


def _rating(rater: str, score: float | None, turn: int | None = None) -> Rating:
    return Rating(
        evaluator=rater,
        factor="Some Aspect",
        score=score,
        status=Status.UNREADABLE if score is None else Status.SCORED,
        reason="no number in it" if score is None else "",
        level=Level.DIALOGUE if turn is None else Level.TURN,
        turn=turn,
    )


def _result(*judgings: Sequence[Rating]) -> ConversationResult:
    return ConversationResult(
        conversation="c",
        system="s",
        scenario="x#1",
        corpus="x",
        repeat=0,
        evaluations=tuple(
            EvaluationResult(
                evaluation=f"e{number}",
                label="own",
                judging=number,
                stages=frozenset(),
                failures={},
                scores=scores_of_stage(StageResult(tuple(ratings))),
            )
            for number, ratings in enumerate(judgings)
        ),
    )


@pytest.mark.parametrize(
    ("judgings", "value"),
    [
        ([[_rating("x", 4)]], 4),
        ([[_rating("x", 4), _rating("y", 1)]], 2.5),
        ([[_rating("x", 4), _rating("y", None)]], 4),
        ([[_rating("x", 4), _rating("y", 1), _rating(MEAN, 2)]], 2),
        ([[_rating("x", 4)], [_rating("x", 1)], [_rating("x", None)]], 2.5),
        ([[_rating("x", 4, 1), _rating("x", 2, 3), _rating("y", 0, 3)]], 2.5),
        ([[_rating("x", 4, 1), _rating("x", None, 3)]], 4),
    ],
)
def test_a_metric_has_one_value(judgings: Sequence[Sequence[Rating]], value: float) -> None:
    scores = scores_of(_result(*judgings))
    assert scores.values == {"own.some_aspect": value}
    assert scores.missing == {}


def test_what_nobody_scored_has_the_reason() -> None:
    scores = scores_of(_result([_rating("x", None)]))
    assert scores.values == {}
    assert scores.missing == {"own.some_aspect": (Status.UNREADABLE, "no number in it")}


def test_a_turn_that_a_metric_does_not_apply_to_hides_no_failure() -> None:
    none = _rating("x", None, 1).model_copy(
        update={"status": Status.NOT_APPLICABLE, "reason": "no list"}
    )
    scores = scores_of(_result([none], [none, _rating("x", None, 3)]))
    assert scores.missing == {"own.some_aspect": (Status.UNREADABLE, "no number in it")}
    scores = scores_of(_result([none]))
    assert scores.missing == {"own.some_aspect": (Status.NOT_APPLICABLE, "no list")}


def test_the_mean_of_several_judges_is_shown_alone() -> None:
    several = [_rating("x", 4), _rating(MEAN, 2.5), _rating("y", 1)]
    assert [each.evaluator for each in shown_ratings(several)["some_aspect"]] == [MEAN]
    assert len(shown_ratings(several[::2])["some_aspect"]) == 2
