"""One conversation in each form, and files of them."""

import gzip
from pathlib import Path
from typing import Any

import orjson

from recjury.corpora import Recording, conversation_row
from recjury.records import ConversationLog, Ending, ItemRef, Scenario, Speaker, Turn
from tests.corpora.arena import dialogue

OWN: dict[str, Any] = {
    "id": "c1",
    "system": "mine",
    "interaction": [
        {"speaker": "user", "text": "A heist film?"},
        {"speaker": "system", "text": "Try Thief.", "items": ["Thief (1981)"]},
    ],
}

MESSAGES: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "A heist film?"},
        {"role": "assistant", "content": "Try Thief."},
    ],
}

PLAYED = Recording(
    log=ConversationLog(
        system="kbrd",
        scenario=Scenario(
            corpus="opendialkg/test",
            record="11_3",
            history=(Turn(speaker=Speaker.USER, text="Grüße \u2028 \U0001f3ac"),),
            targets=(ItemRef(id="7", name="Thief (1981)"),),
            wishes=("heist",),
            pair="11",
        ),
        interaction=(
            Turn(
                speaker=Speaker.SYSTEM,
                text="Try Heat.",
                items=(ItemRef(id="7", name="Thief (1981)"), ItemRef(id=None, name="Nonesuch")),
                calls=("ab12",),
            ),
            Turn(speaker=Speaker.USER, text="Thanks."),
            Turn(speaker=Speaker.SYSTEM, text="", failure="timed out"),
        ),
        ending=Ending.HIT,
        hit_round=1,
        leaks_caught=2,
        list_length=5,
    ),
    identity="0123456789abcdef" * 2,
    repeat=3,
    seed=-5,
    settings={"system": {"name": "kbrd", "weights": [0.1, None, True]}, "models": {}},
    seconds=(0.25, None),
    costs=(None, 0.002),
)


def exported(**changes: object) -> dict[str, Any]:
    """The row of `PLAYED`, as JSON, with fields replaced."""
    row: dict[str, Any] = orjson.loads(orjson.dumps(conversation_row(PLAYED)))
    return row | changes


def arena() -> list[dict[str, Any]]:
    """Three dialogues of CRSArena-Eval."""
    return [dialogue(f"kbrd_redial_{number}") for number in range(3)]


def array(path: Path, rows: object) -> Path:
    """`rows` as one JSON document."""
    return _write(path, orjson.dumps(rows, option=orjson.OPT_INDENT_2))


def lines(path: Path, *rows: object) -> Path:
    """`rows` as JSON lines, packed where the path ends on `.gz`; bytes are lines as they are."""
    parts = (row if isinstance(row, bytes) else orjson.dumps(row) for row in rows)
    return _write(path, b"\n".join(parts))


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
