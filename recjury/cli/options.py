"""Options that several commands have."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from recjury import results
from recjury.cli.parameters import OptionsOf
from recjury.cli.show import Form, show
from recjury.errors import UserError
from recjury.results import Findings, Resampling, Selection
from recjury.store import Store

DEFAULT_STORE = "recjury.db"


def _lasting(store: str) -> str:
    """The store, if what is written there outlasts the command. Raises UserError."""
    if store.removeprefix("sqlite://").strip("/") in ("", ":memory:"):
        raise UserError(f"--store {store!r} would keep nothing: name a file, or a database's URL")
    return store


StoreOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--store", callback=_lasting, help="Where results are kept: a file, or a database's URL."
    ),
]
CampaignOption: TypeAlias = Annotated[
    str, typer.Option("--campaign", help="The campaign's name; the newest by default.")
]
LabelsOption: TypeAlias = Annotated[
    str, typer.Option("--labels", help="FORM:PATH, or module:function of your own.")
]
MissingOption: TypeAlias = Annotated[
    Literal["left out", "worst"],
    typer.Option(help="What a score counts that a failure cost: nothing, or the worst."),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object with stable keys.")
]
FormOption: TypeAlias = Annotated[
    Form, typer.Option("--format", help="How the answer is printed; csv: the unrounded numbers.")
]
PlotOption: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", help="Draw it, too, as this file: .png or .svg.")
]


def _selection(
    systems: Annotated[
        list[str] | None, typer.Option("--system", help="Only of this system; may be repeated.")
    ] = None,
    users: Annotated[
        list[str] | None, typer.Option("--user", help="Only with this user; may be repeated.")
    ] = None,
    scenarios: Annotated[
        list[str] | None,
        typer.Option("--scenario", help="Only this scenario, ID or CORPUS/ID; may be repeated."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only what meets it: 'core.overall<40', ending=hit; repeatable."),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only what failed or lost a score.")
    ] = False,
) -> Selection:
    names = tuple(systems or ()), tuple(users or ()), tuple(scenarios or ())
    return Selection(*names, where=tuple(where or ()), failed=failed)


SelectionOptions: TypeAlias = Annotated[Selection, OptionsOf(_selection)]


def _resampling(
    resamples: Annotated[
        int, typer.Option(min=100, max=100_000, help="Draws of the bootstrap.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap and the tests.")] = 0,
) -> Resampling:
    return Resampling(resamples, seed)


ResamplingOptions: TypeAlias = Annotated[Resampling, OptionsOf(_resampling)]


Draw: TypeAlias = Callable[[Findings, Path], None]


@dataclass(frozen=True)
class Output:
    """How findings are shown."""

    plot: PlotOption = None
    form: FormOption = "text"
    json: JsonOption = False

    def show(self, findings: Findings, draw: Draw = results.plot) -> None:
        """Draw and print. Raises typer.Exit with code 3 if something failed or has no score."""
        if self.plot is not None:
            draw(findings, self.plot)
            typer.echo(f"Drawn: {self.plot}", err=True)
        show(findings, as_json=self.json, form=self.form)


def _in_json(json: JsonOption = False) -> Output:
    return Output(json=json)


def _in_forms(form: FormOption = "text", json: JsonOption = False) -> Output:
    return Output(form=form, json=json)


JsonOutput: TypeAlias = Annotated[Output, OptionsOf(_in_json)]
FormOutput: TypeAlias = Annotated[Output, OptionsOf(_in_forms)]
PlotOutput: TypeAlias = Annotated[Output, OptionsOf(Output)]


def campaign_of(store: Store, name: str) -> str:
    """The campaign of this name, or else the newest; a line says which if there are others."""
    found = store.campaign(name)
    number = 1 if name else len(store.campaigns())
    if number > 1:
        typer.echo(f"{found} is the newest of {number} campaigns; --campaign names one.", err=True)
    return found


def pairs(values: Iterable[str], expected: str) -> dict[str, str]:
    """The names and values of an option such as `--map NAME=VALUE`. Raises UserError."""
    found = {}
    for pair in values:
        name, _, value = (part.strip() for part in pair.partition("="))
        if not (name and value):
            option, _, form = expected.partition(" ")
            raise UserError(f"{option} {pair}: expected {form}")
        found[name] = value
    return found
