"""What a store has, for programs: frames, summaries, comparisons, reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.campaign import RunResult
from recjury.results import (
    CampaignSummary,
    Comparison,
    EvaluatorComparison,
    compare_evaluators,
    compare_systems,
    frame,
    newest_campaign,
    summarise,
)
from recjury.store import Campaign, Store

if TYPE_CHECKING:
    import pyarrow as pa


class Stored:
    """The results of a store, or of one of its campaigns. It holds no file open."""

    def __init__(self, url: str, campaign: str | None = None):
        """`url` is like sqlite:///runs.db; `campaign` an id, or its first digits.

        Raises StoreError where there is no such store or campaign.
        """
        self.url = url
        with Store.open(url, create=False) as store:
            self.campaign = None if campaign is None else store.campaign(campaign).id

    @property
    def campaigns(self) -> tuple[Campaign, ...]:
        """The campaigns of the store, the oldest first, with what they ran with."""
        with self._open() as store:
            return store.campaigns()

    def of(self, campaign: str) -> "Stored":
        """The results of one campaign, by its id or its first digits."""
        return Stored(self.url, campaign)

    def frame(self, name: str) -> "pa.Table":
        """A table as Arrow: conversations, evaluations, turns, ratings, statements or calls.

        `.to_pandas()` makes it a DataFrame where pandas is installed. Each row names its
        conversation, evaluation, evaluator and metric, as far as it has them. Raises StoreError.
        """
        with self._open() as store:
            return frame(store, name, self.campaign)

    def compare(self, a: str, b: str, *, metrics: Sequence[str] = (), seed: int = 0) -> Comparison:
        """System `a` minus system `b` by metric: differences, 95 % intervals, Holm's p-values.

        `metrics` ("core.overall") restricts what is compared; `seed` is that of the resampling.
        Raises StoreError for a system or metric that is not there.
        """
        with self._open() as store:
            return compare_systems(store, a, b, campaign=self.campaign, metrics=metrics, seed=seed)

    def compare_evaluators(self, x: str, y: str, *, seed: int = 0) -> EvaluatorComparison:
        """Evaluator `x` against `y` (labels such as "core") on the same conversations."""
        with self._open() as store:
            return compare_evaluators(store, x, y, campaign=self.campaign, seed=seed)

    def report(self, path: str | Path = "report.html", *, examples: int = 3) -> Path:
        """Write the HTML report, with so many example conversations of each system."""
        from recjury.report import write_report

        with self._open() as store:
            write_report(store, Path(path), campaign=self.campaign, examples=examples)
        return Path(path)

    @property
    def systems(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """By system and metric id: mean, low and high (95 % interval), n, and coverage, 0 to 1;
        of the newest campaign where none was named."""
        return self.summary().systems_json()

    def summary(self) -> CampaignSummary:
        """Everything that the tables of a campaign show; raises StoreError where there is none."""
        with self._open() as store:
            chosen = self.campaign or newest_campaign(store)
            return summarise(store, store.campaign(chosen or "").id)

    def _open(self) -> Store:
        return Store.open(self.url, create=False)


class Run(Stored):
    """What a call of `evaluate` or `judge` left in the store: the results of its campaign."""

    campaign: str

    def __init__(self, url: str, result: RunResult):
        """`result` says how the run ended."""
        super().__init__(url, result.campaign)
        self.result = result

    def summary(self) -> CampaignSummary:
        """As for a stored campaign, over what this run had planned."""
        with self._open() as store:
            planned = self.result.conversations
            return summarise(store, self.result.campaign, conversations=planned)
