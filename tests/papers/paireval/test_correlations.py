"""The analyses of PairEval: numbers and kinds of examples, places, exhaustive comparison."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from recjury.corpora.response_sets import read_response_set
from recjury.errors import CallFailed, ConfigError
from recjury.judges.paireval.comparison import Comparer, LlmPairJudge, PairOdds
from recjury.papers.paireval.correlations import (
    AnalysisRow,
    RatedSet,
    correlations_of_draws,
    example_pool,
    exhaustive_rows,
    position_rows,
)
from recjury.records import ChatRequest, Response
from tests.judges.paireval.comparing import better_by, judging, number_in, said
from tests.judges.paireval.sets import write_folder

SET = "dailydialog-zhao"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("sets"))


def _rated(folder: Path) -> list[RatedSet]:
    return [RatedSet(SET, read_response_set(folder, SET))]


def _judge(first: float = 0.0) -> tuple[LlmPairJudge, list[ChatRequest]]:
    gateway, requests = judging(first=first)
    return LlmPairJudge(Comparer(gateway, "judge")), requests


def test_figures_for_several_numbers_share_their_comparisons(folder: Path) -> None:
    judge, requests = _judge()
    rows = asyncio.run(
        correlations_of_draws(
            judge, _rated(folder), example_pool(folder), kinds=("random", "test"), draws=2
        )
    )
    assert [(row.kind, row.number) for row in rows] == [
        (kind, number) for kind in ("random", "test") for number in (1, 2, 3)
    ]
    # Of the set itself, the three examples of a draw are left out.
    assert [row.n for row in rows] == [8] * 3 + [5] * 3
    assert all(row.spearman == pytest.approx(1) for row in rows)
    assert all(row.pearson is not None and row.pearson > 0.8 for row in rows)
    assert all(row.draws == 2 and row.unscored == 0 for row in rows)
    assert len(requests) <= 2 * 2 * (8 * 3 + 5 * 3)


def test_the_spread_is_that_over_draws(folder: Path) -> None:
    judge, _ = _judge()
    (row,) = asyncio.run(
        correlations_of_draws(judge, _rated(folder), example_pool(folder), numbers=(1,), draws=15)
    )
    assert row.draws == 15
    assert row.pearson_sd is not None
    assert 0 < row.pearson_sd < 0.1
    assert row.spearman_sd == pytest.approx(0, abs=1e-9)


def test_a_preference_for_a_place_is_measured_and_taken_out_by_both_orders(folder: Path) -> None:
    judge, _ = _judge(first=1.5)
    rows, (bias,) = asyncio.run(position_rows(judge, _rated(folder), example_pool(folder), draws=2))
    assert [row.position for row in rows] == ["first", "second", "both"]
    assert bias.comparisons == 2 * 8
    assert bias.first > 0.6
    assert bias.changed > 0
    unbiased, _ = _judge(first=0)
    _, (none,) = asyncio.run(position_rows(unbiased, _rated(folder), example_pool(folder), draws=2))
    assert none.first == pytest.approx(0.5)
    assert none.changed == 0


def test_exhaustive_comparison_asks_for_every_pair(folder: Path) -> None:
    judge, requests = _judge()
    (row,) = asyncio.run(exhaustive_rows(judge, _rated(folder)))
    assert (row.kind, row.number, row.n) == ("exhaustive", 7, 8)
    assert row.spearman == pytest.approx(1)
    assert len(requests) == 8 * 7


def test_what_cannot_be_asked_is_counted_and_not_correlated(folder: Path) -> None:
    answer = better_by(number_in)
    gateway, _ = judging(
        script=lambda asked: (
            CallFailed("gone") if "worth 3" in asked.messages[-1].text else answer(asked)
        )
    )
    judge = LlmPairJudge(Comparer(gateway, "judge"))
    (row,) = asyncio.run(
        correlations_of_draws(judge, _rated(folder), example_pool(folder), numbers=(1,), draws=1)
    )
    assert (row.n, row.unscored) == (7, 1)
    assert judge.unscored == {"gone": 1}


def test_a_judge_that_says_the_same_of_all_has_no_correlation(folder: Path) -> None:
    gateway, _ = judging(script=lambda _: said({"A": 0.5, "B": 0.5}))
    judge = LlmPairJudge(Comparer(gateway, "judge"))
    (row,) = asyncio.run(
        correlations_of_draws(judge, _rated(folder), example_pool(folder), numbers=(1,))
    )
    assert (row.pearson, row.spearman, row.pearson_sd) == (None, None, None)


def test_too_few_examples_are_an_error(folder: Path) -> None:
    judge, _ = _judge()
    with pytest.raises(ConfigError, match="4 comparison examples are wanted, and there are 2"):
        asyncio.run(
            correlations_of_draws(
                judge, _rated(folder), example_pool(folder)[:2], numbers=(4,), draws=1
            )
        )


class _Lengths:
    """A judge without a model: the longer response is better."""

    name = "longer"

    async def compare(self, pairs: Sequence[tuple[Response, Response]]) -> list[PairOdds | None]:
        gaps = [len(one.text) - len(other.text) for one, other in pairs]
        odds = [0.5 + 0.01 * max(-40, min(40, gap)) for gap in gaps]
        return [PairOdds(odd, odd) for odd in odds]


def test_any_judge_of_pairs_can_be_analysed(folder: Path) -> None:
    rows: list[AnalysisRow] = asyncio.run(
        correlations_of_draws(_Lengths(), _rated(folder), example_pool(folder), numbers=(1,))
    )
    assert [row.judge for row in rows] == ["longer"]
