"""The metrics of a campaign, and what people call them."""

from recjury.records import Metric
from recjury.results.metrics import metrics_of
from recjury.store import Store
from recjury.view.axes import Axis


class Metrics(dict[str, Metric]):
    """Metrics by id, the leading one first; an id that is not there has no scale."""

    @classmethod
    def of(cls, store: Store, campaign: str) -> "Metrics":
        """Those of a campaign."""
        return cls(metrics_of(store, campaign))

    def __missing__(self, id_: str) -> Metric:
        return Metric(name=id_)

    def title(self, id_: str) -> str:
        """A name for people; `novelty` is one, too, if there is no better."""
        return self[id_].title or id_.rpartition(".")[2].replace("_", " ").capitalize()


def scale_of(metric: Metric) -> Axis | None:
    """The metric's scale, None if it has no upper end."""
    if metric.high is None or metric.high <= metric.low:
        return None
    return Axis(metric.low, metric.high)
