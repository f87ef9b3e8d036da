"""`recjury annotate`: scores of people, from a task for raters to labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.selecting import with_filters
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.agreement.annotation import AnnotatedLabels
    from recjury.agreement.annotation.labels import CollectedLabels
    from recjury.records import ConversationLog
    from recjury.store import Selection

app = typer.Typer(
    help="Scores of people: export a task for raters, import their answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("export")
@with_filters
def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go.")],
    design: Annotated[
        str,
        typer.Option(
            metavar="all|core",
            help="Every conversation; or ten records a corpus with all systems, 16 conversations "
            "a rater (CoRE).",
        ),
    ] = "all",
    raters: Annotated[
        str | None,
        typer.Option(metavar="N|NAMES", help="How many, or their names (anna,ben)."),
    ] = None,
    raters_each: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Raters of a conversation (default: 2).")
    ] = None,
    question: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this question; may be repeated."),
    ] = None,
    guideline: Annotated[
        str, typer.Option(metavar="core|core-paper", help="The guideline of which judges.")
    ] = "core",
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Known scores, mixed in for every rater: columns conversation (its id), "
            "question, score.",
        ),
    ] = None,
    further: Annotated[
        Path | None,
        typer.Option(
            metavar="LABELS", help="Only what is tied in these labels, for further raters."
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn and of the order.")] = 0,
    as_json: options.Json = False,
    *,
    selection: "Selection",
) -> None:
    """Write a task for raters: a page that works offline, the same as a table, and its key.

    Raters get task.html, or task.csv with empty cells for the scores. They see the guideline of
    the judges and no name of a system, each rater in an own order. The page is used with the
    keyboard, keeps its answers in the browser, and saves them as a file for `annotate import`.
    key.json stays with you: it says which conversation is which.

    \b
    recjury annotate export task --raters 4
    recjury annotate export task --design core
    recjury annotate export task --system kbrd --share .05
    recjury annotate export task2 --further labels.json --raters carla --raters-each 1
    """
    from recjury.agreement.annotation import Design, draw_task
    from recjury.agreement.annotation.design import rater_names
    from recjury.agreement.annotation.files import write_task
    from recjury.agreement.annotation.guide import RaterGuide

    if design not in ("all", "core"):
        raise ConfigError(f"--design {design}: expected all or core")
    if further is not None and (design == "core" or gold is not None):
        raise ConfigError("--further takes what is tied: leave out --design and --gold")
    if further is not None and not selection.is_all:
        raise ConfigError("--further takes what is tied: leave out the filters")
    guide = RaterGuide(guideline, question or ())
    chosen = Design(
        "core" if design == "core" else "all",
        None if raters is None else rater_names(raters),
        raters_each,
        seed,
    )
    if further is None:
        logs = _logs(store, campaign, selection)
        drawn = draw_task(list(logs.values()), guide, chosen, gold=_gold(gold, logs))
    else:
        labels = _labels(further)
        drawn = draw_task(list(labels.logs.values()), guide, chosen, only=labels.ties())
    paths = write_task(drawn, folder)
    asked = {rater: len(own) for rater, own in drawn.task.raters.items()}
    if as_json:
        output.emit_json(
            {
                "task": drawn.task.id,
                "files": [str(path) for path in paths],
                "conversations": len(drawn.task.conversations),
                "questions": [each.id for each in drawn.task.questions],
                "raters": dict(asked),
            }
        )
        return
    for path in paths:
        typer.echo(path)
    output.say(
        f"{len(drawn.task.conversations)} conversations, {len(drawn.task.questions)} questions; "
        + ", ".join(f"{rater}: {number}" for rater, number in asked.items())
    )
    output.say(f"{paths[-1]} says which system spoke: keep it from raters")


@app.command("import")
def import_answers(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="key.json of the task.")],
    answers: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS...", help="Saved by the page, or CSV.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the labels go.")] = Path(
        "labels.json"
    ),
    combine: Annotated[
        str,
        typer.Option(
            metavar="mean|majority", help="How several scores of one thing become one label."
        ),
    ] = "mean",
    exclude_below: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Leave out raters with a smaller share of gold questions right."
        ),
    ] = 0.3,
    gold_within: Annotated[
        int, typer.Option(min=0, help="So far from the gold score, an answer is right.")
    ] = 0,
    add: Annotated[
        Path | None,
        typer.Option(metavar="LABELS", help="Earlier labels to which these are added."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Read raters' answers back as labels, with coverage and agreement.

    Refused are answers to another task, files that were altered, scores that were not asked for
    or are out of their scale, and a second score of one rater for the same thing.

    \b
    recjury annotate import task/key.json answers-r1.json answers-r2.json --out labels.json
    recjury annotate import task/key.json filled.csv --combine majority
    recjury align --labels annotations:labels.json
    """
    from recjury.agreement.annotation import Exclusion, collect_labels, write_annotated
    from recjury.agreement.annotation.answers import read_answers
    from recjury.agreement.annotation.task import read_key

    if combine not in ("mean", "majority"):
        raise ConfigError(f"--combine {combine}: expected mean or majority")
    read = read_key(key)
    found = collect_labels(
        read,
        read_answers(answers, read),
        combine="majority" if combine == "majority" else "mean",
        exclusion=Exclusion(exclude_below, gold_within),
        earlier=None if add is None else _labels(add),
    )
    write_annotated(found.labels, out)
    if as_json:
        output.emit_json({"labels": str(out), **found.as_json()})
    else:
        _show(found, out)


