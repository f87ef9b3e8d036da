"""`recjury report`: an HTML page over a store."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.selecting import with_filters
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.records import JSON
    from recjury.store import Selection


@with_filters
def report(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    examples: Annotated[
        int, typer.Option(min=0, metavar="N", help="Conversations to show per system.")
    ] = 3,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FORM:PATH",
            help="Add how far metrics agree with these labels, as for `recjury align`.",
        ),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=ASPECT", help="Compare a metric with this aspect; may be repeated."
        ),
    ] = None,
    as_json: options.Json = False,
    *,
    selection: "Selection",
) -> None:
    """Write a page with tables, plots, comparisons and example conversations; show the tables.

    \b
    recjury report --out report.html
    recjury report --store sqlite:///runs.db --campaign 3f2a --json
    recjury report --system kbrd --failed
    recjury report --labels annotations:labels.json --pair core.overall=overall
    """
    from recjury.cli.result_tables import conclusions_json, show_answer, show_systems
    from recjury.report import check_report_path, write_report
    from recjury.results import newest_campaign, summarise
    from recjury.store import Store

    if pair and labels is None:
        raise ConfigError("--pair is for --labels")
    with Store.open(store, read_only=True) as kept:
        chosen = kept.campaign(campaign).id if campaign else newest_campaign(kept)
        people = None
        if labels is not None and chosen is not None:
            from recjury.api.people_section import people_section

            check_report_path(out)
            people = people_section(kept, chosen, labels, pair or ())
        ids = None if chosen is None else kept.selected(chosen, selection)
        write_report(
            kept, out, campaign=chosen, examples=examples, people=people, conversations=ids
        )
        assert chosen is not None  # without a campaign there is no report
        summary = summarise(kept, chosen, conversations=ids)
        others = sum(each.id != chosen for each in kept.campaigns())
    if as_json:
        shown: dict[str, JSON] = {"report": str(out), "systems": summary.systems_json()}
        output.emit_json({**shown, "noise": summary.noise_json(), **conclusions_json(summary)})
        return
    show_answer(summary)
    show_systems(summary)
    output.say(f"campaign {chosen}" + (f"; the store has {others} more" if others else ""))
    output.say(f"report: {out}")
