"""How far campaigns are: units planned, done and failed, counted by their rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, select

from recjury.records import JSON
from recjury.store.evaluations import evaluations_of_logs
from recjury.store.evaluators import CAMPAIGN_EVALUATORS
from recjury.store.failures import FAILURES
from recjury.store.fetching import fetch
from recjury.store.logs import log_ids_of
from recjury.store.sealed import as_written
from recjury.store.stages import CONVERSE, read_stages


class Counts(NamedTuple):
    """How many of the planned units are done and failed; the others are pending."""

    planned: int = 0
    done: int = 0
    failed: int = 0

    @property
    def waiting(self) -> int:
        """How many units are neither done nor failed."""
        return self.planned - self.done - self.failed

    def plus(self, planned: int, done: int, failed: int) -> "Counts":
        """The sums of these and other counts."""
        return Counts(self.planned + planned, self.done + done, self.failed + failed)

    def as_json(self) -> dict[str, JSON]:
        """All four numbers."""
        return {**self._asdict(), "waiting": self.waiting}


class CampaignCounts(NamedTuple):
    """A campaign's conversations, and its evaluations by the evaluator's label."""

    conversations: Counts
    evaluations: Mapping[str, Counts]


class CountedPlace(NamedTuple):
    """A conversation of a campaign."""

    campaign: str
    conversation: str


class CountedPart(NamedTuple):
    """The conversations of a campaign ("converse"), or what an evaluator did of them (its id)."""

    campaign: str
    name: str


PartCounts = Mapping[CountedPart, Counts]
"""Those of an evaluator have the evaluations that were begun as planned."""


def count_units(connection: Connection, places: Sequence[CountedPlace]) -> PartCounts:
    """The counts over some conversations; no row is compared with its seal."""
    found: dict[CountedPart, Counts] = defaultdict(Counts)
    logs = log_ids_of(connection, (each.conversation for each in places))
    judged = evaluations_of_logs(connection, logs.values(), lambda *_: True, whole=False)
    evaluations = [each.id for some in judged.values() for each in some]
    waiting = (each.conversation for each in places if each.conversation not in logs)
    failed: dict[str, set[str]] = defaultdict(set)
    for unit, stage in fetch(connection, _FAILED, FAILURES.c.unit, (*waiting, *evaluations)):
        failed[unit].add(stage)
    finished = read_stages(connection, evaluations)
    uses = _uses(connection, (each.campaign for each in places))
    for campaign, conversation in places:
        log, part = logs.get(conversation, ""), CountedPart(campaign, CONVERSE)
        found[part] = found[part].plus(1, bool(log), CONVERSE in failed[conversation])
        for each in judged.get(log, ()):
            part, there = CountedPart(campaign, each.evaluator), finished.get(each.id, set())
            judgings, stages = uses.get(part, (0, frozenset()))
            if each.judging < judgings:
                is_done, is_broken = stages <= there, bool(failed[each.id] - there)
                found[part] = found[part].plus(1, is_done, is_broken and not is_done)
    return found


_FAILED = select(FAILURES.c.unit, FAILURES.c.stage)


def _uses(
    connection: Connection, campaigns: Iterable[str]
) -> dict[CountedPart, tuple[int, frozenset[str]]]:
    """How often each evaluator of campaigns judges a log, and the stages that it then has."""
    rows = fetch(connection, _USED, CAMPAIGN_EVALUATORS.c.campaign, campaigns)
    with as_written("an evaluator of a campaign in the store"):
        return {
            CountedPart(campaign, evaluator): (judgings, frozenset(orjson.loads(stages)))
            for campaign, evaluator, judgings, stages in rows
        }


_USED = select(
    *(CAMPAIGN_EVALUATORS.c[name] for name in ("campaign", "evaluator", "judgings", "stages"))
)
