"""`core`: twelve ratings, and the debate over them, as stages of one evaluator."""

import asyncio

import pytest
from pydantic import ValidationError

from recjury.corpora import open_corpus
from recjury.errors import CallFailed, ConfigError, UnitFailed
from recjury.judges import EvaluatorContext
from recjury.judges.core.evaluator import CoreEvaluator
from recjury.llm import Gateway
from recjury.llm.scripted import Line
from recjury.records import (
    ChatRequest,
    ConversationLog,
    ConversationRecord,
    Debate,
    Factor,
    Level,
    Need,
    StageResult,
    Status,
    metric_id,
)
from tests.judges.cases import a_log, gateway_of, planned

CORPUS = open_corpus("sample")


def _with_models(gateway: Gateway) -> CoreEvaluator:
    context = EvaluatorContext(None, gateway, gateway.models)
    return CoreEvaluator().with_models(available=True).prepared(context)


def evaluated(core: CoreEvaluator, log: ConversationLog | None = None) -> dict[str, StageResult]:
    """All stages, run as the pipeline does."""

    async def work() -> dict[str, StageResult]:
        done: dict[str, StageResult] = {}
        for stage in core.stages:
            record = ConversationRecord(log or a_log())
            done[stage.name] = await core.evaluate(stage.name, record, done)
        return done

    return asyncio.run(work())


def replied(request: ChatRequest) -> Line:
    if request.purpose.startswith("judge"):
        return "Fine. <rating>3</rating>"
    return '{"statement": "I would use it.", "score": 80}'


def test_without_a_model_it_measures_and_debates_by_rule() -> None:
    core = CoreEvaluator().prepared(EvaluatorContext(CORPUS))
    assert [(stage.name, stage.after) for stage in core.stages] == [
        ("rate", ()),
        ("debate", ("rate",)),
    ]
    done = evaluated(core)
    assert {rating.evaluator for rating in done["rate"].ratings} == {"measured"}
    (overall,) = done["debate"].ratings
    assert (overall.factor, overall.evaluator, overall.high) == ("Overall", "debate", 100)
    debate = done["debate"].debate
    assert isinstance(debate, Debate)
    assert overall.score == debate.verdict.score is not None
    assert overall.rubric == debate.transcript.protocol


def test_its_metrics_are_what_it_rates() -> None:
    core = CoreEvaluator().prepared(EvaluatorContext(CORPUS))
    done = evaluated(core)
    rated = [metric_id(r.factor) for name in ("debate", "rate") for r in done[name].ratings]
    assert [metric.id for metric in core.metrics] == rated
    overall, *factors = core.metrics
    assert (overall.title, overall.low, overall.high, overall.digits) == ("Rule verdict", 0, 100, 1)
    assert [(m.title, m.group) for m in factors] == [(f, f.dimension) for f in Factor]
    assert {(m.low, m.high, m.level) for m in factors} == {(0, 4, Level.DIALOGUE)}
    by_models = CoreEvaluator().with_models(available=True)
    assert by_models.metrics[0].title == "Overall"
    needs = {metric.id: metric.needs for metric in by_models.metrics}
    assert needs["effectiveness"] == (Need.LIST, Need.TARGETS, Need.MODEL)


def test_the_corpus_is_data_and_no_part_of_the_version() -> None:
    core, bare = (CoreEvaluator().prepared(EvaluatorContext(c)) for c in (CORPUS, None))
    assert core.settings == bare.settings
    assert (core.settings["raters"], core.settings["rubric"]) == ("measured", "measured-6")
    assert set(core.data) == {"catalogue"}
    assert core.data != bare.data


def test_with_a_model_it_judges_and_debates() -> None:
    gateway, model = gateway_of(replied, "main")
    core = _with_models(gateway)
    done = evaluated(core)
    assert {rating.score for rating in done["rate"].ratings} == {3}
    assert done["debate"].ratings[0].score == 80
    assert len(model.requests) == 16
    assert core.data == {}
    assert core.settings["models"] == {"main": gateway.models["main"].reply_settings()}
    debate = core.settings["debate"]
    assert isinstance(debate, dict)
    assert debate["max_rounds"] == 4


