"""Conversations as lines of JSON, without loss: what they were rated from, to be judged again."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from recjury.store import Store

FORM, VERSION = "recjury-conversation", 1


def write_conversations(path: Path, store: Store, campaign: str | None = None) -> None:
    """Write the conversations of a campaign, or of the whole store, that came to their end."""
    with path.open("wb") as file:
        for each in _lines(store, campaign):
            file.write(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE))


def _lines(store: Store, campaign: str | None) -> Iterator[dict[str, object]]:
    for each in store.conversations(campaign):
        record = store.record(each.id)
        if record is not None:
            yield {
                "form": FORM,
                "version": VERSION,
                "conversation": each.identity or each.id,
                "repeat": each.repeat,
                "seed": each.seed,
                "settings": each.settings,
                "seconds": record.seconds,
                "log": record.log.model_dump(mode="json"),
                "digest": record.log.id,
            }
