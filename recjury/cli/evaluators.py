"""`recjury evaluators`: the evaluators, what they rate, and what they need."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output

if TYPE_CHECKING:
    from recjury.judges.registry import ListedEvaluator
    from recjury.records import JSON, Metric


def evaluators(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml", help="List the evaluators of this file, your own ones included."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the evaluators that are built in or installed, with their metrics and needs.

    With --config, those of a campaign file: own rubrics and classes, too.

    \b
    recjury evaluators
    recjury evaluators --config campaign.yaml --json
    """
    from recjury.campaign.config_file import read_models
    from recjury.judges.registry import listed_evaluators, of_file

    found = listed_evaluators() if config is None else of_file(read_models(config).evaluators)
    if as_json:
        output.emit_json({"evaluators": [_as_json(each) for each in found]})
        return
    for each in found:
        output.show_table(
            [each.kind, "metric", "group", "level", "scale", "needs"],
            ([f"{each.kind}.{m.id}", m.title, m.group, m.level, _scale(m), _needs(m)]
             for m in each.metrics),
            title=each.summary,
        )  # fmt: skip


def _as_json(each: "ListedEvaluator") -> "dict[str, JSON]":
    return {
        "kind": each.kind,
        "summary": each.summary,
        "metrics": [
            {**metric.model_dump(mode="json"), "id": f"{each.kind}.{metric.id}"}
            for metric in each.metrics
        ],
    }


def _scale(metric: "Metric") -> str:
    better = "" if metric.higher_is_better else ", lower is better"
    high = "" if metric.high is None else f"{metric.high:g}"
    return f"{metric.low:g}–{high}{better}"


def _needs(metric: "Metric") -> str:
    return ", ".join(metric.needs)
