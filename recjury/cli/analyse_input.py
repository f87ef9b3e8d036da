"""What the commands of `recjury analyse` are given: shared options, scores, people's labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.agreement.label_sets import LabelSet
    from recjury.agreement.scored_run import ScoredRun
    from recjury.store import Store

Run = Annotated[
    Path | None,
    typer.Argument(
        metavar="RUN",
        help="Scores: a run file, a folder of {aspect}.jsonl, or CSV (default: a campaign of the "
        "store, the newest).",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(metavar="FORM:PATH", help="People's labels, as for `recjury align`."),
]
Pair = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=ASPECT", help="Hold a metric beside this aspect; may be repeated."
    ),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ID", help="Only this metric, or those of this evaluator; may be repeated."
    ),
]
System = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this system; may be repeated.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a figure there (SVG).")]
Resamples = Annotated[int, typer.Option(min=100, max=1_000_000, help="Of intervals.")]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of what is drawn.")]


class GivenScores(NamedTuple):
    """The scores, people's labels if there are any, and the aspect of each metric."""

    run: "ScoredRun"
    people: "LabelSet | None"
    pairs: Mapping[str, str]


def read_given(
    path: Path | None,
    url: str,
    campaign: str | None,
    metrics: list[str] | None,
    labels: str | None,
    pair: list[str] | None,
    *,
    texts_only: bool = False,
) -> GivenScores:
    """The scores of a file or of a campaign (by default the newest), and labels with their aspects.

    With `texts_only`, labels only say what was spoken. Raises UserError.
    """
    from recjury.agreement.label_forms import read_labels
    from recjury.agreement.metric_pairs import pair_metrics
    from recjury.agreement.scored_run import run_of_file, run_of_store
    from recjury.store import Store

    if path is not None and campaign is not None:
        raise ConfigError("--campaign is for the scores of a store: leave out RUN")
    if pair and labels is None:
        raise ConfigError("--pair is for --labels")
    people = None if labels is None else read_labels(labels)
    if path is not None:
        run = run_of_file(path, people)
    else:
        with Store.open(url, create=False) as kept:
            by_log = people is None or people.by_log
            run = run_of_store(kept, chosen_campaign(kept, campaign), by_log=by_log)
    run = run.choose(metrics or ())
    if people is None or texts_only:
        return GivenScores(run, None, {})
    aspects = [name for name, own in people.labels.items() if own]
    return GivenScores(run, people, pair_metrics(run.scores, aspects, pair or ()))


def chosen_campaign(store: "Store", campaign: str | None) -> str:
    """The id of the campaign of that name, by default of the newest; raises StoreError."""
    from recjury.results import newest_campaign

    return store.campaign(campaign or newest_campaign(store) or "").id
