"""What a log lacks for a metric to be rated."""

from recjury.records import ConversationLog, Metric, Need

NO_LIST = "the log has no recommendation list"
NO_TARGETS = "the log has no target item"


def unmet(metric: Metric, log: ConversationLog) -> str:
    """What `log` lacks for `metric`, in words; empty if nothing."""
    if Need.LIST in metric.needs and not log.session_list():
        return NO_LIST
    if Need.TARGETS in metric.needs and not log.scenario.targets:
        return NO_TARGETS
    return ""
