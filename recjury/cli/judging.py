"""`recjury judge`: recorded conversations, or those of an earlier campaign, rated."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recjury.cli.app import app
from recjury.cli.options import (
    DEFAULT_STORE,
    FailedOption,
    JsonOption,
    LogOption,
    ScenariosOption,
    StoreOption,
    SystemsOption,
    UsersOption,
    WaitOption,
    WhereOption,
    selection,
)
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.campaign import Config, Finished
    from recjury.corpora import Recording, Skipped


@app.command()
def judge(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Recorded conversations: JSON, JSON lines, CSV.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A YAML file with `model` and `evaluators`.")
    ] = None,
    form: Annotated[
        str, typer.Option(help="messages, csv, ..., or module:function; recognised by default.")
    ] = "",
    catalogue: Annotated[
        str, typer.Option(help="The corpus whose items they speak of, if they do not name it.")
    ] = "",
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", help="Columns or keys: text=body,speaker=role,session=chat_id."),
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(help="Only rows of the files with this value: COLUMN=VALUE; may be repeated."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many scenarios, drawn by chance.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of the files, such as cp1252.")] = "utf-8",
    labels: Annotated[
        str, typer.Option(help="FORM:PATH of people's labels: rate the dialogues that they rated.")
    ] = "",
    campaign: Annotated[
        str, typer.Option(help="The name to keep it under; without files, an earlier campaign.")
    ] = "",
    systems: SystemsOption = None,
    users: UsersOption = None,
    scenarios: ScenariosOption = None,
    where: WhereOption = None,
    failed: FailedOption = False,
    store: StoreOption = DEFAULT_STORE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is left to do and what it costs.")
    ] = False,
    retry: Annotated[bool, typer.Option(help="Rate again what failed.")] = True,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Go on with a run that another machine left.")
    ] = False,
    wait: WaitOption = False,
    log: LogOption = None,
    json: JsonOption = False,
) -> None:
    """Rate recorded conversations; without a model, by `outcome` and `counted`.

    Examples: recjury judge chats.jsonl --catalogue sample; recjury judge chats.json --config
    judges.yaml; recjury judge chats.csv --map text=body,speaker=role,session=chat_id; recjury
    judge chats.xml --form own_form:read; recjury judge --campaign demo --config judges.yaml.
    """
    from recjury import campaign as campaigns
    from recjury.cli.interrupts import run_until_interrupted
    from recjury.cli.progress import progress_line, say_what_waits
    from recjury.cli.running import chooser, estimate
    from recjury.cli.show import show
    from recjury.corpora import Reading, read_recordings
    from recjury.logs import report_events
    from recjury.results import summary
    from recjury.store import Store

    if not files and not campaign and not labels:
        raise UserError("expected files, or --campaign NAME of an earlier campaign, got neither")
    report_events(log)
    chosen = selection(systems, users, scenarios, where, failed)
    skipped: Iterable[Skipped] = ()
    make = _maker(config)
    if labels:
        name, recordings = _labelled(labels, catalogue)
        settings, conversations = campaigns.to_judge(campaign or name, recordings, make)
    elif files:
        columns = [pair for each in map_ or () for pair in each.split(",")]
        mapping, values = _pairs(columns, "--map"), _pairs(rows or (), "--rows")
        reading = Reading(form, catalogue, mapping, values, sample, encoding)
        read = read_recordings(files, reading)
        name, skipped = campaign or _name(files), read.skipped
        settings, conversations = campaigns.to_judge(name, read.recordings, make)
    else:
        with Store(store, readonly=True) as opened:
            settings, conversations = campaigns.to_judge_again(opened, campaign, make)
    if dry_run:
        found = estimate(settings, store, conversations=conversations, chosen=chosen)
        show(found, as_json=json)
        return
    with Store(store) as opened:
        work = campaigns.judge(
            settings,
            conversations,
            opened,
            retry=retry,
            choose=chooser(chosen, opened, settings.name),
            take_over=take_over,
            wait=say_what_waits if wait else None,
            progress=progress_line(),
        )
        finished = run_until_interrupted(work)
        _say_what_was_done(finished)
        found = summary(opened, settings.name)
    problems = (*finished.waiting, *_skipped(skipped))
    caveats = [*found.data["caveats"], *problems]
    show(
        replace(
            found,
            problems=(*problems, *found.problems),
            data={**found.data, "caveats": caveats},
        ),
        as_json=json,
    )


def _say_what_was_done(finished: "Finished") -> None:
    if not finished.left_before:
        typer.echo(f"All {finished.planned} conversations were rated already.", err=True)
        return
    left = f", {finished.left} are unfinished" if finished.left else ""
    before = finished.planned - finished.left_before
    typer.echo(
        f"{finished.left_before - finished.left} of {finished.planned} conversations were rated, "
        f"{before} had been before{left}; "
        f"{finished.sent:,} calls sent, {finished.reused:,} found in the store",
        err=True,
    )


def _pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """The names and values of `name=value`. Raises UserError."""
    found = {}
    for pair in given:
        name, _, value = (part.strip() for part in pair.partition("="))
        if not (name and value):
            raise UserError(f"{option} {pair}: expected NAME=VALUE")
        found[name] = value
    return found


def _name(files: list[Path]) -> str:
    """The campaign of some files: the first one's name, and how many more there are."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0].name.partition('.')[0]}{more}"


def _labelled(labels: str, catalogue: str) -> "tuple[str, list[Recording]]":
    """Name and dialogues of what people have rated. Raises UserError if the labels have none."""
    from recjury.agreement import open_labels

    read = open_labels(labels)
    if not read.recordings:
        raise UserError(f"--labels {labels} has scores alone: name the dialogues' files, too")
    return read.name, [each.model_copy(update={"catalogue": catalogue}) for each in read.recordings]


def _maker(path: Path | None) -> Callable[[dict[str, Any]], "Config"]:
    from recjury import campaign
    from recjury.mistakes import made

    def make(given: dict[str, Any]) -> "Config":
        return campaign.read_config(path, given) if path else made(campaign.Config, given)

    return make


def _skipped(skipped: "Iterable[Skipped]") -> Iterable[str]:
    """One line for each system and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in skipped:
        groups.setdefault((each.system, each.reason), []).append(each.where)
    for (system, reason), places in groups.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        yield f"{system}: skipped {places[0]}{more}: {reason}"
