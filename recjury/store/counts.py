"""How far campaigns are: units planned, done and failed, counted by their rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, select

from recjury.records import JSON
from recjury.store.evaluations import LogEvaluation, evaluations_of_logs
from recjury.store.evaluators import CAMPAIGN_EVALUATORS
from recjury.store.failures import FAILURES
from recjury.store.fetching import fetch
from recjury.store.logs import log_ids_of
from recjury.store.sealed import as_written
from recjury.store.stages import CONVERSE, read_stages

_USES, _FAILURES = CAMPAIGN_EVALUATORS.c, FAILURES.c


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


class Place(NamedTuple):
    """A conversation of a campaign."""

    campaign: str
    conversation: str


class Part(NamedTuple):
    """The conversations of a campaign ("converse"), or what an evaluator did of them (its id)."""

    campaign: str
    name: str


PartCounts = Mapping[Part, Counts]
"""Those of an evaluator have the evaluations that were begun as planned."""


def count_units(connection: Connection, places: Sequence[Place]) -> PartCounts:
    """The counts over some conversations; no row is compared with its seal."""
    found: dict[Part, Counts] = defaultdict(Counts)
    logs = log_ids_of(connection, (each.conversation for each in places))
    waiting = (each.conversation for each in places if each.conversation not in logs)
    broken = _failures(connection, waiting)
    evaluations = _evaluations(connection, logs.values())
    uses = _uses(connection, (each.campaign for each in places))
    for campaign, conversation in places:
        log, part = logs.get(conversation, ""), Part(campaign, CONVERSE)
        found[part] = found[part].plus(1, bool(log), CONVERSE in broken[conversation])
        for each in evaluations.get(log, ()):
            part = Part(campaign, each.about.evaluator)
            judgings, stages = uses.get(part, _NO_USE)
            if each.about.judging < judgings:
                done = stages <= each.finished
                found[part] = found[part].plus(1, done, bool(each.failed) and not done)
    return found


class _Evaluation(NamedTuple):
    """An evaluation, its finished stages, and those that failed and were not finished later."""

    about: LogEvaluation
    finished: set[str]
    failed: set[str]


def _evaluations(connection: Connection, logs: Iterable[str]) -> dict[str, list[_Evaluation]]:
    """The evaluations that count of each log."""
    found = evaluations_of_logs(connection, logs, lambda *_: True, whole=False)
    ids = [each.id for some in found.values() for each in some]
    finished, failures = read_stages(connection, ids), _failures(connection, ids)
    return {
        log: [
            _Evaluation(each, done := finished.get(each.id, set()), failures[each.id] - done)
            for each in some
        ]
        for log, some in found.items()
    }


def _failures(connection: Connection, units: Iterable[str]) -> dict[str, set[str]]:
    """The stages of each unit that have ever failed."""
    found: dict[str, set[str]] = defaultdict(set)
    for unit, stage in fetch(connection, _FAILED, _FAILURES.unit, units):
        found[unit].add(stage)
    return found


_FAILED = select(_FAILURES.unit, _FAILURES.stage)
_NO_USE: tuple[int, frozenset[str]] = (0, frozenset())


def _uses(
    connection: Connection, campaigns: Iterable[str]
) -> dict[Part, tuple[int, frozenset[str]]]:
    """How often each evaluator of campaigns judges a log, and the stages that it then has."""
    found = {}
    for campaign, evaluator, judgings, stages in fetch(
        connection, _USED, _USES.campaign, campaigns
    ):
        with as_written(f"evaluator {evaluator} of campaign {campaign} in the store"):
            found[Part(campaign, evaluator)] = (judgings, frozenset(orjson.loads(stages)))
    return found


_USED = select(_USES.campaign, _USES.evaluator, _USES.judgings, _USES.stages)
