"""What `analyse` and `train` share: listed, described, planned, run with progress, printed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from recjury.cli import output
from recjury.cli.findings import check_out, show_findings, show_tables, write_findings
from recjury.cli.progress_line import duration, progress_line
from recjury.tables import Analysis, Column, LocalTrainer, TableFormat, WorkProgress, table_of

if TYPE_CHECKING:
    from recjury.plugins import Registry
    from recjury.tables import AnalysisInput

AnalysisT = TypeVar("AnalysisT", bound=Analysis)

_EVERY = 10.0  # seconds between lines if there is no terminal


class ShownProgress(WorkProgress):
    """Progress of which finished parts are printed, a line each."""

    def say(self, line: str) -> None:
        """Print the line on standard error."""
        output.say(line)

    def line(self) -> str:
        """What is being done, and the time left if it is known."""
        left = self.seconds_left
        return self.doing + (f" · {duration(left)} left" if left else "")


def list_analyses(registry: "Registry[type[AnalysisT]]", form: TableFormat) -> None:
    """Print what there is: what each shows, needs and costs; in JSON with its settings."""
    rows = [_listed(registry, name) for name in registry.names]
    if form is TableFormat.TEXT:
        output.show_list((row["name"], _text(row)) for row in rows)
    elif form is TableFormat.JSON:
        settings = {name: registry.load(name).settings().as_json() for name in registry.names}
        listed = [{**row, "settings": settings[row["name"]]} for row in rows]
        output.emit_json({registry.plural: listed})
    else:
        columns = [Column(name) for name in ("name", "shows", "source", "needs", "takes", "calls")]
        show_tables((table_of(registry.plural, columns, rows),), form)


def _listed(registry: "Registry[type[AnalysisT]]", name: str) -> dict[str, str]:
    kind = registry.load(name)
    return {
        "name": name,
        "shows": kind.summary(),
        "source": kind.source,
        "needs": ", ".join(kind.needs),
        "takes": ", ".join(kind.takes),
        "calls": kind.calls,
    }


def _text(row: Mapping[str, str]) -> str:
    """What an analysis shows, in a line, and below what it needs and costs."""
    source = f" {row['source']}." if row["source"] else ""
    needs = " and ".join(f"--{need}" for need in row["needs"].split(", ") if need)
    takes = ", ".join(f"--{each}" for each in row["takes"].split(", ") if each)
    below = [f"needs {needs}" if needs else "", f"takes {takes}" if takes else ""]
    below.append(f"model calls: {row['calls']}")
    return f"{row['shows']}{source}\n{'; '.join(filter(None, below))}"


class NamedAnalysis(Generic[AnalysisT]):
    """An analysis or a training that the command line names."""

    def __init__(
        self,
        registry: "Registry[type[AnalysisT]]",
        name: str,
        settings: Sequence[str],
        form: TableFormat,
    ):
        """`settings` are like "key=value". Raises ConfigError for an unknown name."""
        self.progress = ShownProgress()
        self._kind = registry.load(name)
        self._registry, self._name, self._form = registry, name, form
        self._settings = read_settings(settings)

    def describe(self) -> None:
        """Print what it shows, and its settings with their defaults and meanings."""
        if self._form is not TableFormat.JSON:
            output.say((self._kind.__doc__ or "").strip())
        show_tables((self._kind.settings(),), self._form)

    def plan(self, given: "AnalysisInput") -> None:
        """Print the calls that it would make, and what they may cost. Raises UserError."""
        from recjury.campaign.config_file import read_models
        from recjury.cli.dry_run import show_calls

        analysis = self._made()
        given.require(self._name, *analysis.needs)
        as_json = self._form is TableFormat.JSON
        expected = list(analysis.plan(given))
        if given.config is None or not expected:
            output.emit_json({"calls": 0}) if as_json else output.say("no model is called")
            return
        config = read_models(given.config).model_copy(update=given.changes)
        show_calls(config, expected, as_json=as_json)

    def run(self, given: "AnalysisInput", out: Path | None) -> None:
        """Run it, print the tables, and write files to `out`. Raises UserError.

        Ends the command with `SOME_FAILED` if a part of it could not be done.
        """
        from recjury.api.registries import run_analysis
        from recjury.cli.async_work import await_work
        from recjury.cli.result_tables import say_reasons

        check_out(out)
        analysis, progress = self._made(), self.progress
        with progress_line(progress.line, lambda: progress.share, every=_EVERY):
            if isinstance(analysis, LocalTrainer):
                given.require(self._name, *analysis.needs)
                findings = analysis.train(given)
            else:
                findings = await_work(run_analysis(self._name, analysis, given))
        show_findings(findings, self._form)
        if out is not None:
            write_findings(findings, out, self._form)
        elif findings.files:
            output.say(f"--out PATH writes {', '.join(findings.files)}")
        if findings.problems:
            say_reasons(findings.problems)
            output.stop(output.SOME_FAILED)

    def _made(self) -> AnalysisT:
        from recjury.api.registries import configured

        return configured(self._registry, self._name, self._settings)


def read_settings(given: Iterable[str]) -> Mapping[str, object]:
    """`key=value` by key; values are YAML, and those of a repeated key are a list.

    Raises ConfigError.
    """
    import yaml

    from recjury.errors import ConfigError

    settings: dict[str, list[object]] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--set: expected KEY=VALUE, got {text!r}")
        try:
            settings.setdefault(key.strip(), []).append(yaml.safe_load(value))
        except yaml.YAMLError:
            raise ConfigError(f"--set {key.strip()}: {value!r} is not a YAML value") from None
    return {key: values[0] if len(values) == 1 else values for key, values in settings.items()}
