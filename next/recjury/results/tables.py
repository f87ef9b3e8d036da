"""Turns, statements and calls as frames, beside the frame of ratings."""

import json
from typing import TYPE_CHECKING, Any

from recjury.results.ratings import TRIAL, trials_of
from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd

_STATEMENTS = """
    SELECT e.conversation, ce.name AS evaluator, e.judging, s.round, s.role, s.speaker, s.score,
           s.status, s.reason, t.text
    FROM campaign_evaluator ce
    JOIN evaluation e ON e.evaluator = ce.evaluator AND e.judging < ce.judgings
    JOIN statement s ON s.evaluation = e.id
    LEFT JOIN text t ON t.hash = s.text
    WHERE ce.campaign = :campaign ORDER BY e.conversation, e.id, s.number
"""
_CALLS = """
    SELECT c.id, c.campaign, c.conversation, c.evaluation, c.model, c.served, c.purpose,
           c.tokens_in, c.tokens_out, c.cost, c.created_at, t.text AS reply
    FROM call c JOIN text t ON t.hash = c.reply
    WHERE c.campaign = :campaign ORDER BY c.created_at, c.id
"""


def turns(store: Store, campaign: str) -> "pd.DataFrame":
    """A row for each turn that was rated, of the newest versions.

    Columns: conversation, system, user, corpus, scenario, repeat, turn (as replay counts, from 1),
    speaker, text, items (their names, as a JSON list), failure, seconds (of a system's turn).
    """
    import pandas as pd

    trials = trials_of(store, campaign).set_index("conversation")[TRIAL]
    trials.index = trials.index.astype(str)
    seconds = {row.id: list(row.seconds) for row in store.conversations(campaign)}
    rows: list[dict[str, Any]] = []
    for id_, log in store.logs(trials.index):
        left = iter(seconds[id_])
        for number, turn in enumerate(log.interaction, 1):
            names = json.dumps([item.name for item in turn.items], ensure_ascii=False)
            took = next(left, None) if turn.speaker == "system" else None
            about = {"conversation": id_, "turn": number, "speaker": turn.speaker}
            said: dict[str, Any] = {"text": _encodable(turn.text), "items": _encodable(names)}
            said |= {"failure": turn.failure, "seconds": took}
            rows.append(about | said)
    columns = ["conversation", "turn", "speaker", "text", "items", "failure", "seconds"]
    found = pd.DataFrame(rows, columns=columns).join(trials, on="conversation")
    return found[[columns[0], *TRIAL, *columns[1:]]]


def _encodable(text: str) -> str:
    """The text with lone surrogates as escapes, since no file can hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


def statements(store: Store, campaign: str) -> "pd.DataFrame":
    """A row for each statement of a debate, of the newest versions.

    Columns: conversation, system, user, corpus, scenario, repeat, evaluator, judging, round, role,
    speaker, score, status, reason, text.
    """
    trials = trials_of(store, campaign)[["conversation", *TRIAL]].astype({"conversation": str})
    return trials.merge(_read(store, _STATEMENTS, campaign), on="conversation")


def calls(store: Store, campaign: str) -> "pd.DataFrame":
    """A row for each call that a campaign was the first to ask for, without its prompt.

    Costs are US dollars. `recjury explain` shows prompts.
    """
    return _read(store, _CALLS, campaign)


def _read(store: Store, query: str, campaign: str) -> "pd.DataFrame":
    import pandas as pd
    from sqlalchemy import text

    with store.connection() as connection:
        return pd.read_sql(text(query), connection, params={"campaign": campaign})
