"""A campaign as files: four tables for other tools, and conversations that `judge` reads."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recjury.errors import UserError
from recjury.records import ConversationLog, ItemRef, Turn
from recjury.results.findings import Findings
from recjury.results.ratings import ratings, trials_of
from recjury.results.sentences import rows_of
from recjury.results.tables import calls, statements, turns
from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd

_TABLES = {"ratings": ratings, "turns": turns, "statements": statements, "calls": calls}
_CONVERSATIONS = "conversations.jsonl"


def export(
    store: Store,
    folder: Path,
    *,
    form: Literal["csv", "jsonl", "parquet"] = "csv",
    campaign: str = "",
) -> Findings:
    """Write a campaign's ratings, turns, statements and calls, and its conversations.

    Files of these names in `folder`, which is made if it is missing, are replaced. Raises UserError
    if they cannot be written.
    """
    import pandas as pd

    name = store.campaign(campaign)
    rows: dict[str, int] = {}
    try:
        folder.mkdir(exist_ok=True)
        for table, read in _TABLES.items():
            frame = read(store, name).astype({"turn": "Int64"} if table == "ratings" else {})
            _write(frame, folder / f"{table}.{form}", form)
            rows[f"{table}.{form}"] = len(frame)
        lines = [json.dumps(each, ensure_ascii=False) for each in _conversations(store, name)]
        # A lone surrogate becomes an escape, which JSON has, too.
        text = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
        (folder / _CONVERSATIONS).write_bytes(text)
        rows[_CONVERSATIONS] = len(lines)
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    return Findings(
        title=name,
        answer=f"{name} is in {folder}: `recjury judge {folder / _CONVERSATIONS}` rates it again.",
        tables={"Files": pd.DataFrame(rows.items(), columns=["file", "rows"])},
        data={"campaign": name, "folder": str(folder), "rows": rows},
    )


def _write(frame: "pd.DataFrame", path: Path, form: str) -> None:
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        try:
            frame.to_parquet(path, index=False)
        except ImportError:
            raise UserError("--format parquet needs pyarrow: pip install pyarrow") from None


def _conversations(store: Store, campaign: str) -> Iterator[dict[str, Any]]:
    """The finished conversations in the form `jsonl` of recordings."""
    trials = trials_of(store, campaign)
    done = trials[trials["state"] == "done"].astype({"conversation": str})
    rows = {row["conversation"]: row for row in rows_of(done)}
    catalogues = _catalogues(store.config(campaign))
    for id_, log in store.logs(rows):
        yield {
            "id": log.scenario.id,
            **{key: rows[id_][key] for key in ("system", "user", "repeat")},
            "corpus": log.scenario.corpus,
            "catalogue": catalogues.get(log.scenario.corpus, ""),
            "conversation": id_,
            **_log(log),
        }


def _catalogues(config: Mapping[str, Any]) -> dict[str, str]:
    """Where each corpus's items are: a name, or a folder."""
    opened = config.get("scenarios") or [{"corpus": "sample"}]
    names = [each.get("corpus") or each.get("catalogue", "") for each in opened]
    return {Path(name).name: name for name in names} | dict(config.get("recordings", {}))


def _log(log: ConversationLog) -> dict[str, Any]:
    return {
        "history": [_turn(turn) for turn in log.scenario.history],
        "interaction": [_turn(turn) for turn in log.interaction],
        "targets": _items(log.scenario.targets),
        "wishes": list(log.scenario.wishes),
        "ending": log.ending,
        "linked": log.linked,
    }


def _turn(turn: Turn) -> dict[str, Any]:
    events = [event.model_dump(mode="json") for event in turn.events]
    more = {"items": _items(turn.items), "events": events}
    return {"speaker": turn.speaker, "text": turn.text} | {k: v for k, v in more.items() if v}


def _items(items: Iterable[ItemRef]) -> list[dict[str, str]]:
    return [item.model_dump() for item in items]
