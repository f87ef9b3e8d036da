"""A form of one's own: `recjury judge chats.csv --form own_form:read`.

chats.csv has the columns chat, bot, who (user or bot) and text, and a line for each turn.
"""

import csv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path


def read(path: Path) -> Iterator[dict[str, object]]:
    """A mapping for each conversation, with the keys of the form jsonl (docs/how-to/logs.md)."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        for chat, lines in groupby(csv.DictReader(file), key=lambda line: line["chat"]):
            turns = list(lines)
            said = [{"role": turn["who"], "content": turn["text"]} for turn in turns]
            yield {"id": chat, "system": turns[0]["bot"], "interaction": said}
