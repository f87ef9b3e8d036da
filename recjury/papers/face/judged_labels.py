"""The labelled conversations of CRSArena-Eval, rated by the evaluators of a file."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from recjury.campaign import Progress, judge_files, read_evaluators
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.estimate import estimate_evaluations
from recjury.corpora.crsarena import read_crsarena
from recjury.errors import ConfigError
from recjury.papers.face.face_scores import label_file
from recjury.records import ExpectedCalls
from recjury.tables import AnalysisInput

_CHECK = "check"  # of a connection: whoever shows calls adds it


class JudgedLabels(NamedTuple):
    """The input with the campaign of the ratings, and what could not be done, by reason."""

    given: AnalysisInput
    problems: Mapping[str, int]


def planned_calls(given: AnalysisInput, limit: int | None) -> Iterator[ExpectedCalls]:
    """The calls of the evaluators; a connection is checked once more. Raises UserError."""
    logs = list(islice(read_crsarena(label_file(given)).logs.values(), limit))
    calls = estimate_evaluations(_config(given), logs, {}).breakdown
    return (each for each in calls if each.kind != _CHECK)


async def judged(given: AnalysisInput, limit: int | None) -> JudgedLabels:
    """Rate at most `limit` conversations, as `recjury judge` does. Raises UserError."""
    progress = Progress(
        changed=lambda now: given.progress.at(
            now.share, f"rated {now.conversations.done}/{now.conversations.planned} conversations"
        )
    )
    paths = (label_file(given),)
    config = _config(given)
    result = await judge_files(paths, config, given.store, limit=limit, progress=progress)
    left = {
        "conversations failed: run the same command again": result.failed,
        "the budget does not cover all": int(result.held_back is not None),
    }
    problems = {reason: count for reason, count in left.items() if count}
    return JudgedLabels(replace(given, campaign=result.campaign), problems)


def _config(given: AnalysisInput) -> EvaluationConfig:
    config = read_evaluators(given.config).model_copy(update=dict(given.changes))
    if not config.evaluators:
        raise ConfigError(f"{given.config} names no evaluators: see examples/recipes/judge.yaml")
    return config
