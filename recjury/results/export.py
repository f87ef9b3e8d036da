"""A campaign as files: tables for other tools, and conversations that `judge` reads."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from recjury.corpora import name_and_folder
from recjury.errors import UserError
from recjury.records import ConversationLog, ItemRef, Turn
from recjury.results.campaign import StoredCampaign
from recjury.results.findings import Findings
from recjury.results.ratings import played_trials
from recjury.results.selection import ALL, Selection
from recjury.results.sentences import rows_of
from recjury.results.tables import call_pieces, ratings_with_reasons, statement_pieces, turn_pieces
from recjury.store import Store

TableFormat = Literal["csv", "jsonl", "parquet"]

_PIECES: Mapping[str, Callable[[Store, str], Iterator[pd.DataFrame]]] = {
    "ratings": lambda store, campaign: iter([ratings_with_reasons(store, campaign)]),
    "turns": turn_pieces,
    "statements": statement_pieces,
    "calls": call_pieces,
}
_CONVERSATIONS = "conversations.jsonl"
_FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


def export(
    store: Store,
    folder: Path,
    *,
    form: TableFormat = "csv",
    campaign: str = "",
    selection: Selection = ALL,
) -> Findings:
    """Write a campaign's trials, ratings, turns, statements and calls, and its conversations.

    Files of these names in `folder`, which is made if it is missing, are replaced. In CSV, texts
    that a spreadsheet would take for a formula begin with an apostrophe. Raises UserError if files
    cannot be written, or if `selection` leaves nothing.
    """
    whole = StoredCampaign(store, campaign)
    name, part = whole.name, whole.of(selection)
    ids = frozenset(part.trials["id"]) if selection else None
    rows: dict[str, int] = {}
    try:
        folder.mkdir(exist_ok=True)
        rows[f"trials.{form}"] = _write([part.trials], folder / f"trials.{form}", form)
        for table, read in _PIECES.items():
            pieces = (_own(piece, ids) for piece in read(store, name))
            rows[f"{table}.{form}"] = _write(pieces, folder / f"{table}.{form}", form)
        rows[_CONVERSATIONS] = _write_conversations(store, name, folder / _CONVERSATIONS, ids)
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    return Findings(
        title=name,
        answer=f"{name} is in {folder}: `recjury judge {folder / _CONVERSATIONS}` rates it again.",
        tables={"Files": pd.DataFrame(rows.items(), columns=["file", "rows"])},
        data={"campaign": name, "folder": str(folder), "rows": rows},
    )


def _own(frame: pd.DataFrame, ids: frozenset[str] | None) -> pd.DataFrame:
    """The rows of those conversations; without ids, all of them."""
    return frame if ids is None else frame[frame["conversation"].isin(ids)]


def _write(pieces: Iterable[pd.DataFrame], path: Path, form: TableFormat) -> int:
    """Write a table, and return how many rows it has."""
    if form == "parquet":
        return _write_parquet(pieces, path)
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, piece in enumerate(pieces):
            if form == "csv":
                for_spreadsheets(piece).to_csv(file, index=False, header=not number)
            elif len(piece):
                piece.to_json(file, orient="records", lines=True, force_ascii=False)
            rows += len(piece)
    return rows


def _write_parquet(pieces: Iterable[pd.DataFrame], path: Path) -> int:
    """The first piece says what types there are; a column without a value is of texts."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise UserError("Parquet needs pyarrow: pip install 'recjury[frames]'") from None
    left = iter(pieces)
    first = next(left)
    found = pa.Schema.from_pandas(first, preserve_index=False)
    schema = pa.schema(
        field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in found
    )
    rows = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for piece in chain([first], left):
            writer.write_table(pa.Table.from_pandas(piece, schema, preserve_index=False))
            rows += len(piece)
    return rows


def for_spreadsheets(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with an apostrophe before texts that a spreadsheet would take for a formula."""
    texts = [name for name, kind in frame.dtypes.items() if kind in ("object", "category", "str")]
    return frame.assign(**{str(name): frame[name].map(_no_formula) for name in texts})


def _no_formula(value: object) -> object:
    if not isinstance(value, str) or not value.startswith(_FORMULA) or len(value) == 1:
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def _write_conversations(
    store: Store, campaign: str, path: Path, ids: frozenset[str] | None
) -> int:
    """Write the finished conversations in the form `jsonl` of recordings; how many there are."""
    trials = played_trials(store, campaign)
    done = _own(trials[trials["state"] == "done"].astype({"conversation": str}), ids)
    columns = done[["conversation", "system", "user", "repeat"]]
    rows = {row["conversation"]: row for row in rows_of(columns)}
    catalogues = _catalogues(store.config(campaign))
    # A lone surrogate becomes an escape, which JSON has, too.
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        for id_, log in store.logs(rows):
            about = {
                "id": log.scenario.id,
                **rows[id_],
                "corpus": log.scenario.corpus,
                "catalogue": catalogues.get(log.scenario.corpus, ""),
            }
            file.write(json.dumps(about | recorded(log), ensure_ascii=False) + "\n")
    return len(rows)


def _catalogues(config: Mapping[str, Any]) -> dict[str, str]:
    """Where each corpus's items are: a name, or a folder."""
    opened = config.get("scenarios") or [{"corpus": "sample"}]
    names = [each.get("corpus") or each.get("catalogue", "") for each in opened]
    found = (name_and_folder(name, config.get("folder", ".")) for name in names)
    return dict(found) | dict(config.get("recordings", {}))


def recorded(log: ConversationLog) -> dict[str, Any]:
    """What a log has, in the keys of the form `jsonl` of recordings."""
    return {
        "history": [_turn(turn) for turn in log.scenario.history],
        "interaction": [_turn(turn) for turn in log.interaction],
        "targets": _items(log.scenario.targets),
        "wishes": list(log.scenario.wishes),
        "reference": log.scenario.reference,
        "ending": log.ending,
        "linked": log.linked,
    }


def _turn(turn: Turn) -> dict[str, Any]:
    events = [event.model_dump(mode="json") for event in turn.events]
    more = {"items": _items(turn.items), "events": events, "linked": turn.linked}
    return {"speaker": turn.speaker, "text": turn.text} | {k: v for k, v in more.items() if v}


def _items(items: Iterable[ItemRef]) -> list[dict[str, str]]:
    return [item.model_dump() for item in items]
