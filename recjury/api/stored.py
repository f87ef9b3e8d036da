"""The results of a store for programs: frames, summaries, comparisons, reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.api.registries import ANALYSES, configured, data_folder, run_analysis
from recjury.api.running import run_now
from recjury.campaign import RunResult
from recjury.results import (
    CampaignSummary,
    Comparison,
    ComparisonOptions,
    EvaluatorComparison,
    compare_evaluators,
    compare_systems,
    frame,
    newest_campaign,
    summarise,
)
from recjury.store import Campaign, CampaignCalls, Selection, Store
from recjury.tables import AnalysisInput, Column, Findings, Table, table_of

if TYPE_CHECKING:
    import pyarrow as pa

    from recjury.agreement.agreement import Agreements


_ALL = Selection()


class Stored:
    """The results of a store, or of one of its campaigns. No file stays open."""

    def __init__(self, url: str, campaign: str | None = None):
        """`url` is like sqlite:///runs.db; `campaign` an id, or its first digits.

        Raises StoreError if the store or campaign does not exist.
        """
        self.url = url
        with Store.open(url, read_only=True) as store:
            self.campaign = None if campaign is None else store.campaign(campaign).id

    def __repr__(self) -> str:
        return f"Stored({self.url!r}, {self.campaign!r})"

    def _repr_html_(self) -> str:
        """The means of each system as notebooks show them."""
        return _means_table(self.summary())._repr_html_()

    @property
    def campaigns(self) -> tuple[Campaign, ...]:
        """The campaigns of the store, the oldest first, with their set-up."""
        with self._open() as store:
            return store.campaigns()

    def of(self, campaign: str) -> "Stored":
        """The results of one campaign, by its id or its first digits."""
        return Stored(self.url, campaign)

    def frame(self, name: str, selection: Selection = _ALL) -> "pa.Table":
        """A table as Arrow: one of those that `recjury.results.export` lists.

        `.to_pandas()` converts it to a DataFrame if pandas is installed. A row has the ids of its
        conversation, evaluation, evaluator and metric, if it belongs to one. A `selection` is of
        the newest campaign if none was named. Raises StoreError.
        """
        with self._open() as store:
            if selection.is_all:
                return frame(store, name, self.campaign)
            campaign = self._chosen(store)
            return frame(store, name, campaign, store.selected(campaign, selection))

    def compare(
        self,
        a: str,
        b: str,
        *,
        metrics: Sequence[str] = (),
        margin: float | None = None,
        force: bool = False,
        seed: int = 0,
        selection: Selection = _ALL,
    ) -> Comparison:
        """System `a` minus system `b` by metric: differences, 95 % intervals, Holm's p-values.

        `metrics` ("core.overall") restricts what is compared; `seed` is that of the resampling.
        With a `margin`, `equivalence` has the p-value of the test that the difference is smaller.
        Raises StoreError for an unknown system or metric, and, without `force`, for systems without
        a scenario in common, or that were not rated by the same versions of evaluators.
        """
        options = ComparisonOptions(metrics, margin, force, seed, selection)
        with self._open() as store:
            return compare_systems(store, a, b, campaign=self.campaign, options=options)

    def compare_evaluators(self, x: str, y: str, *, seed: int = 0) -> EvaluatorComparison:
        """Evaluator `x` against `y` (labels such as "core") on the same conversations."""
        with self._open() as store:
            return compare_evaluators(store, x, y, campaign=self.campaign, seed=seed)

    def report(
        self,
        path: str | Path = "report.html",
        *,
        examples: int = 3,
        labels: str | None = None,
        pairs: Sequence[str] = (),
        selection: Selection = _ALL,
    ) -> Path:
        """Write the HTML report, with that many example conversations of each system.

        With `labels` ("annotations:labels.json"), it has a section about agreement with people;
        `pairs` ("core.overall=overall") are as in `align`.
        """
        from recjury.report import write_report

        with self._open() as store:
            people = None
            if labels is not None:
                from recjury.api.people_section import people_section

                people = people_section(store, self._chosen(store), labels, pairs)
            campaign = self.campaign if selection.is_all else self._chosen(store)
            write_report(
                store,
                Path(path),
                campaign=campaign,
                examples=examples,
                people=people,
                conversations=store.selected(campaign, selection) if campaign else None,
            )
        return Path(path)

    def align(
        self, labels: str, *, pairs: Sequence[str] = (), resamples: int = 2_000, seed: int = 0
    ) -> "Agreements":
        """How far metrics agree with people, by the labels' subset and aspect.

        `labels` is a form and a path ("annotations:labels.json", "csv:labels.csv"), `pairs` are
        like "core.overall=overall". Each aspect has `metrics` and `predictors` with `estimates`
        (r, rho, tau, within systems; each with its 95 % interval) and `coverage`, and people's
        `ceiling`. Raises UserError for labels that cannot be used, and if nothing is paired.
        """
        from recjury.api.people import align

        with self._open() as store:
            return align(store, self.campaign, labels, pairs, resamples=resamples, seed=seed)

    def analyse(
        self,
        name: str,
        *,
        labels: str | None = None,
        config: str | Path | None = None,
        data: str | Path | None = None,
        budget: object = None,
        **settings: object,
    ) -> Findings:
        """The tables and files of an analysis, as `recjury analyse NAME` makes them.

        `labels` are like "annotations:labels.json", `config` is a campaign file with the models to
        ask, `data` the folder of public data (default: RECJURY_DATA). Raises ConfigError, with the
        most similar name, for an unknown analysis or setting, and for something that it needs.
        """
        analysis = configured(ANALYSES, name, settings)
        given = AnalysisInput(
            store=self.url,
            campaign=self.campaign,
            labels=labels,
            config=None if config is None else Path(config),
            changes={} if budget is None else {"budget": budget},
            data=data_folder(data),
        )
        return run_now(lambda: run_analysis(name, analysis, given))

    def annotate(
        self,
        folder: str | Path,
        *,
        raters: int | str | Sequence[str] | None = None,
        design: str = "all",
        raters_each: int | None = None,
        questions: Sequence[str] = (),
        guideline: str = "core",
        seed: int = 0,
        selection: Selection = _ALL,
    ) -> tuple[Path, ...]:
        """Write a task for raters about the campaign: task.html, task.csv and key.json.

        `raters` is their number, or their names; `design` "core" draws ten records of each corpus,
        16 conversations a rater. `questions` ("overall") are by default all. `import_labels` reads
        the answers. They are of the newest campaign if none was named. Raises ConfigError if the
        folder has a task already.
        """
        from recjury.api.people import task_design, write_rater_task

        wanted = task_design(design, raters, raters_each, seed)
        with self._open() as store:
            return write_rater_task(
                store,
                self._chosen(store),
                Path(folder),
                wanted,
                questions=questions,
                guideline=guideline,
                selection=selection,
            )

    @property
    def systems(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """By system and metric id: mean, low and high (95 % interval), n, and coverage (0 to 1).

        They are of the newest campaign if none was named.
        """
        return self.summary().systems_json()

    def summary(self) -> CampaignSummary:
        """The content of a campaign's tables. Raises StoreError if there is no campaign."""
        with self._open() as store:
            return summarise(store, self._chosen(store))

    def model_calls(self) -> CampaignCalls:
        """The campaign's model calls by stage and model: tokens, cost, latency, retries, waits.

        They are of the newest campaign if none was named. Raises StoreError if there is none.
        """
        with self._open() as store:
            return store.call_counts(self._chosen(store))

    def _chosen(self, store: Store) -> str:
        return store.campaign(self.campaign or newest_campaign(store) or "").id

    def _open(self) -> Store:
        return Store.open(self.url, read_only=True)


