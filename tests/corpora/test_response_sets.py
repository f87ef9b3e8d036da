"""Rated replies and dialogues, and the corpora beside them, as they are in the real files."""

import json
from collections import Counter
from pathlib import Path

import pytest

from recjury.corpora.dialogues import (
    read_adversarial_replies,
    read_dialogues,
    read_robustness_pairs,
)
from recjury.corpora.response_sets import RESPONSE_SETS, read_rated_dialogues, read_response_set
from recjury.errors import DataError
from recjury.records import Speaker

ROW = {
    "id": "fed-turn-0",
    "history": ["Hi!", "Hello."],
    "response": "How are you?",
    "system": "Meena",
    "scores": {"Overall": [3, 4], "Fluent": []},
    "target": 3.5,
}


def test_the_real_sets_have_the_counts_of_their_readme(data_folder: Path) -> None:
    folder = data_folder / "dialogue-eval"
    found = {name: read_response_set(folder, name) for name in RESPONSE_SETS}
    counted = {name: (len(rows), sum(each.human for each in rows)) for name, rows in found.items()}
    assert counted == {
        "dailydialog-grade": (300, 0),
        "dailydialog-zhao": (900, 200),
        "convai2-grade": (600, 0),
        "convai2-usr": (300, 120),
        "topicalchat-usr": (360, 120),
        "fed-turn": (375, 123),
        "empathetic-grade": (300, 0),
    }
    dialogues = read_rated_dialogues(folder)
    assert (len(dialogues), sum(each.human for each in dialogues)) == (125, 41)


def test_a_reply_of_the_system_follows_the_users_turn(data_folder: Path) -> None:
    for each in read_response_set(data_folder / "dialogue-eval", "fed-turn"):
        assert each.response.history[-1].speaker is Speaker.USER
        assert each.ratings["Overall"]


def test_rows_that_begin_alike_are_one_group(data_folder: Path) -> None:
    found = read_response_set(data_folder / "dialogue-eval", "dailydialog-zhao")
    groups = Counter(each.group for each in found)
    assert set(groups.values()) <= {9, 18, 27}


def test_the_corpora_are_read(data_folder: Path) -> None:
    folder = data_folder / "dialogue-eval"
    dialogues = dict(read_dialogues(folder, "dailydialog.validation"))
    assert len(dialogues) == 1_000
    assert sum(len(turns) for turns in dialogues.values()) == 8_069
    replies = list(read_adversarial_replies(folder, "dev"))
    assert len(replies) == 1_028
    assert all(len(each.adversarial) == 5 for each in replies)
    pairs = list(read_robustness_pairs(folder))
    assert len(pairs) == 13_548
    assert sum(pair.original == pair.worse for pair in pairs) >= 209
    assert sum(pair.history != pair.worse_history for pair in pairs) == 5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "response": None}, "a row without a response"),
        ({**ROW, "target": "high"}, "target"),
        ({**ROW, "speakers": ["User"]}, "expected User or System"),
        ({**ROW, "speakers": ["User", "Robot", "System"]}, "expected User or System"),
    ],
)
def test_a_malformed_row_is_said_with_file_and_line(
    tmp_path: Path, row: dict[str, object], message: str
) -> None:
    (tmp_path / "fed-turn.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    with pytest.raises(DataError, match=message) as caught:
        read_response_set(tmp_path, "fed-turn")
    assert "fed-turn.jsonl:1" in str(caught.value)


def test_empty_and_missing_and_unknown_sets_are_said(tmp_path: Path) -> None:
    (tmp_path / "fed-turn.jsonl").write_text("\n", "utf-8")
    with pytest.raises(DataError, match="has no rows"):
        read_response_set(tmp_path, "fed-turn")
    with pytest.raises(DataError, match="cannot be read"):
        read_response_set(tmp_path, "convai2-usr")
    with pytest.raises(DataError, match="unknown set 'usr'"):
        read_response_set(tmp_path, "usr")
