"""The report: one HTML file that needs no script and asks nothing of any network."""

import os
import tempfile
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from recjury.errors import ConfigError, StoreError
from recjury.records import Dimension
from recjury.report.choice import newest_campaign
from recjury.report.findings import Findings, walk
from recjury.report.page import Page, gather
from recjury.report.plots import debate_plot, factor_map, overall_plot, recall_plot
from recjury.report.scores import OVERALL
from recjury.report.tables import COLUMNS
from recjury.stats.resampling import interval_of_mean
from recjury.store import Store


def write_report(
    store: Store, path: Path, *, campaign: str | None = None, examples: int = 3
) -> None:
    """Write the report about a campaign, by default the newest of `store`, to `path`.

    `examples` conversations are shown of each system. The folder is made where it is missing,
    and the file appears only when it is complete; the same store gives the same bytes. Raises
    StoreError where there is no trial to report on, ConfigError where `path` cannot be written.
    """
    chosen = campaign or newest_campaign(store)
    found = walk(store, chosen) if chosen else Findings()
    if chosen is None or not found.systems:
        whose = "the store" if chosen is None else f"campaign {chosen}"
        raise StoreError(f"{whose} has no trial to report on: run a campaign first")
    page = gather(store, found, campaign=chosen, examples=examples)
    _put(path, render(page, found))


def render(page: Page, found: Findings) -> str:
    """The page as HTML. Whatever was said by systems, models or files is escaped."""
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            page=page,
            plots=_plots(page, found),
            columns=COLUMNS,
            dimensions=list(Dimension),
        )
    )


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("recjury.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _plots(page: Page, found: Findings) -> dict[str, Markup]:
    """The page's figures. Their markup is ours: matplotlib has escaped the names in them."""
    overall = {
        name: interval_of_mean(sample.column(OVERALL)) for name, sample in found.samples.items()
    }
    rounds = {name: tally.means() for name, tally in found.rounds.items()}
    held = {name: means for name, means in rounds.items() if means is not None}
    drawn = {
        "factors": factor_map(page.systems),
        "overall": overall_plot(page.systems, overall),
        "recall": recall_plot(page.systems),
        "debates": debate_plot(held) if held else "",
    }
    return {name: Markup(svg) for name, svg in drawn.items()}  # noqa: S704 (made by us)


def check_place(path: Path) -> None:
    """Raise ConfigError where no report can be written, so that a long run need not end in it."""
    if os.path.lexists(path) and not path.is_file():  # such as /dev/null: it would be replaced
        raise ConfigError(f"cannot write the report to {path}: it is no regular file")
    folder = next(each for each in path.absolute().parents if os.path.lexists(each))
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ConfigError(f"cannot write the report to {path}: {folder} is no folder to write in")


def _put(path: Path, text: str) -> None:
    check_place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(text)
        try:
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise
    except OSError as error:
        raise ConfigError(f"cannot write the report to {path}: {error.strerror}") from error
