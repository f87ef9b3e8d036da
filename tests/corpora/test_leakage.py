"""Dialogues that hold a tested history are found in any case, tokenisation and punctuation."""

from pathlib import Path

import pytest

from recjury.corpora.dialogues import read_dialogues
from recjury.corpora.leakage import RatedHistories, rated_histories

DIALOGUE = [
    "Say , Jim , how about going for a few beers after dinner ?",
    "You know that is tempting but is really not good for our fitness .",
    "What do you mean ? It will help us to relax .",
    "Do you really think so ? I don ’ t .",
]


@pytest.mark.parametrize(
    ("history", "found"),
    [
        (DIALOGUE, True),
        (DIALOGUE[1:3], True),
        ([text.lower().replace(" ,", ",").replace(" ’ ", "'") for text in DIALOGUE[2:]], True),
        (["Something said before.", *DIALOGUE[1:3]], True),  # its last two turns are there
        ([DIALOGUE[0], DIALOGUE[2]], False),  # not one after the other
        ([DIALOGUE[3]], True),
        (["Hi !"], False),
    ],
)
def test_a_history_is_found_where_its_turns_follow_one_another(
    history: list[str], found: bool
) -> None:
    assert RatedHistories([history]).are_in(DIALOGUE) is found


def test_a_short_history_counts_for_nothing() -> None:
    assert len(RatedHistories([["Hi !"], ["How are you ?"]])) == 0
    assert not RatedHistories([]).are_in(DIALOGUE)


@pytest.mark.slow
def test_what_leaks_of_the_real_corpora_is_known(data_folder: Path) -> None:
    folder = data_folder / "dialogue-eval"
    histories = rated_histories(folder, robustness=False)
    leaking = {
        name: sum(
            histories.are_in([turn.text for turn in turns])
            for _, turns in read_dialogues(folder, name)
        )
        for name in ("dailydialog.train", "dailydialog.test", "convai2.valid")
    }
    assert leaking == {"dailydialog.train": 124, "dailydialog.test": 148, "convai2.valid": 302}
