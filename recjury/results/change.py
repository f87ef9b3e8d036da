"""Why a system's scores changed between two runs: because of the system, or of its judge."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.comparison import tally_of
from recjury.results.scores import is_newest
from recjury.stats import MeanDifference, paired
from recjury.store import CampaignEvaluator, Store
from recjury.store.choice import require


class ScoreChange(NamedTuple):
    """A metric's change between two runs, over scenarios with all scores that it needs.

    `judge` is the change on the same, earlier conversations from the earlier evaluator to the
    later one; `system` is the change from earlier to later conversations by the later evaluator.
    Their differences add up to that of `total`. P-values are not corrected.
    """

    metric: Metric
    total: MeanDifference
    judge: MeanDifference
    system: MeanDifference

    def as_json(self) -> dict[str, JSON]:
        """The three differences with intervals."""
        return {
            "total": dict(self.total._asdict()),
            "judge": dict(self.judge._asdict()),
            "system": dict(self.system._asdict()),
        }


def explain_change(
    store: Store,
    system: str,
    before: str,
    after: str,
    *,
    metrics: Sequence[str] = (),
    seed: int = 0,
) -> dict[str, ScoreChange]:
    """The change of `system` from campaign `before` to campaign `after`, by measure of the later.

    Raises StoreError for an unknown system or metric, and if the later evaluators have not rated
    the earlier conversations, or if no scenario was played in both.
    """
    earlier, later = (tally_of(store, each, system) for each in (before, after))
    for campaign, tally in ((before, earlier), (after, later)):
        if not tally.conversations:
            names = {each.system for each in store.conversations(campaign)}
            require("system", (system,), names)
    given = _versions(store.evaluators(before), store.evaluators(after))
    if not given:
        raise StoreError(
            f"no evaluator of campaign {after} has rated campaign {before}: judge it again, "
            f"`recjury judge --campaign {before} --config FILE`"
        )
    found: dict[str, ScoreChange] = {}
    for old, again, new in given:
        for metric in new.metrics:
            name = f"{new.label}.{metric.id}"
            first = earlier.by_pair(f"{old.label}.{metric.id}")
            second = earlier.by_pair(f"{again.label}.{metric.id}")
            third = later.by_pair(name)
            pairs = [each for each in first if each in second and each in third]
            x, y, z = ([of[each] for each in pairs] for of in (first, second, third))
            found[name] = ScoreChange(
                metric,
                paired(z, x, seed=seed),
                paired(y, x, seed=seed),
                paired(z, y, seed=seed),
            )
    require("metric", metrics, found)
    if not any(each.total.n for each in found.values()):
        raise StoreError(f"{system} was scored in no scenario of both {before} and {after}")
    return {name: found[name] for name in metrics or found}


class _Versions(NamedTuple):
    old: CampaignEvaluator
    again: CampaignEvaluator
    new: CampaignEvaluator


def _versions(
    before: Sequence[CampaignEvaluator], after: Sequence[CampaignEvaluator]
) -> list[_Versions]:
    """Each later evaluator as it is in the earlier campaign, and the first version there."""
    found: list[_Versions] = []
    for new in filter(is_newest, after):
        own = [each for each in before if each.name == new.name]
        again = next((each for each in own if each.id == new.id), None)
        if again is not None:
            old = min(own, key=lambda each: each.started_at)
            found.append(_Versions(old, again, new))
    return found
