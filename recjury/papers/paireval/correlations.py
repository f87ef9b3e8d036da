"""The analyses of PairEval (Park et al., 2024, section 4.3), for any judge of pairs.

Figures are means over several draws of the comparison examples. Draws are nested, so that figures
for one, two and three examples share their comparisons; a response that is itself drawn as an
example is left out of that draw.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from recjury.corpora.dialogues import read_dialogues
from recjury.corpora.leakage import rated_histories
from recjury.corpora.response_sets import LabelledResponse
from recjury.judges.paireval.comparison import LlmPairJudge, PairJudge, PairOdds
from recjury.judges.paireval.examples import draw, one_response_each
from recjury.judges.paireval.scorer import (
    DirectEvalScorer,
    ExhaustiveScorer,
    as_responses,
    mean_score,
)
from recjury.records import Record, Response
from recjury.stats.correlation import Correlation, correlate

EXAMPLES_OF = "dailydialog.validation"
TABLE_EXAMPLES = 3
ExampleKind = Literal["random", "test"]
ShownAt = Literal["first", "second", "both"]


class RatedSet(NamedTuple):
    """A set's name and its rated responses."""

    name: str
    rows: tuple[LabelledResponse, ...]

    @property
    def responses(self) -> tuple[Response, ...]:
        """The responses, in order."""
        return tuple(row.response for row in self.rows)


class AnalysisRow(Record):
    """Correlations with people's ratings of one set, in one setting: means over the draws.

    `kind` says where the examples come from: a corpus (random), the set itself (test), or all other
    responses (exhaustive); with `direct` there are none. `number` is how many there are. `position`
    is where the rated response is shown. `pearson_sd` and `spearman_sd` are standard deviations
    over draws. `n` is the lowest number of responses with a score in a draw, `unscored` the sum of
    those without one.
    """

    set: str
    judge: str
    kind: str
    number: int
    position: ShownAt = "both"
    draws: int
    n: int
    unscored: int
    pearson: float | None
    spearman: float | None
    pearson_sd: float | None = None
    spearman_sd: float | None = None


class PositionBias(Record):
    """How far a judge prefers a place, whatever is shown there, over `comparisons` in both orders.

    `first` is the mean probability of what is shown first (.5: no preference), `changed` the share
    of comparisons whose winner changes with the order.
    """

    set: str
    judge: str
    comparisons: int
    first: float
    changed: float


class _Draw(NamedTuple):
    """Which of the set's rows were compared, and the odds of each against each example."""

    places: tuple[int, ...]
    odds: list[tuple[PairOdds | None, ...]]


def example_pool(folder: Path, corpus: str = EXAMPLES_OF, *, seed: int = 0) -> tuple[Response, ...]:
    """One response of each dialogue of a corpus, at a place that is drawn with `seed`.

    Dialogues that hold a history of a rated set are left out. Raises DataError.
    """
    histories = rated_histories(folder, robustness=False)
    dialogues = (turns for _, turns in read_dialogues(folder, corpus))
    kept = (each for each in dialogues if not histories.are_in([turn.text for turn in each]))
    return as_responses(one_response_each(kept, seed))


async def correlations_of_draws(
    judge: PairJudge,
    sets: Sequence[RatedSet],
    pool: Sequence[Response],
    *,
    kinds: Sequence[ExampleKind] = ("random",),
    numbers: Sequence[int] = (1, 2, 3),
    draws: int = 5,
    seed: int = 0,
) -> list[AnalysisRow]:
    """Table 3, and with `numbers` (1,) the rows of Tables 2 and 6: each kind and number of
    examples. Raises ConfigError if there are fewer examples than wanted."""
    found = []
    for rated in sets:
        for kind in kinds:
            drawn = await _draws(judge, rated, pool, kind, max(numbers), draws, seed)
            for number in numbers:
                tested = [_correlation(rated, each, number) for each in drawn]
                found.append(_row(rated, judge, kind, number, tested))
    return found


async def table_rows(
    judge: LlmPairJudge,
    sets: Sequence[RatedSet],
    pool: Sequence[Response],
    *,
    draws: int = 5,
    seed: int = 0,
) -> list[AnalysisRow]:
    """Table 1: each response asked about alone (DirectEval), and against three examples."""
    found = []
    for rated in sets:
        scores = await DirectEvalScorer(judge).scores(rated.responses)
        alone = [_of_scores(rated, range(len(rated.rows)), scores)]
        found.append(_row(rated, judge, "direct", 0, alone))
        found += await correlations_of_draws(
            judge, [rated], pool, numbers=(TABLE_EXAMPLES,), draws=draws, seed=seed
        )
    return found


