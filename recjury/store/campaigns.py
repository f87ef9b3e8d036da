"""Campaigns: who runs one, what is planned, and what is left to do."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, text, update

from recjury.store import tables
from recjury.store.database import Chapter
from recjury.store.processes import check_gone, this_process
from recjury.store.saving import evaluation_id
from recjury.store.tables import NEWEST_TRIALS, add_new, now, put

_BATCH = 2_000  # planned conversations that are read or written at once


class PlannedConversation(NamedTuple):
    """A trial. `conversation` is its identity, `ordinal` its place in the plan."""

    conversation: str
    ordinal: int
    system: str
    version: str
    user: str
    user_version: str
    corpus: str
    scenario: str
    repeat: int


class PlannedEvaluator(NamedTuple):
    """An evaluator under its identity, with the name that the campaign gives it."""

    id: str
    kind: str
    name: str
    settings: Mapping[str, Any]
    metrics: list[dict[str, Any]]
    judgings: int


class TodoEvaluation(NamedTuple):
    """An evaluation that is missing or incomplete.

    `tries` counts how often it was finished with something unreadable in it.
    """

    evaluator: str
    judging: int
    tries: int


class Todo(NamedTuple):
    """A planned conversation that is not done, or whose evaluations are not.

    `state`: planned, done, failed. `tries` counts the runs in which the user was unreadable.
    """

    conversation: str
    system: str
    user: str
    corpus: str
    scenario: str
    repeat: int
    state: str
    tries: int
    evaluations: tuple[TodoEvaluation, ...]

    @property
    def is_to_play(self) -> bool:
        """Whether it is not played yet; if it is, it is only rated."""
        return self.state != "done"


class Campaigns(Chapter):
    """What a run needs of a store before it begins and when it ends."""

    def start(
        self,
        campaign: str,
        config: Mapping[str, Any],
        versions: Mapping[str, str],
        *,
        take_over: bool = False,
    ) -> int:
        """The number of a new run, the only one of this campaign.

        A run whose process is gone ends as interrupted. Raises UserError if one goes on, or may go
        on elsewhere, unless `take_over`.
        """
        run = tables.Run.__table__
        time = now()
        row = {"name": campaign, "config": dict(config), "fresh": {}, "created_at": time}
        with self.database.transaction() as connection:
            running = (run.c.campaign == campaign, run.c.state == "running")
            for other in connection.execute(select(run).where(*running)):
                if not take_over:
                    check_gone(other)
            ended = {"state": "interrupted", "ended_at": time, "reason": "its process is gone"}
            connection.execute(update(run).where(*running).values(ended))
            put(connection, tables.Campaign, [row], keep=("fresh", "created_at"))
            new = insert(run).values(
                campaign=campaign,
                **this_process(),
                started_at=time,
                state="running",
                reason="",
                versions=dict(versions),
            )
            number = connection.execute(new).inserted_primary_key
            assert number is not None
            return int(number[0])

    def end(self, run: int, state: str, reason: str = "") -> None:
        """Say how a run ended: finished, interrupted, stopped or failed. The first word counts."""
        table = tables.Run.__table__
        change = update(table).where(table.c.id == run, table.c.state == "running")
        with self.database.transaction() as connection:
            connection.execute(change.values(state=state, reason=reason, ended_at=now()))

    def plan(
        self,
        run: int,
        conversations: Iterable[PlannedConversation],
        evaluators: Iterable[PlannedEvaluator],
    ) -> None:
        """Add to the campaign's plan.

        What was planned before stays, and belongs to this run from now on if it is named again.
        """
        campaign = self._campaign(run)
        with self.database.transaction() as connection:
            _plan_evaluators(connection, campaign, run, list(evaluators))
        rest = iter(conversations)
        while batch := list(islice(rest, _BATCH)):
            with self.database.transaction() as connection:
                _plan_conversations(connection, campaign, run, batch)

    def played(self, campaign: str) -> list[PlannedConversation]:
        """The finished conversations of a campaign, of the newest version of each system and user.

        A trial that was played more than once is there as it was planned last.
        """
        with self.database.connection() as connection:
            rows = connection.execute(text(_PLAYED), {"campaign": campaign})
            return [PlannedConversation(*row) for row in rows]

    def todo(self, run: int, *, retry_failed: bool = True) -> Iterator[Todo]:
        """What of a run's plan is left, in its order, read in pieces while it is worked on.

        Without `retry_failed`, failed conversations and incomplete evaluations stay as they are.
        """
        plan = tables.Plan.__table__.c
        with self.database.connection() as connection:
            last = connection.execute(
                select(func.max(plan.ordinal)).where(plan.run == run)
            ).scalar()
        for start in range(0, 0 if last is None else last + 1, _BATCH):
            values = {"run": run, "retry": retry_failed, "start": start, "end": start + _BATCH}
            with self.database.connection() as connection:
                rows = connection.execute(text(_TODO), values).all()
            for about, left in groupby(rows, lambda row: row[:8]):
                yield Todo._make((*about, tuple(_evaluations(left))))

    def without_done(self, todo: Iterable[Todo], *, retry_failed: bool = True) -> list[Todo]:
        """What is left of another store's list by what is done in this one."""
        left: list[Todo] = []
        rest = iter(todo)
        while batch := list(islice(rest, _BATCH)):
            with self.database.connection() as connection:
                left += _without_done(connection, batch, retry_failed=retry_failed)
        return left

    def fresh(self, campaign: str) -> dict[str, str]:
        """The labels of systems that changed where nobody can see it, by system."""
        table = tables.Campaign.__table__
        with self.database.connection() as connection:
            query = select(table.c.fresh).where(table.c.name == campaign)
            return dict(connection.execute(query).scalar() or {})

    def set_fresh(self, campaign: str, labels: Mapping[str, str]) -> None:
        """Keep labels beside those that are there."""
        row = {"name": campaign, "config": {}, "created_at": now()}
        row |= {"fresh": self.fresh(campaign) | dict(labels)}
        with self.database.transaction() as connection:
            put(connection, tables.Campaign, [row], keep=("config", "created_at"))

    def _campaign(self, run: int) -> str:
        table = tables.Run.__table__
        with self.database.connection() as connection:
            query = select(table.c.campaign).where(table.c.id == run)
            return str(connection.execute(query).scalar_one())


