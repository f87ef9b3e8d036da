"""What the analyses of scores share: which scores, of which metrics, beside which labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

from pydantic import Field

from recjury.agreement.label_forms import read_labels
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.metric_pairs import pair_metrics
from recjury.agreement.score_files import Scores
from recjury.agreement.scored_run import ScoredRun, run_of_file, run_of_store
from recjury.errors import ConfigError
from recjury.plugins import Names
from recjury.store import Store
from recjury.store.choice import chosen_campaign
from recjury.tables import Analysis, AnalysisInput, Input


class GivenScores(NamedTuple):
    """The scores, people's labels if there are any, and the aspect of each metric."""

    run: ScoredRun
    people: LabelSet | None
    pairs: Mapping[str, str]

    @property
    def labels(self) -> Scores:
        """By metric, people's labels of its aspect; empty without labels."""
        if self.people is None:
            return {}
        return {metric: self.people.labels[aspect] for metric, aspect in self.pairs.items()}


class ScoreAnalysis(Analysis):
    """An analysis of the scores of a campaign or of a file; labels may say what was spoken."""

    takes: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN, Input.LABELS)

    scores: Path | None = Field(
        None,
        description="scores of a file in place of a campaign: a run file, a folder of "
        "{aspect}.jsonl, or CSV",
    )
    metrics: Names = Field((), description="only these metrics, or those of these evaluators")

    def read_run(self, given: AnalysisInput, people: LabelSet | None) -> ScoredRun:
        """The scores of the chosen metrics. Raises UserError."""
        if self.scores is not None:
            if given.campaign is not None:
                raise ConfigError("--campaign is for the scores of a store: leave out `scores`")
            run = run_of_file(self.scores, people)
        else:
            with Store.open(given.store, read_only=True) as store:
                by_log = people is None or people.by_log
                run = run_of_store(store, chosen_campaign(store, given.campaign), by_log=by_log)
        return run.choose(self.metrics)


class LabelledAnalysis(ScoreAnalysis):
    """An analysis of scores which shows people's labels beside them, if there are any."""

    pairs: Names = Field(
        (), description='"METRIC=ASPECT": hold this metric beside this aspect of the labels'
    )

    def read(self, given: AnalysisInput) -> GivenScores:
        """The scores, and labels with their aspects. Raises UserError."""
        if self.pairs and given.labels is None:
            raise ConfigError("pairs are for --labels")
        people = None if given.labels is None else read_labels(given.labels)
        run = self.read_run(given, people)
        if people is None:
            return GivenScores(run, None, {})
        return GivenScores(run, people, pair_metrics(run.scores, people.aspects, self.pairs))
