"""Options that several commands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from recjury.cli.show import Shown
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.results import Selection
    from recjury.store import Store


def _kept(store: str) -> str:
    """The store, if what is written there outlasts the command. Raises UserError."""
    if store.removeprefix("sqlite://").strip("/") in ("", ":memory:"):
        raise UserError(f"--store {store!r} would keep nothing: name a file, or a database's URL")
    return store


StoreOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--store", callback=_kept, help="Where results are kept: a file, or a database's URL."
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object with stable keys.")
]
FormatOption: TypeAlias = Annotated[
    Shown, typer.Option("--format", help="How the answer is printed; csv: the unrounded numbers.")
]
PlotOption: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", help="Draw it, too, as this file: .png or .svg.")
]
LogOption: TypeAlias = Annotated[
    Path | None, typer.Option("--log", help="Append events to this file, as JSON lines.")
]
WaitOption: TypeAlias = Annotated[
    bool, typer.Option("--wait", help="Go on when batches of models have answered.")
]
CampaignOption: TypeAlias = Annotated[
    str, typer.Option("--campaign", help="The campaign's name; the newest by default.")
]
DEFAULT_STORE = "recjury.db"

SystemsOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--system", help="Only of this system; may be repeated.")
]
UsersOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--user", help="Only with this user; may be repeated.")
]
ScenariosOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--scenario", help="Only this scenario, ID or CORPUS/ID; may be repeated."),
]
WhereOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--where", help="Only what meets it: 'core.overall<40', ending=hit; repeatable."),
]
FailedOption: TypeAlias = Annotated[
    bool, typer.Option("--failed", help="Only what failed or lost a score.")
]
MissingOption: TypeAlias = Annotated[
    Literal["left out", "worst"],
    typer.Option(help="What a score counts that a failure cost: nothing, or the worst."),
]
ResamplesOption: TypeAlias = Annotated[
    int, typer.Option(min=100, max=100_000, help="Draws of the bootstrap.")
]
SeedOption: TypeAlias = Annotated[int, typer.Option(min=0, help="Of the bootstrap and the tests.")]


def selection(
    systems: Sequence[str] | None,
    users: Sequence[str] | None,
    scenarios: Sequence[str] | None,
    where: Sequence[str] | None,
    failed: bool,
) -> "Selection":
    """The selection of these options. Raises UserError."""
    from recjury.results import Selection

    names = tuple(systems or ()), tuple(users or ()), tuple(scenarios or ())
    return Selection(*names, where=tuple(where or ()), failed=failed)


def campaign_of(store: "Store", name: str) -> str:
    """The campaign of this name, or else the newest; a line says which if there are others."""
    found = store.campaign(name)
    number = 1 if name else len(store.campaigns())
    if number > 1:
        typer.echo(f"{found} is the newest of {number} campaigns; --campaign names one.", err=True)
    return found
