"""The report: one HTML file, without scripts or requests to any network."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from recjury.errors import ConfigError, StoreError
from recjury.report.findings import CampaignFindings, collect_findings
from recjury.report.page import Page, build_page
from recjury.report.people import PeopleSection
from recjury.report.plots import bars_plot, debate_plot, interval_plot, score_map
from recjury.results import Measure, newest_campaign
from recjury.results.scores import headline
from recjury.safe_text import without_keys
from recjury.store import Store

_MAPPED = 3  # with at least so many measures, numbers are shown as colours, too


def write_report(
    store: Store,
    path: Path,
    *,
    campaign: str | None = None,
    examples: int = 3,
    people: PeopleSection | None = None,
    conversations: Sequence[str] | None = None,
) -> None:
    """Write the report about a campaign, by default the newest of `store`, to `path`.

    It is about all its conversations, or those whose ids are given.

    At most `examples` conversations of each system are shown; `people` is the section about
    agreement with people. The folder is made if it is missing.
    The file appears only when it is complete; the same store gives the same bytes. Raises
    StoreError if there is nothing to report on, ConfigError if `path` cannot be written.
    """
    chosen = campaign or newest_campaign(store)
    found = collect_findings(store, chosen, conversations) if chosen else None
    if chosen is None or found is None or not found.systems:
        whose = "the store" if chosen is None else f"campaign {chosen}"
        raise StoreError(f"{whose} has no conversation to report on: run a campaign first")
    page = build_page(store, found, campaign=chosen, examples=examples, people=people)
    _put(path, without_keys(render(page, found)))


def render(page: Page, found: CampaignFindings) -> str:
    """The page as HTML. All text from systems, models and files is escaped."""
    return _environment().get_template("report.html.j2").render(page=page, plots=_plots(found))


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("recjury.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _plots(found: CampaignFindings) -> dict[str, list[Markup]]:
    """Each evaluator's figures. Their markup is safe: `svg` has escaped the names in them."""
    return {
        each.label: [Markup(svg) for svg in _drawn(found, each.label)]  # noqa: S704 (made by us)
        for each in found.evaluators
    }


def _drawn(found: CampaignFindings, label: str) -> Iterator[str]:
    bounded = [m for m in found.measures if m.evaluator == label and m.metric.high is not None]
    shares = [each for each in bounded if _is_share(each)]
    mapped = [each for each in bounded if each.metric.group and each not in shares]
    if len(mapped) >= _MAPPED:
        yield score_map(found.systems, mapped)
    if len(shares) > 1:
        yield bars_plot(found.systems, shares)
    elif first := headline(bounded):
        yield interval_plot(found.systems, first)
    rounds = {of.system: t.means() for of, t in found.rounds.items() if of.evaluator == label}
    held = {name: means for name, means in rounds.items() if means is not None}
    if held:
        yield debate_plot(held)


def _is_share(measure: Measure) -> bool:
    metric = measure.metric
    return (metric.low, metric.high) == (0, 1) and not metric.of_some


def check_report_path(path: Path) -> None:
    """Raise ConfigError if `path` cannot be written; called before a long run starts."""
    if os.path.lexists(path) and not path.is_file():  # such as /dev/null: it would be replaced
        raise ConfigError(f"cannot write the report to {path}: it is not a regular file")
    folder = next(each for each in path.absolute().parents if os.path.lexists(each))
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ConfigError(f"cannot write the report to {path}: {folder} is not a writable folder")


def _put(path: Path, text: str) -> None:
    check_report_path(path)
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
