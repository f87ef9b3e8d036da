"""Ratings with their reasons, turns, statements and calls, as frames that can be joined."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
from sqlalchemy import text

from recjury.records import ConversationLog
from recjury.results.ratings import TRIAL, places_in, played_trials, ratings_of, read
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
_SCORES = _STATEMENTS.format(evaluators=NEWEST_EVALUATORS, texts="", text_table="")
_SAID = _STATEMENTS.format(
    evaluators=NEWEST_EVALUATORS,
    texts=", s.speaker, s.reason, t.text",
    text_table="LEFT JOIN text t ON t.hash = s.text",
)
_CALLS = """
    SELECT c.id, c.campaign, c.conversation, c.evaluation, c.model, c.served, c.purpose,
           c.tokens_in, c.tokens_out, c.cost, c.created_at, t.text AS reply
    FROM call c JOIN text t ON t.hash = c.reply
    WHERE c.campaign = :campaign ORDER BY c.created_at, c.id
"""
_LOGS, _ROWS = 1_000, 20_000  # what is in memory at once
_KINDS = {"tokens_in": "Int64", "tokens_out": "Int64", "cost": "Float64"}
_TURN = ("conversation", "turn", "speaker", "text", "items", "failure", "seconds")


def ratings_with_reasons(
    store: Store, campaign: str, *, all_versions: bool = False
) -> pd.DataFrame:
    """The rows of `results.ratings`, with what judges wrote as `rationale`, and `calls`.

    `metric` is an id, such as `core.novelty`, and `turn` counts from 1, as in the frame of turns;
    a rating of the dialogue has none. `calls` has the ids of the calls behind a rating, with spaces
    between them: there is mostly one, the `id` in the frame of calls.
    """
    trials = played_trials(store, campaign, all_versions=all_versions)
    frame = ratings_of(store, campaign, trials, texts=True)
    ids = frame["evaluator"].astype(str) + "." + frame["metric"].astype(str)
    turn = frame["turn"].where(frame["turn"] >= 0) + 1
    return frame.assign(
        metric=ids.where(frame["metric"].notna()).astype("category"),
        turn=turn.astype("Int64"),
        calls=frame["calls"].cat.rename_categories(lambda ids: " ".join(json.loads(ids))),
    )


def turns(store: Store, campaign: str) -> pd.DataFrame:
    """A row for each turn that was rated, of the newest versions.

    Columns: conversation, system, user, corpus, scenario, repeat, turn (as replay counts, from 1),
    speaker, text, items (their names, as a JSON list), failure, seconds (of a system's turn).
    """
    return pd.concat(turn_pieces(store, campaign), ignore_index=True)


def turn_pieces(store: Store, campaign: str) -> Iterator[pd.DataFrame]:
    """The frame of turns in pieces of 1,000 conversations; at least one, which may be empty."""
    trials = played_trials(store, campaign).astype({"conversation": str})
    for first in range(0, max(1, len(trials)), _LOGS):
        some = trials.iloc[first : first + _LOGS]
        seconds = dict(zip(some["conversation"], some["seconds"], strict=True))
        rows = [
            (id_, *turn)
            for id_, log in store.logs(seconds)
            for turn in _turns(log, json.loads(seconds[id_]))
        ]
        said = pd.DataFrame(rows, columns=list(_TURN)).astype({"seconds": float})
        joined = said.merge(some[["conversation", *TRIAL]], "left", "conversation")
        yield joined[[_TURN[0], *TRIAL, *_TURN[1:]]]


def _turns(log: ConversationLog, seconds: Iterable[float]) -> Iterator[tuple[Any, ...]]:
    left = iter(seconds)
    for number, turn in enumerate(log.interaction, 1):
        names = json.dumps([item.name for item in turn.items], ensure_ascii=False)
        took = next(left, None) if turn.speaker == "system" else None
        said = (_encodable(turn.text), _encodable(names), turn.failure)
        yield number, turn.speaker, *said, took


def _encodable(text: str) -> str:
    """The text with lone surrogates as escapes, since no file can hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


def statements(store: Store, campaign: str) -> pd.DataFrame:
    """A row for each statement of a debate, of the newest versions.

    Columns: conversation, system, user, corpus, scenario, repeat, evaluator, judging, round, role,
    score, status, speaker, reason, text.
    """
    return pd.concat(statement_pieces(store, campaign), ignore_index=True)


def statement_pieces(store: Store, campaign: str) -> Iterator[pd.DataFrame]:
    """The frame of statements in pieces of at most 20,000; at least one, which may be empty."""
    trials = played_trials(store, campaign)[["conversation", *TRIAL]].astype({"conversation": str})
    for piece in _pieces(store, _SAID, campaign):
        yield trials.merge(piece, on="conversation")


def statement_scores(store: Store, campaign: str, trials: pd.DataFrame) -> pd.DataFrame:
    """The statements of those trials without texts: columns up to `status`."""
    trials = trials[["conversation", *TRIAL]]
    said = read(store, _SCORES, campaign)
    places = places_in(trials["conversation"], said.pop("conversation"))
    said = said[places >= 0].reset_index(drop=True)
    found: pd.DataFrame = trials.iloc[places[places >= 0]].reset_index(drop=True).join(said)
    return found


def calls(store: Store, campaign: str) -> pd.DataFrame:
    """A row for each call that a campaign was the first to ask for, without its prompt.

    Costs are US dollars. `recjury explain` shows prompts.
    """
    return pd.concat(call_pieces(store, campaign), ignore_index=True)


def call_pieces(store: Store, campaign: str) -> Iterator[pd.DataFrame]:
    """The frame of calls in pieces of at most 20,000; at least one, which may be empty."""
    return _pieces(store, _CALLS, campaign, _KINDS)


def _pieces(
    store: Store, query: str, campaign: str, kinds: Mapping[str, str] | None = None
) -> Iterator[pd.DataFrame]:
    values = {"campaign": campaign}
    with store.connection() as connection:
        yield from pd.read_sql(text(query), connection, params=values, dtype=kinds, chunksize=_ROWS)