def _plan_evaluators(
    connection: Connection, campaign: str, run: int, evaluators: list[PlannedEvaluator]
) -> None:
    own = [
        {"id": e.id, "kind": e.kind, "settings": dict(e.settings), "metrics": e.metrics}
        for e in evaluators
    ]
    of_campaign = [
        {"campaign": campaign, "evaluator": e.id, "name": e.name, "judgings": e.judgings}
        | {"run": run}
        for e in evaluators
    ]
    add_new(connection, tables.Evaluator, own)
    put(connection, tables.CampaignEvaluator, of_campaign)


def _plan_conversations(
    connection: Connection, campaign: str, run: int, batch: list[PlannedConversation]
) -> None:
    start = {"state": "planned", "play": "", "ending": "", "rounds": 0, "reason": "", "tries": 0}
    new = [{"id": each.conversation, **start, "seconds": []} for each in batch]
    add_new(connection, tables.Conversation, new)
    rows = [{"campaign": campaign, "run": run, **each._asdict()} for each in batch]
    put(connection, tables.Plan, rows)


def _without_done(
    connection: Connection, batch: list[Todo], *, retry_failed: bool
) -> Iterator[Todo]:
    played, rated = tables.Conversation.__table__.c, tables.Evaluation.__table__.c
    ids = [todo.conversation for todo in batch]
    conversations = select(played.id, played.state, played.tries).where(played.id.in_(ids))
    states = {row.id: (row.state, row.tries) for row in connection.execute(conversations)}
    evaluations = select(rated.id, rated.state, rated.tries).where(rated.conversation.in_(ids))
    known = {row.id: (row.state, row.tries) for row in connection.execute(evaluations)}
    left = {"planned", "failed", "incomplete"} if retry_failed else {"planned"}
    for todo in batch:
        state, tries = states.get(todo.conversation, (todo.state, todo.tries))
        missing = []
        for each in todo.evaluations:
            id_ = evaluation_id(todo.conversation, each.evaluator, each.judging)
            found, tries_before = known.get(id_, ("planned", each.tries))
            if found in left:
                missing.append(each._replace(tries=tries_before))
        if state in left or (state == "done" and missing):
            yield todo._replace(state=state, tries=tries, evaluations=tuple(missing))


def _evaluations(rows: Iterable[Any]) -> Iterator[TodoEvaluation]:
    for *_, evaluator, judging, tries in rows:
        if evaluator is not None:
            yield TodoEvaluation(evaluator, judging, tries)


_PLAYED = f"""
    SELECT {", ".join(f"p.{name}" for name in PlannedConversation._fields)}
    FROM {NEWEST_TRIALS} p JOIN conversation c ON c.id = p.conversation
    WHERE c.state = 'done' ORDER BY p.run, p.ordinal
"""  # noqa: S608 (a constant)
_TODO = """
    WITH RECURSIVE judging(n) AS (
        SELECT 0 UNION ALL SELECT n + 1 FROM judging
        WHERE n + 1 < (SELECT MAX(judgings) FROM campaign_evaluator WHERE run = :run)
    )
    SELECT c.id, p.system, p.user, p.corpus, p.scenario, p.repeat, c.state, c.tries,
           ce.evaluator, j.n, COALESCE(e.tries, 0)
    FROM plan p
    JOIN conversation c ON c.id = p.conversation
    LEFT JOIN campaign_evaluator ce ON ce.campaign = p.campaign AND ce.run = p.run
    LEFT JOIN judging j ON j.n < ce.judgings
    LEFT JOIN evaluation e
        ON e.conversation = c.id AND e.evaluator = ce.evaluator AND e.judging = j.n
    WHERE p.run = :run AND p.ordinal >= :start AND p.ordinal < :end AND (
        c.state = 'planned'
        OR (c.state = 'failed' AND :retry)
        OR (c.state = 'done' AND ce.evaluator IS NOT NULL
            AND (e.id IS NULL OR (e.state = 'incomplete' AND :retry)))
    )
    ORDER BY p.ordinal, c.id, ce.evaluator, j.n
"""
