"""The scales of metrics, drawn."""

from recjury.records import Metric
from recjury.view.axes import Axis


def scale_of(metric: Metric) -> Axis | None:
    """The metric's scale, None if it has no upper end."""
    if metric.high is None or metric.high <= metric.low:
        return None
    return Axis(metric.low, metric.high)