def test_a_debate_that_is_off_is_neither_metric_nor_stage() -> None:
    config = CoreEvaluator.model_validate({"debate": {"kind": False}})
    core = config.prepared(EvaluatorContext(CORPUS))
    assert [stage.name for stage in core.stages] == ["rate"]
    assert len(core.metrics) == 12
    assert core.settings["debate"] is None


def test_a_debate_without_a_verdict_is_unscored_with_the_reason() -> None:
    core = CoreEvaluator().prepared(EvaluatorContext(CORPUS))
    nothing = a_log().model_copy(update={"interaction": ()})
    (overall,) = evaluated(core, nothing)["debate"].ratings
    assert (overall.score, overall.status) == (None, Status.ABSTAINED)
    assert overall.reason == "no role had a scored factor"


def test_a_call_that_failed_leaves_the_debate_to_do() -> None:
    def script(request: ChatRequest) -> Line:
        return CallFailed("gone") if "HCI" in request.purpose else replied(request)

    gateway, _ = gateway_of(script, "main")
    core = _with_models(gateway)
    with pytest.raises(UnitFailed, match="HCI Expert, round 1: gone"):
        evaluated(core)


def test_a_role_that_is_refused_for_good_is_missing_and_the_debate_is_finished() -> None:
    def script(request: ChatRequest) -> Line:
        refused = request.purpose.startswith("debate/HCI")
        return CallFailed("Content Exists Risk", permanent=True) if refused else replied(request)

    gateway, _ = gateway_of(script, "main")
    core = _with_models(gateway)
    result = evaluated(core)["debate"]
    assert result.debate is not None
    assert (result.ratings[0].score, result.debate.verdict.spoke) == (80, 3)


def test_the_rules_of_the_debate_are_part_of_the_version() -> None:
    gateway, _ = gateway_of(replied, "main")
    debate = _with_models(gateway).settings["debate"]
    assert isinstance(debate, dict)
    assert str(debate["protocol"]).endswith("; rules 2")
    by_rule = CoreEvaluator().prepared(EvaluatorContext(CORPUS)).settings["debate"]
    assert by_rule == {"debaters": "rule", "protocol": "rule-debate/6", "max_rounds": 4}


def test_aliases_and_calls_are_those_of_judges_and_debaters() -> None:
    config = CoreEvaluator.model_validate(
        {
            "judges": {"models": ["strict", "kind"], "combine": "mean"},
            "debate": {"model": "strict", "roles": {"Linguist": "poet"}, "max_rounds": 2},
        }
    )
    by_models = config.with_models(available=True)
    assert by_models.aliases == [
        ("judges.models", "strict"),
        ("judges.models", "kind"),
        ("debate.model", "strict"),
        ("debate.roles", "poet"),
    ]
    assert config.aliases == []
    gateway, _ = gateway_of([], "strict", "kind", "poet")
    assert planned(by_models.prepared(EvaluatorContext(None, gateway, gateway.models))) == {
        ("strict", "judge"): 12,
        ("kind", "judge"): 12,
        ("strict", "debate"): 6,
        ("poet", "debate"): 2,
    }


def test_a_model_that_is_not_there_is_refused_before_anything() -> None:
    gateway, _ = gateway_of([], "main")
    around = EvaluatorContext(None, gateway, gateway.models)
    config = CoreEvaluator.model_validate({"judges": {"kind": "llm", "models": ["strict"]}})
    with pytest.raises(ConfigError, match=r"core.judges.models names the model 'strict', .*main"):
        config.prepared(around)
    config = CoreEvaluator.model_validate({"debate": {"kind": "llm"}})
    with pytest.raises(ConfigError, match="needs a model"):
        config.prepared(EvaluatorContext(CORPUS))


def test_routes_need_a_panel_that_routes() -> None:
    judges = {"combine": "mean", "models": ["a"], "routing": {"Novelty": "b"}}
    with pytest.raises(ValidationError, match="needs `combine: route`"):
        CoreEvaluator.model_validate({"judges": judges})
