"""Offline metrics: by hand, by trec_eval, and what has no score."""

import asyncio
import math
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
import pytrec_eval

from recjury.corpora import open_corpus
from recjury.judges import EvaluatorContext
from recjury.judges.outcome.offline import OfflineEvaluator
from recjury.records import (
    Conversation,
    ConversationLog,
    ConversationRecord,
    Ending,
    ItemRef,
    Rating,
    SystemReply,
)
from recjury.simulator import reply_once
from tests.judges.cases import FARGO, HEAT, RONIN, a_log

NOWHERE = ItemRef(id=None, name="Heat (1995)")


def rated(log: ConversationLog, evaluator: OfflineEvaluator | None = None) -> Mapping[str, Rating]:
    work = (evaluator or OfflineEvaluator()).evaluate("rate", ConversationRecord(log), {})
    return {rating.factor: rating for rating in asyncio.run(work).ratings}


def replied(
    *items: ItemRef, targets: tuple[ItemRef, ...] = (HEAT,), length: int = 50
) -> ConversationLog:
    log = a_log(items=items, targets=targets)
    turns = log.system_turns[:1]
    changes = {"interaction": turns, "ending": Ending.OFFLINE, "list_length": length}
    return log.model_copy(update=changes)


def test_two_targets_by_hand() -> None:
    found = rated(replied(RONIN, HEAT, NOWHERE, FARGO, targets=(HEAT, FARGO)))
    best = 1 + 1 / math.log2(3)
    by_hand = {
        "recall@1": 0.0,
        "recall@10": 1.0,
        "recall@50": 1.0,
        "ndcg@1": 0.0,
        "ndcg@10": (1 / math.log2(3) + 1 / math.log2(5)) / best,
        "mrr@10": 1 / 2,
        "targets": 2,
    }
    assert {name: found[name].score for name in by_hand} == pytest.approx(by_hand)


def test_an_item_counts_once_and_a_name_without_an_id_is_no_target() -> None:
    found = rated(replied(RONIN, RONIN, HEAT))
    assert found["mrr@10"].score == 0.5, "a repeated item takes no second place"
    assert rated(replied(NOWHERE))["recall@10"].score == 0


def test_an_empty_list_misses() -> None:
    assert rated(replied())["recall@50"].score == 0


def test_what_has_no_score_says_why() -> None:
    log = replied(HEAT, length=10)
    seen = log.scenario.model_copy(update={"target_seen": True})
    found = rated(log.model_copy(update={"scenario": seen}))
    assert (found["recall@10"].score, found["new_recall@10"].score) == (1, None)
    assert found["new_recall@10"].reason == "a target is named in the history already"
    assert found["recall@50"].reason == "only 10 items of the list count"
    assert rated(replied(HEAT, targets=()))["recall@1"].reason == "the log has no target item"
    played = rated(a_log("Hello", items=(HEAT,)))
    assert {each.reason for name, each in played.items() if "@" in name} == {
        "it is no single reply to a recorded history"
    }


def test_every_rating_has_the_id_and_scale_of_a_metric() -> None:
    evaluator = OfflineEvaluator(cutoffs=(20, 5, 5), texts=("rouge-l",))
    assert (evaluator.cutoffs, evaluator.list_length) == ((5, 20), 20)
    found = rated(replied(HEAT), evaluator.prepared(EvaluatorContext()))
    assert list(found) == [metric.id for metric in evaluator.metrics]
    for metric in evaluator.metrics:
        assert (found[metric.id].low, found[metric.id].high) == (metric.low, metric.high)


def test_texts_are_compared_with_what_the_person_said() -> None:
    corpus = open_corpus("sample")
    scenario, example = corpus.scenarios("test").scenarios[0], corpus.examples("test")[0]
    evaluator = OfflineEvaluator(texts=("bleu-2", "rouge-l"))
    ready = evaluator.prepared(EvaluatorContext(corpus))
    assert scenario.id == f"sample/test#{example.record}"
    log = replied(HEAT).model_copy(update={"scenario": scenario})

    def says(text: str) -> ConversationLog:
        turn = log.interaction[0].model_copy(update={"text": text})
        return log.model_copy(update={"interaction": (turn,)})

    same = rated(says(example.response), ready)
    assert (same["bleu_2"].score, same["rouge_l"].score) == (1, 1)
    other = rated(says("well well well"), ready)
    assert (other["rouge_l"].score or 0) < 0.2
    unknown = rated(replied(HEAT), ready)
    assert unknown["bleu_2"].reason == "what the person replied is not known"
    assert ready.data != OfflineEvaluator(texts=("bleu-2",)).prepared(EvaluatorContext()).data