async def position_rows(
    judge: PairJudge,
    sets: Sequence[RatedSet],
    pool: Sequence[Response],
    *,
    draws: int = 5,
    seed: int = 0,
) -> tuple[list[AnalysisRow], list[PositionBias]]:
    """Table 5: the rated response shown first, second, and both, against one example; and how far
    the judge prefers a place."""
    rows, biases = [], []
    views: dict[ShownAt, Callable[[PairOdds], PairOdds]] = {
        "first": lambda odds: PairOdds(odds.first, None),
        "second": lambda odds: PairOdds(None, odds.second),
        "both": lambda odds: odds,
    }
    for rated in sets:
        drawn = await _draws(judge, rated, pool, "random", 1, draws, seed)
        for place, view in views.items():
            tested = [_correlation(rated, each, 1, view) for each in drawn]
            rows.append(_row(rated, judge, "random", 1, tested, place))
        odds = [each for one in drawn for row in one.odds for each in row if each is not None]
        bias = _bias(rated, judge, odds)
        if bias is not None:
            biases.append(bias)
    return rows, biases


async def exhaustive_rows(judge: PairJudge, sets: Sequence[RatedSet]) -> list[AnalysisRow]:
    """Table 4: each response against all others of its set, n (n - 1) / 2 pairs in both orders."""
    found = []
    for rated in sets:
        scores = await ExhaustiveScorer(judge).scores(rated.responses)
        tested = [_of_scores(rated, range(len(rated.rows)), scores)]
        found.append(_row(rated, judge, "exhaustive", len(rated.rows) - 1, tested))
    return found


async def _draws(
    judge: PairJudge,
    rated: RatedSet,
    pool: Sequence[Response],
    kind: ExampleKind,
    number: int,
    draws: int,
    seed: int,
) -> list[_Draw]:
    found = []
    for place in range(draws):
        examples = draw(pool if kind == "random" else rated.responses, number, seed + place)
        own = {id(each) for each in examples}
        kept = tuple(at for at, response in enumerate(rated.responses) if id(response) not in own)
        pairs = [(rated.responses[at], example) for at in kept for example in examples]
        odds = await judge.compare(pairs)
        by_response = [tuple(odds[at : at + number]) for at in range(0, len(odds), number)]
        found.append(_Draw(kept, by_response))
    return found


class _Tested(NamedTuple):
    correlation: Correlation
    unscored: int


def _correlation(
    rated: RatedSet,
    drawn: _Draw,
    number: int,
    view: Callable[[PairOdds], PairOdds] = lambda odds: odds,
) -> _Tested:
    """The correlation over one draw, with its first `number` examples."""
    scores = [
        mean_score([None if each is None else view(each) for each in row[:number]])
        for row in drawn.odds
    ]
    return _of_scores(rated, drawn.places, scores)


def _of_scores(rated: RatedSet, places: Iterable[int], scores: Sequence[float | None]) -> _Tested:
    known = [
        (score, rated.rows[place].target)
        for place, score in zip(places, scores, strict=True)
        if score is not None
    ]
    found = correlate([score for score, _ in known], [target for _, target in known])
    return _Tested(found, len(scores) - len(known))


def _row(
    rated: RatedSet,
    judge: PairJudge,
    kind: str,
    number: int,
    tested: Sequence[_Tested],
    position: ShownAt = "both",
) -> AnalysisRow:
    pearson = [each.correlation.pearson for each in tested]
    spearman = [each.correlation.spearman for each in tested]
    return AnalysisRow(
        set=rated.name,
        judge=judge.name,
        kind=kind,
        number=number,
        position=position,
        draws=len(tested),
        n=min(each.correlation.n for each in tested),
        unscored=sum(each.unscored for each in tested),
        pearson=_mean(pearson),
        spearman=_mean(spearman),
        pearson_sd=_spread(pearson),
        spearman_sd=_spread(spearman),
    )


def _bias(rated: RatedSet, judge: PairJudge, odds: Sequence[PairOdds]) -> PositionBias | None:
    both = [(each.first, each.second) for each in odds]
    known = [(one, two) for one, two in both if one is not None and two is not None]
    if not known:
        return None
    return PositionBias(
        set=rated.name,
        judge=judge.name,
        comparisons=len(known),
        first=fmean((one + 1 - two) / 2 for one, two in known),
        changed=fmean((one > 0.5) != (two > 0.5) for one, two in known),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None if a draw has no coefficient."""
    known = [each for each in values if each is not None]
    return fmean(known) if known and len(known) == len(values) else None


def _spread(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return stdev(known) if len(known) > 1 and len(known) == len(values) else None
