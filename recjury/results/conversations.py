"""Conversations as lines of JSON, without loss: what they were rated from, to be judged again."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import orjson

from recjury.corpora import Recording, conversation_row
from recjury.records import JSON
from recjury.store import Store


def write_conversations(path: Path, store: Store, campaign: str | None = None) -> None:
    """Write the conversations of a campaign, or of the whole store, that came to their end."""
    with path.open("wb") as file:
        for each in _recordings(store, campaign):
            file.write(orjson.dumps(conversation_row(each), option=orjson.OPT_APPEND_NEWLINE))


def _recordings(store: Store, campaign: str | None) -> Iterator[Recording]:
    for each in store.conversations(campaign):
        record = store.record(each.id)
        if record is not None:
            yield Recording(
                log=record.log,
                identity=each.identity or each.id,
                repeat=each.repeat,
                seed=each.seed,
                settings=cast("Mapping[str, JSON]", each.settings),
                seconds=record.seconds,
                costs=record.costs,
            )