def trec(
    logs: list[ConversationLog], cutoffs: tuple[int, ...] = (1, 10, 50)
) -> dict[str, dict[str, float]]:
    """The measures of `pytrec_eval`, by record and by our ids."""
    wanted = {
        log.scenario.id: {target.id: 1 for target in log.scenario.targets if target.id}
        for log in logs
    }
    found: dict[str, dict[str, float]] = {record: {} for record in wanted}
    for k in cutoffs:
        shown = {log.scenario.id: _scores(log, k) for log in logs}
        measures = {f"recall.{k}", f"ndcg_cut.{k}", "recip_rank"}
        evaluator = pytrec_eval.RelevanceEvaluator(wanted, measures)
        for record, values in evaluator.evaluate(shown).items():
            names = (f"recall_{k}", f"ndcg_cut_{k}", "recip_rank")
            ids = (f"recall@{k}", f"ndcg@{k}", f"mrr@{k}")
            found[record] |= {i: values[name] for i, name in zip(ids, names, strict=True)}
    return found


def _scores(log: ConversationLog, k: int) -> dict[str, float]:
    """The first k items of the list; one without an id is a document that nobody wants."""
    items = [item.id or f"?{place}" for place, item in enumerate(log.session_list())]
    return {item: -float(place) for place, item in enumerate(items[:k])}


def assert_as_trec(logs: list[ConversationLog]) -> None:
    found = trec(logs)
    for log in logs:
        ours = rated(log)
        for name, value in found[log.scenario.id].items():
            assert ours[name].score == pytest.approx(value, abs=1e-6), (log.scenario.id, name)


def test_random_lists_are_as_in_trec_eval() -> None:
    draw = random.Random(1)
    films = [ItemRef(id=str(number), name=f"Film {number}") for number in range(60)]
    logs = []
    for number in range(300):
        items = draw.choices(films, k=draw.randint(1, 50))
        log = replied(*items, targets=tuple(draw.sample(films, draw.randint(1, 4))))
        scenario = log.scenario.model_copy(update={"record": str(number)})
        logs.append(log.model_copy(update={"scenario": scenario}))
    assert_as_trec(logs)


class Lots:
    """A scripted system: fifty items, drawn by the words of the history, half of them popular."""

    name = "lots"
    settings: Mapping[str, str] = {}

    def __init__(self, items: list[ItemRef]):
        self._popular, self._others = items[:150], items[150:]

    async def respond(self, conversation: Conversation) -> SystemReply:
        draw = random.Random(" ".join(turn.text for turn in conversation.turns))
        items = [*draw.sample(self._popular, 40), *draw.sample(self._others, 10)]
        draw.shuffle(items)
        return SystemReply(text="Try one of these.", items=tuple(items))

    async def aclose(self) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("corpus_name", "records", "new"), [("redial", 3341, 2924), ("opendialkg", 1187, 763)]
)
def test_all_test_records_are_as_in_trec_eval(
    data_folder: Path, corpus_name: str, records: int, new: int
) -> None:
    corpus = open_corpus(corpus_name, data_folder)
    ranked = sorted(corpus.catalogue, key=lambda item: -(item.popularity or 0))
    system = Lots([item.ref for item in ranked])

    async def all_logs() -> list[ConversationLog]:
        scenarios = corpus.scenarios("test").scenarios
        return [await reply_once(system, each, corpus.catalogue, 50) for each in scenarios]

    logs = asyncio.run(all_logs())
    assert len(logs) == records
    assert sum(not log.scenario.target_seen for log in logs) == new
    assert sum(bool(log.recall_at(50)) for log in logs) > records / 50, "some targets are found"
    assert_as_trec(logs)
