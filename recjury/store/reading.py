"""Single conversations, evaluations and calls, as people and pages read them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, select, text

from recjury.errors import UserError
from recjury.records import Completion, ConversationLog, Finding, Message
from recjury.store import tables
from recjury.store.calls import to_completion
from recjury.store.counting import Counting
from recjury.store.failures import as_written
from recjury.store.findings import FindingRows, from_rows

_BATCH = 500  # logs that are read at once


class ConversationRow(NamedTuple):
    """A conversation by the names of its campaign. `state`: planned, done, failed.

    `play` is the id that the system saw, `seconds` how long each of its turns took.
    """

    id: str
    campaign: str
    system: str
    version: str
    user: str
    corpus: str
    scenario: str
    repeat: int
    state: str
    ending: str
    rounds: int
    reason: str
    play: str
    seconds: Sequence[float]
    finished_at: str | None


class EvaluationRow(NamedTuple):
    """An evaluation, its campaign, and the evaluator's name there. `state`: done, incomplete."""

    id: str
    campaign: str
    conversation: str
    evaluator: str
    name: str
    judging: int
    state: str
    tries: int


class CallRow(NamedTuple):
    """A call, and the work that was the first to ask for it. The prompt lacks the call's code."""

    campaign: str
    conversation: str
    evaluation: str
    model: str
    purpose: str
    prompt: tuple[Message, ...]
    completion: Completion
    created_at: str


class Reading(Counting):
    """What a replay or a page shows."""

    def conversations(self, campaign: str) -> list[ConversationRow]:
        """The conversations of a campaign, of all versions, in the plan's order."""
        plan = tables.Plan.__table__.c
        query = _conversations().where(plan.campaign == campaign).order_by(plan.ordinal, plan.run)
        with self.database.connection() as connection:
            return [ConversationRow(*row) for row in connection.execute(query)]

    def conversation(self, prefix: str, campaign: str = "") -> ConversationRow:
        """The conversation whose id begins so, as the last run that planned it named it.

        With `campaign`, as that campaign names it. Raises UserError if there is no such campaign,
        no conversation, or more than one.
        """
        plan = tables.Plan.__table__.c
        begins = func.substr(plan.conversation, 1, len(prefix)) == prefix
        query = _conversations().where(begins).order_by(plan.run)
        if campaign:
            query = query.where(plan.campaign == self.campaign(campaign))
        with self.database.connection() as connection:
            rows = connection.execute(query) if prefix.isascii() else ()
            found = {row.id: ConversationRow(*row) for row in rows}
        if not found:
            where = f"campaign {campaign}" if campaign else self.database.name
            raise UserError(f"no conversation in {where} begins with {prefix!r}")
        if len(found) > 1 and prefix not in found:
            some = ", ".join(sorted(found)[:5])
            raise UserError(f"{len(found)} conversations begin with {prefix!r}, such as {some}")
        return found.get(prefix) or next(iter(found.values()))

    def logs(self, ids: Iterable[str]) -> Iterator[tuple[str, ConversationLog]]:
        """The logs of those conversations that are finished or failed, in this order."""
        table, part = tables.Conversation.__table__, tables.Text.__table__
        query = select(table.c.id, part.c.text).join(part, part.c.hash == table.c.log)
        rest = iter(ids)
        while batch := list(islice(rest, _BATCH)):
            with self.database.connection() as connection:
                rows = connection.execute(query.where(table.c.id.in_(batch)))
                texts: dict[str, str] = dict(rows.all())
            for id_ in batch:
                if id_ in texts:
                    with as_written(self.database.name, f"the log of conversation {id_}"):
                        log = ConversationLog.model_validate(json.loads(texts[id_]))
                    yield id_, log

    def debate_of(self, conversation: str, campaign: str = "") -> EvaluationRow | None:
        """The evaluation with the conversation's debate, in any campaign or in one.

        Of several, one by which the last run of its campaign rates, and of these the newest.
        """
        values = {"conversation": conversation, "campaign": campaign}
        with self.database.connection() as connection:
            row = connection.execute(text(_DEBATE), values).first()
        return EvaluationRow(*row) if row else None

    def evaluations(self, campaign: str, *, conversation: str = "") -> list[EvaluationRow]:
        """The evaluations of a campaign, or of one of its conversations, in the plan's order."""
        query = f"""{_EVALUATIONS} WHERE p.campaign = :campaign
            AND (:conversation = '' OR p.conversation = :conversation)
            ORDER BY p.ordinal, ce.name, e.evaluator, e.judging"""
        values = {"campaign": campaign, "conversation": conversation}
        with self.database.connection() as connection:
            return [EvaluationRow(*row) for row in connection.execute(text(query), values)]

    def findings(self, evaluation: str) -> list[Finding]:
        """What an evaluation found, as its evaluator returned it."""
        what = f"evaluation {evaluation}"
        with self.database.connection() as connection, as_written(self.database.name, what):
            rows = FindingRows(*(_fields(connection, query, evaluation) for query in _FINDINGS))
            hashes = {row["rationale"] for row in rows.ratings}
            hashes |= {row["text"] for row in rows.statements}
            return from_rows(rows, _texts(connection, hashes - {None}))

    def calls(self, ids: Sequence[str]) -> list[CallRow]:
        """The stored calls among `ids`, with their prompts, in this order."""
        call = tables.Call.__table__
        query = select(call).where(call.c.id.in_(ids))
        with self.database.connection() as connection, as_written(self.database.name, "a call"):
            rows = {row.id: row for row in connection.execute(query)}
            hashes = {part for row in rows.values() for _, *parts in row.prompt for part in parts}
            texts = _texts(connection, hashes | {row.reply for row in rows.values()})
            return [_call(rows[id_], texts) for id_ in ids if id_ in rows]


