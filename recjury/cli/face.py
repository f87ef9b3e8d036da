"""`recjury face`: scores of particles, explained and compared with labels."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import face_explain, face_optimise, options, output

if TYPE_CHECKING:
    from recjury.agreement.face_table import FaceTable
    from recjury.corpora.data_problems import Problem

_SHOWN = 5  # problems of one kind that are printed

app = typer.Typer(
    help="FACE: scores per particle and instruction, and what they add up to.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _commands() -> None:
    """FACE: scores per particle and instruction, and what they add up to."""


app.command("explain")(face_explain.explain)
app.command("optimise")(face_optimise.optimise)


@app.command()
def table(
    labels: Annotated[Path, typer.Option(metavar="FILE", help="Labels: crs_arena_eval.json.")],
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Scores: a folder of {aspect}.jsonl files, or a run file (default: the store's).",
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write the store's scores there: {aspect}.jsonl and run.json."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Leave out scores outside their aspect's scale.")
    ] = False,
    problems: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all problems of the input there.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compare FACE's scores with human labels: correlations per aspect and subset.

    The score of a turn or dialogue is the mean over its particles and instructions; without any
    it has no score and is not counted in n.

    \b
    recjury face table --labels crs_arena_eval.json
    recjury face table --runs face-runs --labels crs_arena_eval.json --json
    """
    from recjury.agreement.face_table import face_table
    from recjury.corpora.writing import check_writable, write_file
    from recjury.errors import ConfigError

    if problems is not None:
        check_writable(problems)
    if runs is None:
        result = _of_store(store, campaign, labels, out)
    elif campaign is not None or out is not None:
        raise ConfigError("--campaign and --out are for the scores of a store: leave out --runs")
    else:
        result = face_table(runs, labels, strict=strict)
    if problems is not None:
        write_file(
            problems,
            (f"{problem}\n".encode(errors="backslashreplace") for problem in result.problems),
        )
    if as_json:
        output.emit_json(
            {
                subset: {str(aspect): found._asdict() for aspect, found in row.items()}
                for subset, row in result.correlations.items()
            }
        )
    else:
        _show(result)
    _say_problems(result.problems)
    _say_gaps(result)


def _of_store(url: str, campaign: str | None, labels: Path, out: Path | None) -> "FaceTable":
    from recjury.agreement.face_results import read_scored, write_scores
    from recjury.agreement.face_table import scored_table
    from recjury.errors import DataError
    from recjury.store import Store

    with Store.open(url, create=False) as kept:
        chosen = None if campaign is None else kept.campaign(campaign).id
        scored = tuple(read_scored(kept, chosen))
    if not scored:
        raise DataError(
            "FACE has scored nothing here: run `recjury judge FILE --evaluator face` first"
        )
    result = scored_table(scored, labels)
    if out is not None:
        write_scores(out, scored)
    return result


def _say_problems(problems: "Iterable[Problem]") -> None:
    """How many problems there are of each kind, and the first of each, on standard error."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(str(problem.fault), []).append(problem)
    for kind, some in kinds.items():
        output.say(f"{kind}: {len(some)}")
        for problem in islice(some, _SHOWN):
            output.say(f"  {problem}")
        if len(some) > _SHOWN:
            output.say(f"  and {len(some) - _SHOWN} more")


def _say_gaps(result: "FaceTable") -> None:
    """Print for which labels there is no score."""
    for subset, row in result.coverage.items():
        for aspect, covered in row.items():
            if covered.scored < covered.labelled:
                places = f"{covered.scored} of {covered.labelled} labelled places have a score"
                output.say(f"{subset}, {aspect}: {places}")


def _show(result: "FaceTable") -> None:
    output.show_table(
        ["aspect", "subset", "Pearson", "Spearman", "n", "labelled places with a score"],
        (
            [
                str(aspect),
                subset,
                output.number(found.pearson, 3),
                output.number(found.spearman, 3),
                str(found.n),
                f"{result.coverage[subset][aspect].scored} of "
                f"{result.coverage[subset][aspect].labelled}",
            ]
            for subset, row in result.correlations.items()
            for aspect, found in row.items()
        ),
    )
