"""`offline` and `session: offline`: by hand, against trec_eval, and where there is no score."""

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from recjury.campaign import Config, run
from recjury.errors import UserError
from recjury.judges import Offline
from recjury.mistakes import made
from recjury.records import ConversationLog, ItemRef, Rating, Scenario, Turn, ratings_of
from recjury.results import means, ratings, scores
from recjury.store import Store
from tests.campaign.campaigns import Counting, play
from tests.simulator.doubles import ask_of

ITEMS = [f"p{n}" for n in range(1, 61)]
SYSTEM = """
def system(conversation):
    from recjury.records import SystemReply
    reply, _, named = conversation.turns[-1].text.partition(": ")
    return SystemReply(text="It is a " + reply, items=named.split())
"""


def corpus(folder: Path, dialogues: Sequence[tuple[str, str, list[str]]]) -> str:
    """A folder with sixty phones. Each dialogue: what the user says, the answer, its items.

    The scripted system recommends what the user's text names after a colon.
    """
    (folder / "domain.yaml").write_text("domain: product\n")
    (folder / "items.csv").write_text("id,title\n" + "".join(f"{p},Phone {p}\n" for p in ITEMS))
    rows = [
        {
            "id": f"d{number}",
            "turns": [
                {"role": "user", "text": said, "items": ["p9"]},
                {"role": "system", "text": answer, "items": items},
            ],
        }
        for number, (said, answer, items) in enumerate(dialogues)
    ]
    (folder / "dialogues.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "named.py").write_text(SYSTEM)
    return str(folder)


def offline(folder: str, **evaluator: Any) -> Config:
    return Config.model_validate(
        {
            "name": "small",
            "folder": folder,
            "scenarios": folder,
            "systems": ["named:system"],
            "session": "offline",
            "evaluators": [{"kind": "offline", **evaluator}],
        }
    )


def test_a_table_by_hand(tmp_path: Path) -> None:
    """Targets at ranks 1; 3; 1 and 4; none of the list; and nothing was listed."""
    folder = corpus(
        tmp_path,
        [
            ("good phone: p1 p2 p3 p4", "It is a good phone", ["p1"]),
            ("phone: p1 p2 p3 p4", "No idea", ["p3"]),
            ("phone: p1 p2 p3 p4", "Perhaps", ["p1", "p4"]),
            ("phone: p1 p2 p3 p4", "Perhaps", ["p5"]),
            ("phone", "Perhaps", ["p1"]),
        ],
    )
    sys.modules.pop("named", None)
    done = play(tmp_path / "s.db", offline(folder, at=[1, 3, 4], text=["bleu", "rouge_l"]))
    assert (done.left, done.sent) == (0, 0)
    with Store(tmp_path / "s.db", readonly=True) as store:
        table = means(scores(ratings(store, "small"))).set_index("metric")
        assert {row.ending for row in store.conversations("small")} == {"offline"}
    by_hand = {
        "recall@1": (1 + 0 + 0.5 + 0) / 4,
        "recall@3": (1 + 1 + 0.5 + 0) / 4,
        "recall@4": (1 + 1 + 1 + 0) / 4,
        "ndcg@1": (1 + 0 + 1 + 0) / 4,
        "ndcg@3": (1 + 0.5 + 1 / 1.6309298 + 0) / 4,
        "ndcg@4": (1 + 0.5 + (1 + 0.4306766) / 1.6309298 + 0) / 4,
        "mrr@1": (1 + 0 + 1 + 0) / 4,
        "mrr@3": (1 + 1 / 3 + 1 + 0) / 4,
        "mrr@4": (1 + 1 / 3 + 1 + 0) / 4,
    }
    for metric, value in by_hand.items():
        assert table["mean"][f"offline.{metric}"] == pytest.approx(value), metric
        assert table["mean"][f"offline.new_{metric}"] == pytest.approx(value), metric
        assert table["coverage"][f"offline.{metric}"] == 0.8
    assert table["mean"]["offline.bleu"] == pytest.approx(100 / 5)
    assert table["mean"]["offline.rouge_l"] == pytest.approx(1 / 5)


def test_fifty_items_of_a_list_count(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [(f"phone: {' '.join(ITEMS)}", "This", ["p50"])])
    sys.modules.pop("named", None)
    play(tmp_path / "s.db", offline(folder))
    with Store(tmp_path / "s.db", readonly=True) as store:
        table = means(scores(ratings(store, "small"))).set_index("metric")["mean"]
    assert (table["offline.recall@10"], table["offline.recall@50"]) == (0, 1)


def log(
    items: Sequence[str],
    targets: Sequence[str],
    *,
    named: Sequence[str] = (),
    text: str = "This.",
    **more: str,
) -> ConversationLog:
    asked = Turn(speaker="user", text="Hm.", items=refs(named))
    scenario = Scenario(id="1", history=(asked,), targets=refs(targets), **more)
    turn = Turn(speaker="system", text=text, items=refs(items))
    return ConversationLog(scenario=scenario, interaction=(turn,), ending="offline")


def refs(ids: Sequence[str]) -> tuple[ItemRef, ...]:
    return tuple(ItemRef(id=each, name=each) for each in ids)


def rate(given: ConversationLog, **settings: Any) -> dict[str, Rating]:
    evaluator = made(Offline, settings)
    found = ratings_of(asyncio.run(evaluator.rate(given, ask_of())))
    assert [rating.metric for rating in found] == [metric.name for metric in evaluator.metrics]
    return {rating.metric: rating for rating in found}


def test_it_equals_trec_eval() -> None:
    draw = random.Random(0)
    for _ in range(100):
        listed = draw.sample(ITEMS, draw.randint(1, 60))
        targets = draw.sample(ITEMS, draw.randint(1, 5))
        k = draw.choice([1, 3, 10, 50])
        ours = rate(log(listed, targets), at=[k])
        judged = pytrec_eval.RelevanceEvaluator(
            {"q": dict.fromkeys(targets, 1)}, {f"recall.{k}", f"ndcg_cut.{k}", "recip_rank"}
        )
        scored = {item: float(-rank) for rank, item in enumerate(listed)}
        cut = {item: score for item, score in scored.items() if score > -k}
        theirs = judged.evaluate({"q": scored})["q"]
        assert ours[f"recall@{k}"].score == pytest.approx(theirs[f"recall_{k}"])
        assert ours[f"ndcg@{k}"].score == pytest.approx(theirs[f"ndcg_cut_{k}"])
        reciprocal = judged.evaluate({"q": cut})["q"]["recip_rank"]
        assert ours[f"mrr@{k}"].score == pytest.approx(reciprocal)


@pytest.mark.parametrize(
    ("targets", "named", "every", "new"),
    [
        (["p1", "p2"], ["p1"], 0.5, 0),
        (["p1"], ["p1"], 1, None),
        (["p1"], ["p3"], 1, 1),
        ([], [], None, None),
    ],
)
def test_targets_that_the_history_names_are_left_out(
    targets: list[str], named: list[str], every: float | None, new: float | None
) -> None:
    found = rate(log(["p1", "p1", "p4"], targets, named=named), at=[2])
    assert (found["recall@2"].score, found["new_recall@2"].score) == (every, new)
    assert bool(found["new_recall@2"].reason) == (new is None)


def test_texts() -> None:
    every = ["bleu", "rouge_l", "distinct"]
    same = rate(log([], [], text="Try the phone.", reference="Try the phone."), text=every)
    assert same["bleu"].score == pytest.approx(100)
    assert same["rouge_l"].score == 1
    repeats = rate(log([], [], text="Новый, новый, новый фильм!"), text=every)
    assert [repeats[f"distinct_{n}"].score for n in (2, 3, 4)] == [pytest.approx(2 / 3), 1, 1]
    assert repeats["bleu"].score is None
    assert rate(log([], [], text="No."), text=["distinct"])["distinct_2"].score is None
    assert rate(log(["p1"], [], text=""), text=every)["rouge_l"].score is None


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(UserError, match=r"recjury\[baselines\]"):
        made(Offline, {"text": ["bleu"]})
    assert made(Offline, {"text": ["distinct"]})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"users": ["demo"]}, "users"),
        ({"session": {"offline": True, "max_rounds": 2}}, "max_rounds"),
        ({"session": "offlin"}, "expected `offline`"),
        ({"protocol": "paper"}, "protocol"),
    ],
)
def test_what_an_offline_session_cannot_have(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Config.model_validate({"systems": ["popular"], "session": "offline"} | changes)


def test_nothing_is_asked_for_the_user(tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "scenarios": [{"corpus": "sample", "limit": 2}],
            "systems": ["popular"],
            "session": {"offline": True, "list_length": 3},
            "model": {"name": "scripted"},
        }
    )
    opened = Counting()
    with Store(tmp_path / "s.db") as store:
        asyncio.run(run(config, store, open_provider=opened))
        ids = [row.id for row in store.conversations("campaign")]
        logs = [log for _, log in store.logs(ids)]
    assert opened.requests == []
    assert [[len(turn.items) for turn in each.interaction] for each in logs] == [[3], [3]]
    assert all(each.scenario.reference for each in logs)


def test_a_scenario_without_a_history_is_refused(tmp_path: Path) -> None:
    drawn = {"scenarios": [{"catalogue": "sample", "draw": 2}], "systems": ["popular"]}
    with pytest.raises(UserError, match="history"):
        play(tmp_path / "s.db", Config.model_validate(drawn | {"session": "offline"}))
