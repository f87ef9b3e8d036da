"""What CoRE's analyses share: the judges' factors, people's labels."""

from collections.abc import Collection, Mapping
from typing import ClassVar

from pydantic import Field

from recjury.agreement.label_forms import read_labels
from recjury.agreement.label_sets import LabelSet
from recjury.errors import ConfigError
from recjury.papers.core.factor_scores import (
    FactorScores,
    JudgedFactors,
    read_judged,
    read_roles,
)
from recjury.store import Store
from recjury.tables import Analysis, AnalysisInput, Input

_FEWEST = 10  # records: with fewer, an interval over them means nothing


class CoreAnalysis(Analysis):
    """One of CoRE's questions, asked of conversations whose factors were rated."""

    needs: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN,)

    resamples: int = Field(1_000, ge=100, le=1_000_000, description="behind the intervals")
    seed: int = Field(0, ge=0, description="of the resampling")

    def judged(self, given: AnalysisInput) -> JudgedFactors:
        """The factors of a campaign, or of the store. Raises UserError."""
        with Store.open(given.store, read_only=True) as store:
            return read_judged(store, _campaign(store, given))

    def roles(self, given: AnalysisInput) -> FactorScores:
        """The roles' scores and the verdicts; empty without a debate. Raises UserError."""
        with Store.open(given.store, read_only=True) as store:
            return read_roles(store, _campaign(store, given))

    def too_few(self, records: Mapping[str, str]) -> tuple[str, ...]:
        """What to say if the conversations are too few for an interval; nothing if they are not."""
        many = len(set(records.values()))
        if many >= _FEWEST:
            return ()
        return (
            f"{many} records are too few for an interval, which needs {_FEWEST}: "
            f"`recjury run FILE --limit {4 * _FEWEST}` plays more",
        )

    def one_judge(self, judges: Collection[str]) -> tuple[str, ...]:
        """What to say if there is one judge, where several are needed; nothing if there are."""
        if len(judges) > 1:
            return ()
        return (
            f"one judge ({', '.join(judges)}) leaves nothing to weigh or route: name two models in "
            "`core`, `judges: {models: [main, other], combine: mean}`, and `recjury judge "
            "--campaign ID --config FILE`",
        )


def _campaign(store: Store, given: AnalysisInput) -> str | None:
    return store.campaign(given.campaign).id if given.campaign else None


def people_of_store(given: AnalysisInput) -> LabelSet | None:
    """People's labels of a store's conversations, if there are any.

    Raises ConfigError for labels of other conversations.
    """
    people = None if given.labels is None else read_labels(given.labels)
    if people is not None and not people.by_log:
        raise ConfigError(
            "labels of a store's conversations are needed: annotations:labels.json of "
            "`recjury annotate import`"
        )
    return people
