"""`recjury list`: what has a name: evaluators, systems, analyses, trainers, forms of labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output

if TYPE_CHECKING:
    from recjury.judges.registry import ListedEvaluator
    from recjury.plugins import Listed
    from recjury.records import JSON, Metric


def list_kind(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="Such as systems.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE.yaml", help="The evaluators of this file, yours included."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List what has a name: built in, or of an installed package.

    Without a kind, the kinds. With --config, the evaluators of a campaign file, own ones included.

    \b
    recjury list
    recjury list evaluators
    recjury list evaluators --config campaign.yaml --json
    """
    from recjury.api.registries import registries
    from recjury.errors import ConfigError
    from recjury.mistakes import did_you_mean

    if config is not None and kind not in (None, "evaluators"):
        raise ConfigError("--config lists the evaluators of a campaign file: leave it out")
    if kind == "evaluators" or config is not None:
        _list_evaluators(config, as_json=as_json)
        return
    if kind is None:
        groups = {name: registry.group for name, registry in registries().items()}
        if as_json:
            output.emit_json(groups)
        else:
            rows = groups.items()
            output.show_table(["kind", "entry points of packages"], rows, align=["left", "left"])
        return
    known = registries()
    if kind not in known:
        hint = did_you_mean(kind, known)
        raise ConfigError(f"unknown kind {kind!r}{hint} (known: {', '.join(known)})")
    listed = known[kind].listed()
    if as_json:
        output.emit_json({kind: [each._asdict() for each in listed]})
    else:
        output.show_list((each.name, _text(each)) for each in listed)


def _text(listed: "Listed") -> str:
    package = f" ({listed.package})" if listed.package else ""
    return (listed.problem or listed.summary) + package


def _list_evaluators(config: Path | None, *, as_json: bool) -> None:
    from recjury.campaign.config_file import read_models
    from recjury.judges.registry import listed_evaluators, of_file

    listed = listed_evaluators() if config is None else of_file(read_models(config).evaluators)
    if as_json:
        output.emit_json({"evaluators": [_as_json(each) for each in listed]})
        return
    for each in listed:
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
