"""Outcomes: what a log says by itself, what it cannot say, and who is asked."""

import asyncio
from collections.abc import Mapping

from recjury.judges import EvaluatorContext
from recjury.judges.outcome.evaluator import OutcomeEvaluator
from recjury.judges.outcome.metrics import METRICS
from recjury.knowledge import Catalogue
from recjury.records import (
    ConversationLog,
    ConversationRecord,
    Ending,
    Item,
    Rating,
    Status,
    metric_id,
)
from recjury.simulator import LlmUser, RuleUser
from tests.judges.cases import FARGO, HEAT, RONIN, a_log, gateway_of, planned

CATALOGUE = Catalogue("tests", (Item(id="1", name="Heat (1995)", title="Heat", year=1995),))


def rated(
    log: ConversationLog,
    seconds: tuple[float | None, ...] = (),
    costs: tuple[float | None, ...] = (),
) -> Mapping[str, Rating]:
    record = ConversationRecord(log, seconds, costs)
    result = asyncio.run(OutcomeEvaluator().evaluate("log", record, {}))
    return {rating.factor: rating for rating in result.ratings}


def persuasiveness(evaluator: OutcomeEvaluator, log: ConversationLog) -> Rating:
    result = asyncio.run(evaluator.evaluate("persuasiveness", ConversationRecord(log), {}))
    (rating,) = result.ratings
    return rating


def test_every_metric_has_a_rating_of_its_id_and_scale() -> None:
    found = rated(a_log(items=(RONIN, HEAT)), seconds=(0.5,), costs=(0.25,))
    assert [*found, "persuasiveness"] == [metric.id for metric in METRICS]
    for metric in METRICS[:-1]:
        rating = found[metric.id]
        assert (rating.low, rating.high) == (metric.low, metric.high)
        assert (rating.evaluator, rating.status) == ("computed", Status.SCORED)
    assert {k: r.score for k, r in found.items() if "recall" in k} == {
        "recall@1": 0,
        "recall@5": 1,
        "recall@10": 1,
        "new_recall@1": 0,
        "new_recall@5": 1,
        "new_recall@10": 1,
        "last_turn_recall@1": 0,
        "last_turn_recall@5": 1,
        "last_turn_recall@10": 1,
    }
    others = ("hit_round", "rounds", "leaks_caught", "seconds_per_turn", "cost_per_turn")
    assert [found[name].score for name in others] == [1, 1, 0, 0.5, 0.25]


def test_what_does_not_apply_says_why_and_is_no_zero() -> None:
    seen = a_log(items=(RONIN, FARGO))
    seen = seen.model_copy(
        update={"scenario": seen.scenario.model_copy(update={"target_seen": True})}
    )
    found = rated(seen, seconds=(None,))
    assert (found["recall@10"].score, found["new_recall@10"].score) == (0, None)
    reasons = {
        name: rating.reason
        for name, rating in found.items()
        if rating.status is Status.NOT_APPLICABLE
    }
    assert reasons == {
        "new_recall@1": "a target is named in the history already",
        "new_recall@5": "a target is named in the history already",
        "new_recall@10": "a target is named in the history already",
        "hit_round": "no target was recommended",
        "seconds_per_turn": "how long the system took is not known",
        "cost_per_turn": "what the system's turns cost is not known",
    }
    bare = rated(a_log(targets=()))
    assert bare["recall@10"].reason == "the log has no target item"


def test_a_mean_over_turns_of_which_one_is_unknown_is_unknown() -> None:
    found = rated(a_log("One.", "Two."), seconds=(1.0, 2.0), costs=(0.1, None))
    assert found["seconds_per_turn"].score == 1.5
    assert found["cost_per_turn"].score is None


def test_a_system_without_lists_missed_and_a_recording_without_lists_says_nothing() -> None:
    played = a_log(items=())
    recorded = played.model_copy(update={"ending": Ending.RECORDED})
    assert rated(played)["recall@10"].score == 0
    found = rated(recorded)["recall@10"]
    assert (found.score, found.reason) == (None, "the log has no recommendation list")
    assert rated(recorded)["leaks_caught"].score is None


def test_a_recorded_hit_is_found_in_the_lists() -> None:
    late = a_log("One.", "Two.", items=(HEAT,))
    first = late.interaction[0].model_copy(update={"items": (RONIN,)})
    log = late.model_copy(
        update={"interaction": (first, *late.interaction[1:]), "ending": Ending.RECORDED}
    )
    assert rated(log)["hit_round"].score == 2


def test_nobody_can_be_asked_of_a_recording_or_without_a_user() -> None:
    recorded = a_log().model_copy(update={"ending": Ending.RECORDED})
    user = RuleUser(CATALOGUE)
    asked = OutcomeEvaluator().prepared(EvaluatorContext(user=user))
    for evaluator, log in ((OutcomeEvaluator(), a_log()), (asked, recorded)):
        rating = persuasiveness(evaluator, log)
        assert (rating.score, rating.status) == (None, Status.NOT_APPLICABLE)
        assert rating.reason.startswith("nobody can be asked: ")
        assert metric_id(rating.factor) == "persuasiveness"


def test_the_user_of_the_campaign_is_asked() -> None:
    gateway, model = gateway_of(["Hm. <rating>2</rating>"], "main")
    user = LlmUser(gateway, "main", CATALOGUE)
    evaluator = OutcomeEvaluator().prepared(EvaluatorContext(None, gateway, gateway.models, user))
    assert persuasiveness(evaluator, a_log()).score == 2
    assert [request.purpose for request in model.requests] == ["simulator/persuasiveness"]
    assert evaluator.settings["models"] == {"main": gateway.models["main"].reply_settings()}
    assert evaluator.data == {"catalogue": CATALOGUE.digest}
    assert planned(evaluator, a_log()) == {("main", "simulator/persuasiveness"): 1}
    assert planned(evaluator, a_log(targets=())) == {}


def test_settings_hold_the_user_without_its_catalogue() -> None:
    evaluator = OutcomeEvaluator().prepared(EvaluatorContext(user=RuleUser(CATALOGUE)))
    user = evaluator.settings["user"]
    assert isinstance(user, dict)
    assert user["user"] == "rule"
    assert "catalogue" not in user
    assert OutcomeEvaluator().prepared(EvaluatorContext()).settings == {"version": 2}
