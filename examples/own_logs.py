"""Own logs: `recjury judge chats.csv --format own_logs:chats` reads them.

chats.csv has the columns chat, bot, who (user or bot) and text, a line for each turn.
"""

import csv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path


def chats(path: Path) -> Iterator[dict[str, object]]:
    """A mapping for each conversation, with the keys of the form jsonl."""
    with path.open(encoding="utf-8", newline="") as file:
        for chat, lines in groupby(csv.DictReader(file), key=lambda line: line["chat"]):
            turns = list(lines)
            yield {
                "id": chat,
                "system": turns[0]["bot"],
                "interaction": [
                    {"speaker": "user" if turn["who"] == "user" else "system", "text": turn["text"]}
                    for turn in turns
                ],
            }
