"""Lists of debates, read without checking: those the store has, and those it should have."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, select, union

from recjury.errors import StoreError
from recjury.store.conversations import CONVERSATIONS, conversation_ids
from recjury.store.evaluations import EVALUATIONS, by_campaign, oldest_first
from recjury.store.evaluators import EVALUATORS, read_campaign_evaluators
from recjury.store.logs import LOGS
from recjury.store.stage_results import DEBATE, DEBATES, STATEMENTS
from recjury.store.tables import StageRow, table_of

_KIND = "core"  # evaluators of this kind hold debates


class DebateSummary(NamedTuple):
    """One line of a list of debates, read without checking.

    `score` is the verdict's, 0 to 100. `conversation` is the first one that has the log.
    `evaluator` is the label of the evaluator that held the debate. `fork_of` is the id of the
    evaluation whose debate this one is a changed copy of. `superseded` means that the evaluation
    was done again, and a later attempt counts. `protocol` is the debate's.
    """

    evaluation: str
    conversation: str
    system: str
    scenario: str
    score: float | None
    rounds: int
    agreed: bool
    evaluator: str
    fork_of: str | None
    superseded: bool = False
    protocol: str = ""


def debate_summaries(
    connection: Connection, campaign: str | None = None, *, forks: bool = False
) -> tuple[DebateSummary, ...]:
    """One line per debate, in the plan's order; a fork follows the debate it was made from.

    With `forks`, only forks are listed.
    """
    debates, evaluations = DEBATES.table, EVALUATIONS.table
    logs, conversations = LOGS.table, CONVERSATIONS.table
    query = (
        select(
            debates.c.evaluation,
            conversations.c.id.label("conversation"),
            conversations.c.system,
            conversations.c.scenario,
            debates.c.score,
            debates.c.rounds,
            debates.c.agreed,
            evaluations.c.evaluator,
            evaluations.c.fork_of,
            _is_superseded().label("superseded"),
            debates.c.protocol,
        )
        .join(evaluations, evaluations.c.id == debates.c.evaluation)
        .join(logs, logs.c.digest == evaluations.c.log)
        .join(conversations, conversations.c.id == logs.c.conversation)
    )
    if campaign is not None:
        query = query.where(by_campaign(campaign))
    if forks:
        is_fork = evaluations.c.fork_of.is_not(None)
        if connection.execute(select(evaluations.c.id).where(is_fork).limit(1)).first() is None:
            return ()  # nearly always, and the other query finds the logs of the campaign first
        query = query.where(is_fork)
    rows = connection.execute(query.order_by(*oldest_first())).all()
    if not rows:
        return ()
    labels = _labels(connection, campaign)
    places = {each: n for n, each in enumerate(conversation_ids(connection, campaign))}
    first: dict[str, DebateSummary] = {}
    for row in sorted(rows, key=lambda row: places.get(row.conversation, len(places))):
        if campaign is None or row.conversation in places:
            first.setdefault(row.evaluation, _summary(row, labels))
    order = {each: n for n, each in enumerate(first)}

    def place(line: DebateSummary) -> tuple[int, int]:
        original = line.fork_of or line.evaluation
        return (order.get(original, len(order)), order[line.evaluation])

    return tuple(sorted(first.values(), key=place))


def _summary(row: Any, labels: Mapping[str, str]) -> DebateSummary:
    return DebateSummary(
        evaluation=row.evaluation,
        conversation=row.conversation,
        system=row.system,
        scenario=row.scenario,
        score=row.score,
        rounds=row.rounds,
        agreed=row.agreed == 1,
        evaluator=labels.get(row.evaluator, ""),
        fork_of=row.fork_of,
        superseded=row.superseded,
        protocol=row.protocol,
    )


def _is_superseded() -> ColumnElement[bool]:
    """Whether a later attempt has the same identity as a row of `evaluation`."""
    own = EVALUATIONS.table
    other = own.alias()
    return exists().where(other.c.identity == own.c.identity, other.c.attempt > own.c.attempt)


def _labels(connection: Connection, campaign: str | None) -> dict[str, str]:
    try:
        return {each.id: each.label for each in read_campaign_evaluators(connection, campaign)}
    except StoreError:  # a list is read without checking: `integrity` says what is wrong
        return {}


def debated(connection: Connection, campaign: str | None = None) -> tuple[str, ...]:
    """The evaluations that have held a debate, according to any row that is left of them.

    Such a row is their stage, their verdict or one of their statements. They are in the plan's
    order. Evaluations that have lost their own row, their log or its conversation belong to every
    campaign, and come last.
    """
    found = tuple(connection.execute(_witnesses()).scalars())
    listed = [each.evaluation for each in debate_summaries(connection, campaign)]
    known = _known(connection, None)
    of_campaign = known if campaign is None else _known(connection, campaign)
    rest = [each for each in found if each in of_campaign or each not in known]
    return tuple(dict.fromkeys((*listed, *rest)))


def _witnesses() -> Select[str]:
    stages, evaluations = table_of(StageRow), EVALUATIONS.table
    evaluators = EVALUATORS.table
    others = (
        select(evaluations.c.id)
        .join(evaluators, evaluators.c.id == evaluations.c.evaluator)
        .where(evaluators.c.kind != _KIND)
    )
    # Another evaluator may have a stage of this name without holding a debate.
    staged = select(stages.c.unit).where(
        and_(stages.c.stage == DEBATE, stages.c.unit.not_in(others))
    )
    every = union(
        staged,
        select(DEBATES.c.evaluation),
        select(STATEMENTS.c.evaluation),
    ).subquery()
    return select(every.c[0]).order_by(every.c[0])


def _known(connection: Connection, campaign: str | None) -> set[str]:
    """The evaluations that can be connected with this campaign; with None, with any campaign."""
    evaluations, logs = EVALUATIONS.table, LOGS.table
    conversations = CONVERSATIONS.table
    query = (
        select(evaluations.c.id)
        .join(logs, logs.c.digest == evaluations.c.log)
        .join(conversations, conversations.c.id == logs.c.conversation)
    )
    if campaign is not None:
        query = query.where(by_campaign(campaign))
    return set(connection.execute(query).scalars())
