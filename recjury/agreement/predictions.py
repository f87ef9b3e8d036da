"""What is held against labels: scores by metric and place, from a store or a file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

from recjury.corpora.crsarena_run_file import read_run_file
from recjury.corpora.csv_rows import read_csv_rows
from recjury.errors import DataError
from recjury.judges.aspects import DIGITS
from recjury.records import ScoreTarget, shown_ratings
from recjury.store import ConversationResult, Store

Predictions = Mapping[str, Mapping[ScoreTarget, float]]
"""By metric: the score of each place that has one. Higher is better."""


def of_store(store: Store, campaign: str | None = None, *, by_log: bool = False) -> Predictions:
    """The scores of a campaign, or of the store; metrics have their evaluator's label and a dot.

    Conversations are known by their record, or `by_log` by their log's id; the mean counts, where
    one was played or judged more than once. Metrics whose lower end is better are turned round.
    Raises DataError if nothing was scored, or if a record was played with two systems.
    """
    worse = {
        f"{each.label}.{metric.id}"
        for each in store.evaluators(campaign)
        for metric in each.metrics
        if not metric.higher_is_better
    }
    given: dict[str, dict[ScoreTarget, list[float]]] = {}
    for name, result in keyed_results(store, campaign, by_log=by_log):
        add_scores(result, name, given)
    if not given:
        raise DataError("nothing was scored here: run `recjury judge FILE` first")
    return {
        metric: {
            place: -fmean(scores) if metric in worse else fmean(scores)
            for place, scores in own.items()
        }
        for metric, own in given.items()
    }


def of_file(path: Path) -> Predictions:
    """The scores of a run file of CRSArena-Eval (JSON), or of a CSV file.

    A CSV file has the columns conversation, metric and score, and may have turn. Raises DataError.
    """
    return _of_csv(path) if path.suffix.lower() == ".csv" else _of_run_file(path)


def keyed_results(
    store: Store, campaign: str | None = None, *, by_log: bool = False
) -> Iterator[tuple[str, ConversationResult]]:
    """The results with the names by which labels know conversations: the record, or the log's id.

    Raises DataError if a record was played with two systems.
    """
    systems: dict[str, str] = {}
    for result in store.results(campaign):
        name = (result.log or "") if by_log else result.scenario.partition("#")[2]
        if result.evaluations and systems.setdefault(name, result.system) != result.system:
            raise DataError(
                f"the record {name} was played with {systems[name]} and {result.system}, and "
                "a label is of one conversation: choose a campaign of recordings with --campaign"
            )
        yield name, result


def add_scores(
    result: ConversationResult, name: str, given: dict[str, dict[ScoreTarget, list[float]]]
) -> None:
    """Add all scores of a conversation to `given`, by metric with its evaluator's label."""
    for evaluation in result.evaluations:
        for metric, ratings in shown_ratings(evaluation.ratings).items():
            own = given.setdefault(f"{evaluation.label}.{metric}", {})
            for rating in ratings:
                if rating.score is not None:
                    own.setdefault(ScoreTarget(name, rating.turn), []).append(rating.score)


def _of_run_file(path: Path) -> Predictions:
    scores, _ = read_run_file(path)
    if not scores:
        raise DataError("has no scores", path=path)
    # Equal scores differ in their last bits there, which would change the ranks.
    return {
        str(aspect): {place: round(score, DIGITS) for place, score in own.items()}
        for aspect, own in scores.items()
    }


def _of_csv(path: Path) -> Predictions:
    found: dict[str, dict[ScoreTarget, float]] = {}
    for row in read_csv_rows(path, ("conversation", "metric", "score")):
        place = ScoreTarget(row["conversation"], row.count("turn"))
        own = found.setdefault(row["metric"], {})
        if place in own:
            raise row.error(f"a second score of {place} for {row['metric']}")
        if row["score"]:
            own[place] = row.number("score")
    if not any(found.values()):
        raise DataError("has no scores", path=path)
    return found
