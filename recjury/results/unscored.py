"""Ratings without a score and verdicts that are missing, with their reasons, to be counted."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from recjury.records import FAILED, JSON, MEAN, Status, metric_id
from recjury.results.scores import Measure
from recjury.store import CampaignEvaluator, ConversationResult, EvaluationResult, RatedAs

_NUMBER = re.compile(r"(?<![\w:])\d+(?:\.\d+)?")  # no part of a name, and no line of a file

DEBATE = "debate"
"""The stage that gives a verdict, and the evaluator of its rating."""


class Unscored(NamedTuple):
    """A kind of rating without a score: whose, of which metric, and why."""

    evaluator: str
    metric: str
    status: Status
    reason: str

    @property
    def why(self) -> str:
        """The status and the reason."""
        return f"{status_text(self.status)}: {self.reason}"


class Verdicts(NamedTuple):
    """How many verdicts an evaluator should give, how many it gave, and why others are missing.

    `failed` counts those whose debate ended without a score because something in it failed.
    """

    planned: int = 0
    scored: int = 0
    failed: int = 0
    missing: Mapping[str, int] = MappingProxyType({})

    def as_json(self) -> dict[str, JSON]:
        """The numbers and the reasons for `--json`."""
        return {"planned": self.planned, "scored": self.scored, "missing": dict(self.missing)}


def status_text(status: Status) -> str:
    """A status in words, such as "call failed"."""
    return status.value.replace("_", " ")


def merged_forms(reasons: Iterable[str]) -> dict[str, str]:
    """How each reason is shown: those that differ only in numbers are one, with … for these."""
    shapes: dict[str, list[str]] = defaultdict(list)
    for reason in reasons:
        shapes[_NUMBER.sub("…", reason)].append(reason)
    return {reason: form for own in shapes.values() for form in [_form_of(own)] for reason in own}


def _form_of(alike: Sequence[str]) -> str:
    """The form of reasons that differ only in numbers: those in which they agree stay."""
    numbers = zip(*map(_NUMBER.findall, alike), strict=True)
    shown = iter([each[0] if len(set(each)) == 1 else "…" for each in numbers])
    return _NUMBER.sub(lambda _: next(shown), alike[0])


def merged_reasons(reasons: Mapping[str, int]) -> Counter[str]:
    """How often each reason is there, in its merged form."""
    merged: Counter[str] = Counter()
    for reason, form in merged_forms(reasons).items():
        merged[form] += reasons[reason]
    return merged


def unscored_ratings(
    result: ConversationResult, measures: Mapping[str, Measure]
) -> Iterator[Unscored]:
    """The ratings of a conversation that have no score, of these `measures` by id.

    Verdicts and means of several judges are not counted, nor ratings that do not apply if the
    metric exists for some conversations only.
    """
    for evaluation in result.evaluations:
        for rating in evaluation.scores.layout.unscored:
            if rating.evaluator in (MEAN, DEBATE):
                continue
            measure = measures.get(f"{evaluation.label}.{metric_id(rating.factor)}")
            if measure is None:
                continue
            if measure.metric.of_some and rating.status is Status.NOT_APPLICABLE:
                continue
            title = measure.metric.title
            yield Unscored(evaluation.label, title, rating.status, rating.reason)


def count_verdicts(
    before: Verdicts, result: ConversationResult, evaluator: CampaignEvaluator
) -> Verdicts:
    """`before` and the verdicts of one more conversation by `evaluator`, which debates."""
    found = {each.judging: each for each in result.evaluations if each.label == evaluator.label}
    missing: list[str] = []
    scored, failed = before.scored, before.failed
    for judging in range(evaluator.judgings):
        evaluation = found.get(judging)
        given = None if evaluation is None else _verdict(evaluation)
        if given is not None and given.status is Status.SCORED:
            scored += 1
            continue
        failed += given is not None and given.status in FAILED
        missing.append(_why_missing(result, evaluation, given))
    why = Counter(before.missing) + Counter(missing) if missing else before.missing
    return Verdicts(before.planned + evaluator.judgings, scored, failed, why)


def _verdict(evaluation: EvaluationResult) -> RatedAs | None:
    ratings = evaluation.scores.layout.ratings
    return next((each for each in ratings if each.evaluator == DEBATE), None)


def _why_missing(
    result: ConversationResult, evaluation: EvaluationResult | None, given: RatedAs | None
) -> str:
    """Why an evaluation has no verdict with a score."""
    if given is not None:
        return f"{status_text(given.status)}: {given.reason}"
    if result.log is None:
        return "the conversation failed" if result.failure else "the conversation is to be held"
    if evaluation is None:
        return "the evaluation has not begun"
    for stage, reason in evaluation.failures.items():
        return f"{stage} failed: {reason}"
    return "the debate is to be held"
