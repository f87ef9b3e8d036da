"""`recjury init`: a first campaign file. It imports next to nothing, for it is called first."""

import json
from pathlib import Path
from typing import Annotated

import typer

from recjury.errors import UserError

_SCHEMA = "campaign.schema.json"


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("campaign.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help=f"Also write {_SCHEMA}, by which editors help.")
    ] = False,
) -> None:
    """Write a campaign file that runs as it is, with a comment for each setting.

    Examples: recjury init; recjury init mine.yaml --schema.
    """
    text = (Path(__file__).parent / "campaign.yaml").read_text("utf-8")
    line = f"# yaml-language-server: $schema={_SCHEMA}"
    try:
        if schema:
            _write_schema(file.parent / _SCHEMA)
            text = f"{line}\n{text}"
        if schema and file.exists() and not force:
            typer.echo(f"{file} is as it was. Its first line tells editors of the schema:\n{line}")
            return
        with file.open("w" if force else "x", encoding="utf-8") as opened:
            opened.write(text.replace("FILE", str(file)))
    except FileExistsError:
        raise UserError(f"{file} is there already: name another file, or use --force") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    typer.echo(f"{file} is a campaign of two systems over the sample. Next:")
    typer.echo(f"  recjury run {file} --dry-run\n  recjury run {file}\n  recjury doctor {file}")


def _write_schema(file: Path) -> None:
    from recjury.campaign.schema import campaign_schema

    text = json.dumps(campaign_schema(), indent=1, ensure_ascii=False)
    file.write_text(f"{text}\n", "utf-8")
