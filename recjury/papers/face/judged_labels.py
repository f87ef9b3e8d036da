"""The labelled conversations of CRSArena-Eval, rated by the evaluators of a file."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from recjury.campaign import Progress, RunResult, judge_files, read_evaluators
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.estimate import CostEstimate, estimate_evaluations
from recjury.corpora.crsarena import read_crsarena
from recjury.errors import ConfigError
from recjury.papers.face.face_scores import label_file
from recjury.records import ExpectedCalls
from recjury.tables import AnalysisInput


class JudgedLabels(NamedTuple):
    """The input with the campaign of the ratings, and what could not be done, by reason."""

    given: AnalysisInput
    problems: Mapping[str, int]


def planned_calls(given: AnalysisInput, limit: int | None) -> Iterator[ExpectedCalls]:
    """The calls of the evaluators. Raises UserError."""
    return without_checks(_estimate(given, limit))


async def judged(given: AnalysisInput, limit: int | None) -> JudgedLabels:
    """Rate at most `limit` conversations, as `recjury judge` does; says first what it may cost.

    Raises UserError.
    """
    once = _estimate(given, limit).once
    cost = "at an unknown price" if once.cost is None else f"about ${once.cost:,.2f}"
    given.progress.say(f"about {once.calls:,} calls, {cost}, less what the store has already")
    paths, progress = (label_file(given),), rating_progress(given)
    config = _config(given)
    result = await judge_files(paths, config, given.store, limit=limit, progress=progress)
    return JudgedLabels(replace(given, campaign=result.campaign), problems_of_run(result))


def _estimate(given: AnalysisInput, limit: int | None) -> CostEstimate:
    logs = list(islice(read_crsarena(label_file(given)).logs.values(), limit))
    return estimate_evaluations(_config(given), logs, {})


def without_checks(bound: CostEstimate) -> Iterator[ExpectedCalls]:
    """The calls of an estimate, without those that check a connection: whoever shows calls adds
    them."""
    return (each for each in bound.breakdown if each.kind != "check")


def rating_progress(given: AnalysisInput) -> Progress:
    """The progress of a run, shown as that of the analysis."""
    return Progress(
        changed=lambda now: given.progress.at(
            now.share, f"rated {now.conversations.done}/{now.conversations.planned} conversations"
        )
    )


def problems_of_run(result: RunResult) -> dict[str, int]:
    """What the run could not do, by reason."""
    left = {
        "conversations failed: run the same command again": result.failed,
        "the budget does not cover all": int(result.held_back is not None),
    }
    return {reason: count for reason, count in left.items() if count}


def _config(given: AnalysisInput) -> EvaluationConfig:
    config = read_evaluators(given.config).model_copy(update=dict(given.changes))
    if not config.evaluators:
        raise ConfigError(f"{given.config} names no evaluators: see examples/recipes/judge.yaml")
    return config
