"""Turns, statements and calls as frames, whole or in pieces, beside the frame of ratings."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pandas as pd
from sqlalchemy import JSON, String, bindparam, text

from recjury.records import ConversationLog
from recjury.results.ratings import TRIAL, places_in, played_trials, read
from recjury.store import NEWEST_EVALUATORS, Store

_STATEMENTS = """
    SELECT e.conversation, ce.name AS evaluator, e.judging, s.round, s.role, s.score, s.status
           {texts}
    FROM plan p
    JOIN {evaluators} ce ON ce.campaign = p.campaign
    JOIN evaluation e ON e.conversation = p.conversation AND e.evaluator = ce.evaluator
        AND e.judging < ce.judgings
    JOIN statement s ON s.evaluation = e.id
    {text_table}
    WHERE p.campaign = :campaign ORDER BY p.ordinal, p.run, e.id, s.number
"""
_CALLS = """
    SELECT c.id, c.campaign, c.conversation, c.evaluation, c.model, c.served, c.purpose,
           c.tokens_in, c.tokens_out, c.cost, c.created_at, t.text AS reply
    FROM call c JOIN text t ON t.hash = c.reply
    WHERE c.campaign = :campaign ORDER BY c.created_at, c.id
"""
_SECONDS = "SELECT id, seconds FROM conversation WHERE id IN :ids"
_ROWS, _LOGS = 20_000, 1_000  # of a piece
_TURN = ("conversation", "turn", "speaker", "text", "items", "failure", "seconds")
_KINDS = {
    **dict.fromkeys(("turn", "round", "judging", "tokens_in", "tokens_out"), "Int64"),
    **dict.fromkeys(("score", "cost", "seconds"), "Float64"),
}
"""The types of columns that hold no text, in every piece alike."""


def turns(store: Store, campaign: str) -> pd.DataFrame:
    """A row for each turn that was rated, of the newest versions.

    Columns: conversation, system, user, corpus, scenario, repeat, turn (as replay counts, from 1),
    speaker, text, items (their names, as a JSON list), failure, seconds (of a system's turn).
    """
    return _joined(turn_pieces(store, campaign))


def turn_pieces(store: Store, campaign: str) -> Iterator[pd.DataFrame]:
    """The frame of turns in pieces of 1,000 conversations; at least one, which may be empty."""
    trials = _trials(store, campaign).set_index("conversation")
    ids, is_first = iter(trials.index), True
    while (some := list(islice(ids, _LOGS))) or is_first:
        rows = _turns(store.logs(some), _seconds(store, some))
        found = _typed(rows, _TURN).join(trials, on="conversation")
        yield found[[_TURN[0], *TRIAL, *_TURN[1:]]]
        is_first = False


def _turns(
    logs: Iterable[tuple[str, ConversationLog]], seconds: dict[str, list[float]]
) -> Iterator[tuple[Any, ...]]:
    """The rows of some logs."""
    for id_, log in logs:
        left = iter(seconds[id_])
        for number, turn in enumerate(log.interaction, 1):
            names = json.dumps([item.name for item in turn.items], ensure_ascii=False)
            took = next(left, None) if turn.speaker == "system" else None
            said = (_encodable(turn.text), _encodable(names), turn.failure)
            yield id_, number, turn.speaker, *said, took


def _seconds(store: Store, ids: Sequence[str]) -> dict[str, list[float]]:
    """How long each system turn of some conversations took."""
    query = text(_SECONDS).columns(id=String(), seconds=JSON())
    query = query.bindparams(bindparam("ids", expanding=True))
    with store.connection() as connection:
        return {row.id: row.seconds for row in connection.execute(query, {"ids": ids})}


def _encodable(text: str) -> str:
    """The text with lone surrogates as escapes, since no file can hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


def statements(store: Store, campaign: str, *, texts: bool = True) -> pd.DataFrame:
    """A row for each statement of a debate, of the newest versions.

    Columns: conversation, system, user, corpus, scenario, repeat, evaluator, judging, round, role,
    score, status, and with `texts`: speaker, reason, text.
    """
    query = _STATEMENTS.format(
        evaluators=NEWEST_EVALUATORS,
        texts=", s.speaker, s.reason, t.text" if texts else "",
        text_table="LEFT JOIN text t ON t.hash = s.text" if texts else "",
    )
    trials = played_trials(store, campaign)[["conversation", *TRIAL]]
    said = read(store, query, campaign)
    places = places_in(trials["conversation"], said.pop("conversation"))
    said = said[places >= 0].reset_index(drop=True)
    found: pd.DataFrame = trials.iloc[places[places >= 0]].reset_index(drop=True).join(said)
    return found


def calls(store: Store, campaign: str) -> pd.DataFrame:
    """A row for each call that a campaign was the first to ask for, without its prompt.

    Costs are US dollars. `recjury explain` shows prompts.
    """
    return _joined(call_pieces(store, campaign))


def call_pieces(store: Store, campaign: str) -> Iterator[pd.DataFrame]:
    """The frame of calls in pieces of at most 20,000; at least one, which may be empty."""
    return _read(store, _CALLS, campaign)


def _trials(store: Store, campaign: str) -> pd.DataFrame:
    return played_trials(store, campaign)[["conversation", *TRIAL]].astype({"conversation": str})


def _joined(pieces: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(pieces, ignore_index=True)


def _read(store: Store, query: str, campaign: str) -> Iterator[pd.DataFrame]:
    with store.connection() as connection:
        rows = connection.execute(text(query), {"campaign": campaign})
        columns, is_first = tuple(rows.keys()), True
        while (some := rows.fetchmany(_ROWS)) or is_first:
            yield _typed(some, columns)
            is_first = False


def _typed(rows: Iterable[Any], columns: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame(list(map(tuple, rows)), columns=list(columns), dtype=object)
    return frame.astype({name: _KINDS.get(name, "object") for name in columns})