def _conversations() -> Select[Any]:
    conversation, plan = tables.Conversation.__table__, tables.Plan.__table__
    columns = [
        (plan if name in plan.c else conversation).c[name] for name in ConversationRow._fields
    ]
    return select(*columns).join(plan, plan.c.conversation == conversation.c.id)


def _fields(connection: Connection, query: Select[Any], evaluation: str) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(query, {"id": evaluation}).mappings()]


def _texts(connection: Connection, hashes: set[str]) -> dict[str, str]:
    table = tables.Text.__table__.c
    query = select(table.hash, table.text).where(table.hash.in_(hashes))
    return dict(connection.execute(query).all())


def _call(row: Any, texts: Mapping[str, str]) -> CallRow:
    prompt = tuple(
        Message(role, tuple(texts[part] for part in parts)) for role, *parts in row.prompt
    )
    more = (row.tokens_in, row.tokens_out, row.cost, row.served)
    completion = to_completion(row.id, texts[row.reply], row.code, row.more, *more)
    fields = {name: getattr(row, name) for name in CallRow._fields if hasattr(row, name)}
    return CallRow(**fields | {"prompt": prompt, "completion": completion})


_EVALUATIONS = """
    SELECT e.id, p.campaign, e.conversation, e.evaluator, ce.name, e.judging, e.state, e.tries
    FROM plan p
    JOIN campaign_evaluator ce ON ce.campaign = p.campaign
    JOIN evaluation e
        ON e.conversation = p.conversation AND e.evaluator = ce.evaluator
        AND e.judging < ce.judgings
"""
_DEBATE = f"""{_EVALUATIONS}
    WHERE e.conversation = :conversation AND (:campaign = '' OR p.campaign = :campaign)
        AND EXISTS (SELECT 1 FROM statement s WHERE s.evaluation = e.id)
    ORDER BY ce.run = (
        SELECT MAX(y.run) FROM campaign_evaluator y WHERE y.campaign = ce.campaign
    ) DESC, ce.run DESC, ce.name, e.judging LIMIT 1
"""  # noqa: S608 (a constant)
_FINDINGS = [
    select(each.__table__).where(each.__table__.c.evaluation == bindparam("id"))
    for each in (tables.Rating, tables.Evidence, tables.Statement)
]
