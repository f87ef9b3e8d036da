"""`recjury align`: an evaluator's scores held against people's labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output

if TYPE_CHECKING:
    from recjury.agreement.score_files import Scores

_VOTES = "crsarena-votes"
_VOTE_RESAMPLES = 1_000  # a fit of strengths each


def align(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUNFILE...]", help="Scores: run files, or CSV (default: the store's)."
        ),
    ] = None,
    labels: Annotated[
        str,
        typer.Option(
            metavar="FORM:PATH",
            help="crsarena-eval:FILE, ab-redial:FOLDER, uss:FOLDER, dialogue-eval:FOLDER, "
            "annotations:FILE (of `annotate import`), csv:FILE; or crsarena-votes:FOLDER.",
        ),
    ] = "",
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=ASPECT", help="Compare a metric with this aspect; may be repeated."
        ),
    ] = None,
    systems: Annotated[
        bool, typer.Option("--systems", help="Also whether systems are in people's order.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a plot of each metric there, with the ceiling."),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    resamples: Annotated[int, typer.Option(min=100, max=1_000_000, help="Of intervals.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the resampling.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Hold an evaluator's scores against people's labels.

    For each metric: Pearson's r, Spearman's rho and Kendall's tau with 95 % intervals over
    conversations, r within systems, and what predictors reach that read nothing (length, the
    system's mean, a constant).

    A metric is compared with the aspect of its name; --pair chooses another one. A CSV file of
    scores has the columns conversation, metric, score and may have turn; one of labels has
    conversation, aspect, label, and may have turn, rater, system, subset.

    \b
    recjury align face_run.json --labels crsarena-eval:crs_arena_eval.json
    recjury align --labels crsarena-eval:crs_arena_eval.json --pair core.overall=dialogue_overall
    recjury align mine.json face_run.json --labels crsarena-eval:crs_arena_eval.json
    recjury align scores.csv --labels csv:labels.csv --json
    recjury align --labels annotations:labels.json --systems --plot plots
    recjury align face_run.json --labels crsarena-votes:crsarena-dial
    """
    from recjury.agreement.alignment import Alignment, ranking_table
    from recjury.agreement.label_forms import LABEL_FORMS, read_labels
    from recjury.cli.findings import show_tables
    from recjury.errors import ConfigError
    from recjury.tables import TableFormat

    if not labels:
        known = ", ".join(f"{form}:PATH" for form in LABEL_FORMS.names)
        raise ConfigError(f"--labels is missing: expected one of {known}")
    if runs and campaign is not None:
        raise ConfigError("--campaign is for the scores of a store: leave out RUNFILE")
    if labels.startswith(f"{_VOTES}:"):
        if pair or systems or plot is not None:
            raise ConfigError(f"--pair, --systems and --plot are not for {_VOTES}")
        _show_votes(
            _predictions(runs, store, campaign, by_log=False),
            Path(labels.partition(":")[2]),
            resamples,
            seed,
            as_json=as_json,
        )
        return
    people = read_labels(labels)
    predictions = _predictions(runs, store, campaign, by_log=people.by_log)
    found = Alignment.of(predictions, people, pair or (), resamples=resamples, seed=seed)
    ranked = found.ranked(resamples=resamples, seed=seed) if systems else {}
    if plot is not None:
        from recjury.agreement.agreement_plots import write_agreement_plots

        paths = write_agreement_plots(found.found, predictions, people, plot, seed=seed)
        output.say(f"{plot}: {len(paths)} plots")
    for line in found.unmatched:
        output.say(line)
    if as_json:
        output.emit_json(found.as_json(ranked))
    else:
        tables = [found.table(), *([ranking_table(ranked)] if systems else [])]
        show_tables(tables, TableFormat.TEXT)


def _predictions(
    runs: list[Path] | None, url: str, campaign: str | None, *, by_log: bool
) -> "Scores":
    """The scores of one file, of several under their names, or of a store."""
    from recjury.agreement.score_files import read_scores
    from recjury.agreement.scored_run import run_of_store
    from recjury.errors import ConfigError
    from recjury.store import Store

    if runs:
        read = {path.stem: read_scores(path).scores for path in runs}
        if len(read) < len(runs):
            raise ConfigError("two run files have the same name: rename one")
        if len(read) == 1:
            return read[runs[0].stem]
        return {
            f"{name}.{metric}": own for name, each in read.items() for metric, own in each.items()
        }
    with Store.open(url, read_only=True) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        return run_of_store(kept, chosen, by_log=by_log, details=True).all_oriented()


def _show_votes(
    predictions: "Scores", folder: Path, resamples: int, seed: int, *, as_json: bool
) -> None:
    from recjury.agreement.system_agreement import vote_agreement
    from recjury.cli.findings import show_tables
    from recjury.corpora.crsarena_votes import read_votes
    from recjury.plugins.extras import require_ranking
    from recjury.tables import TableFormat

    require_ranking(f"--labels {_VOTES}")
    votes = read_votes(folder)
    found = vote_agreement(predictions, votes, resamples=min(resamples, _VOTE_RESAMPLES), seed=seed)
    if as_json:
        output.emit_json({"votes": len(votes), **found.as_json()})
        return
    show_tables(found.tables(), TableFormat.TEXT)
    output.say(f"Bradley-Terry strengths from {len(votes)} votes; intervals over people")
