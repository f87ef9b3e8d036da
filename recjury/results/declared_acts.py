"""How the acts that users played by a model declared agree with their words, counted."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.store import PlannedConversation, Store


class ActCounts(NamedTuple):
    """Declared acts that could not be used, and those that surely differ from the words."""

    dropped: int = 0
    differing: int = 0


def act_counts(store: Store, planned: Iterable[PlannedConversation]) -> dict[str, ActCounts]:
    """By id, the counts of the conversations in which a model played the user and declared acts.

    Other logs have no counts and are not read.
    """
    found: dict[str, ActCounts] = {}
    for each in planned:
        user = each.settings.get("user")
        if isinstance(user, Mapping) and "declares" in user and (log := store.log(each.id)):
            found[each.id] = ActCounts(log.acts_dropped, log.acts_differing)
    return found


def total_acts(counts: Iterable[ActCounts]) -> ActCounts:
    """The sums."""
    known = tuple(counts)
    return ActCounts(sum(each.dropped for each in known), sum(each.differing for each in known))