class Run(Stored):
    """The results of a call of `evaluate` or `judge`: those of its campaign in the store."""

    campaign: str

    def __init__(self, url: str, result: RunResult):
        """`result` says how the run ended."""
        super().__init__(url, result.campaign)
        self.result = result

    def __repr__(self) -> str:
        ended = self.result
        return (
            f"Run({self.campaign!r}, {ended.done} of {ended.planned} conversations, {self.url!r})"
        )

    def summary(self) -> CampaignSummary:
        """As for a stored campaign, over the conversations that this run planned."""
        with self._open() as store:
            planned = self.result.conversations
            return summarise(store, self.result.campaign, conversations=planned)


def _means_table(summary: CampaignSummary) -> Table:
    """A row for each system with its mean of each metric, without details."""
    measures = [each for each in summary.measures if not each.metric.detail]
    columns: list[Column] = []
    rows: dict[str, dict[str, float | str | None]] = {
        name: {"system": name} for name in summary.systems
    }
    for each in measures:
        columns.append(Column(each.id, each.metric.title, each.metric.digits))
        lost = {name: tally.worst_case(each.id) for name, tally in summary.systems.items()}
        if any(lost.values()):
            columns.append(Column(f"{each.id}.lost", f"{each.metric.title}, lost"))
        for name, tally in summary.systems.items():
            rows[name][each.id] = tally.summary(each.id).mean
            if (worst := lost[name]) is not None:
                rows[name][f"{each.id}.lost"] = worst.text(each.metric.digits)
    return table_of("systems", (Column("system"), *columns), list(rows.values()))