def _show(found: "CollectedLabels", out: Path) -> None:
    output.show_table(
        ["rater", "asked", "answered", "gold right"],
        (
            [
                name + (" (excluded)" if each.excluded else ""),
                str(each.asked),
                str(each.answered),
                "-" if each.gold is None else f"{each.gold:.0%}",
            ]
            for name, each in found.raters.items()
        ),
    )
    output.show_table(
        ["question", "labels", "by two raters", "tied", "alpha", "one against the rest"],
        (
            [
                name,
                *(str(each.labelled), str(each.rated_twice), str(each.tied)),
                output.number(each.alpha, 3),
                output.number(each.one_against_the_rest, 3),
            ]
            for name, each in found.questions.items()
        ),
    )
    ties = found.labels.ties()
    if ties:
        output.say(
            f"{sum(map(len, ties.values()))} scores of {len(ties)} conversations are tied and have "
            f"no label: recjury annotate export FOLDER --further {out} --raters NAME "
            "--raters-each 1"
        )
    output.say(f"{len(found.labels.annotations)} scores in {out}")


def _logs(url: str, campaign: str | None, selection: "Selection") -> "dict[str, ConversationLog]":
    """The conversations of a campaign by their ids; by default the newest."""
    from recjury.agreement.annotation import campaign_logs
    from recjury.results import newest_campaign
    from recjury.store import Store

    with Store.open(url, read_only=True) as kept:
        chosen = kept.campaign(campaign or newest_campaign(kept) or "").id
        return campaign_logs(kept, chosen, selection)


def _gold(path: Path | None, logs: "dict[str, ConversationLog]") -> dict[str, dict[str, int]]:
    """Known scores by log id and question."""
    from recjury.corpora.csv_rows import read_csv_rows

    found: dict[str, dict[str, int]] = {}
    for row in () if path is None else read_csv_rows(path, ("conversation", "question", "score")):
        named = [log for name, log in logs.items() if name.startswith(row["conversation"])]
        if len(named) != 1 or not row["conversation"]:
            raise row.error(f"{len(named)} conversations begin with {row['conversation']!r}")
        score = row.count("score")
        if score is None:
            raise row.error("score: is missing")
        found.setdefault(named[0].id, {})[row["question"]] = score
    return found


def _labels(path: Path) -> "AnnotatedLabels":
    from recjury.agreement.annotation import read_annotated

    return read_annotated(path)
