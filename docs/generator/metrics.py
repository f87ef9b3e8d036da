"""Metrics of the evaluators that ship."""

import re
from collections.abc import Iterator

from docs.generator.writing import NOTE, Row, meaning, table
from recjury.demo import DEMO_EVALUATORS
from recjury.judges import EVALUATORS
from recjury.records import Metric


def metrics() -> Iterator[str]:
    """The parts of the page: a section for the evaluators that have the same metrics."""
    yield NOTE.format("[what the scores mean](../explanation/scores.md)")
    yield (
        "A metric's id is `NAME.METRIC`: the evaluator's `name`, by default its kind. `rubric` has "
        "a metric for each criterion, with its scale. `core.mean` and `counted.mean` are computed "
        "from the factors when tables are made."
    )
    found: dict[Row, dict[str, None]] = {}
    for kind, evaluator in {**EVALUATORS, **DEMO_EVALUATORS}.items():
        if kind != "rubric":
            texts = {"text": ["bleu", "rouge_l", "distinct"]} if kind == "offline" else {}
            for metric in evaluator.model_validate({"kind": kind} | texts).metrics:
                found.setdefault(_metric(kind, metric), {})[kind] = None
    for kinds in dict.fromkeys(map(tuple, found.values())):
        yield f"## {', '.join(f'`{kind}`' for kind in kinds)}"
        rows = [row for row, of in found.items() if tuple(of) == kinds]
        yield table("metric|level|scale|better|meaning", rows)


def _metric(kind: str, metric: Metric) -> tuple[str, ...]:
    name = re.sub(r"(?<=[@_])\d+$", "N", metric.name)
    high = "" if metric.high is None else f" to {metric.high:g}"
    scale = f"{metric.low:g}{high or ' or more'}"
    better = "lower" if metric.lower_is_better else "higher"
    return f"`{name}`", str(metric.level), scale, better, meaning(name, kind, "aspects", "factors")
