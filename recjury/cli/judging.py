"""`recjury judge`: recorded conversations, or those of an earlier campaign, rated."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from recjury import campaign as campaigns
from recjury.agreement import open_labels
from recjury.cli.options import pairs
from recjury.cli.parameters import OptionsOf
from recjury.cli.work import WorkOptions
from recjury.corpora import Reading, Recording, Skipped, read_recordings
from recjury.errors import UserError
from recjury.mistakes import made
from recjury.store import Store


def _reading(
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
) -> Reading:
    mapping = pairs((pair for each in map_ or () for pair in each.split(",")), "--map NAME=VALUE")
    values = pairs(rows or (), "--rows NAME=VALUE")
    return Reading(form, catalogue, mapping, values, sample, encoding)


def judge(
    *,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Recorded conversations: JSON, JSON lines, CSV.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A YAML file with `model` and `evaluators`.")
    ] = None,
    reading: Annotated[Reading, OptionsOf(_reading)],
    labels: Annotated[
        str, typer.Option(help="FORM:PATH of people's labels: rate the dialogues that they rated.")
    ] = "",
    campaign: Annotated[
        str, typer.Option(help="The name to keep it under; without files, an earlier campaign.")
    ] = "",
    work: WorkOptions,
) -> None:
    """Rate recorded conversations; without a model, by `outcome` and `counted`.

    Examples: recjury judge chats.jsonl --catalogue sample; recjury judge chats.json --config
    judges.yaml; recjury judge chats.csv --map text=body,speaker=role,session=chat_id; recjury
    judge chats.xml --form own_form:read; recjury judge --campaign demo --config judges.yaml.
    """
    make = partial(_made, config)
    skipped: Sequence[str] = ()
    if labels:
        name, recordings = _labelled(labels, reading.catalogue)
        settings, conversations = campaigns.to_judge(campaign or name, recordings, make)
    elif files:
        read = read_recordings(files, reading)
        skipped = tuple(_skipped(read.skipped))
        settings, conversations = campaigns.to_judge(
            campaign or _name(files), read.recordings, make
        )
    elif campaign:
        with Store(work.store, readonly=True) as opened:
            settings, conversations = campaigns.to_judge_again(opened, campaign, make)
    else:
        raise UserError("expected files, or --campaign NAME of an earlier campaign, got neither")
    begin = partial(campaigns.judge, settings, conversations)
    found = work.carry_out(settings, begin, conversations=conversations, skipped=skipped)
    work.output.show(found)


def _name(files: list[Path]) -> str:
    """The campaign of some files: the first one's name, and how many more there are."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0].name.partition('.')[0]}{more}"


def _labelled(labels: str, catalogue: str) -> tuple[str, list[Recording]]:
    """Name and dialogues of what people have rated. Raises UserError if the labels have none."""
    read = open_labels(labels)
    if not read.recordings:
        raise UserError(f"--labels {labels} has scores alone: name the dialogues' files, too")
    return read.name, [each.model_copy(update={"catalogue": catalogue}) for each in read.recordings]


def _made(file: Path | None, given: dict[str, Any]) -> campaigns.Config:
    """The campaign with the models and evaluators of a file. Raises UserError."""
    return campaigns.read_config(file, given) if file else made(campaigns.Config, given)


def _skipped(skipped: Iterable[Skipped]) -> Iterator[str]:
    """One line for each system and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in skipped:
        groups.setdefault((each.system, each.reason), []).append(each.where)
    for (system, reason), places in groups.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        yield f"{system}: skipped {places[0]}{more}: {reason}"
