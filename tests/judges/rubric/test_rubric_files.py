"""An own rubric: what a file may say, what is asked for it, and what is wrong in one line."""

import asyncio
from pathlib import Path

import pytest

from recjury.errors import CallFailed, ConfigError
from recjury.judges import EvaluatorContext
from recjury.judges.rubric.criteria import read_criteria
from recjury.judges.rubric.evaluator import RubricEvaluator
from recjury.records import ConversationRecord, Need, Status
from tests.judges.cases import a_log, gateway_of, planned

TRUST = """
- name: Trust
  group: Feeling
  definition: Would you trust it?
  scale: [0, 2]
  anchors: {0: Never., 1: A little., 2: Always.}
  steps: [Read the turns., Take the score.]
"""
LISTED = """
- name: Item Fit
  definition: Do the items fit?
  scale: [1, 10]
  between: true
  inputs: [list, target]
  anchors: {1: None fits., 10: All fit.}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "factors.yaml"
    path.write_text(text, "utf-8")
    return path


def built(path: Path, *lines: str) -> RubricEvaluator:
    gateway, _ = gateway_of(lines, "main")
    return RubricEvaluator(file=str(path)).prepared(EvaluatorContext(None, gateway, gateway.models))


def test_criteria_are_metrics_in_the_order_of_the_file(tmp_path: Path) -> None:
    config = RubricEvaluator(file=str(written(tmp_path, TRUST + LISTED)))
    assert [(m.id, m.title, m.group, m.low, m.high, m.needs) for m in config.metrics] == [
        ("trust", "Trust", "Feeling", 0, 2, (Need.MODEL,)),
        ("item_fit", "Item Fit", "", 1, 10, (Need.LIST, Need.TARGETS, Need.MODEL)),
    ]
    gateway, _ = gateway_of([], "main")
    evaluator = config.prepared(EvaluatorContext(None, gateway, gateway.models))
    assert planned(evaluator) == {("main", "rubric"): 2}
    assert planned(evaluator, a_log(targets=())) == {("main", "rubric"): 1}


def test_a_mapping_with_the_key_factors_will_do(tmp_path: Path) -> None:
    listed = read_criteria(written(tmp_path, TRUST))
    assert read_criteria(written(tmp_path, "factors:" + TRUST)) == listed


def test_it_is_judged_like_the_twelve(tmp_path: Path) -> None:
    gateway, model = gateway_of(lambda _: "Well. <rating>2</rating>", "main")
    config = RubricEvaluator(file=str(written(tmp_path, TRUST + LISTED)))
    evaluator = config.prepared(EvaluatorContext(None, gateway, gateway.models))
    result = asyncio.run(evaluator.evaluate("rate", ConversationRecord(a_log()), {}))
    trust, fit = result.ratings
    assert (trust.factor, trust.score, trust.high, trust.evaluator) == ("Trust", 2, 2, "main")
    assert (fit.score, fit.low, fit.high, fit.rationale) == (2, 1, 10, "Well.")
    assert trust.rubric.startswith("rubric/")
    assert len(trust.calls) == 1
    first, second = (request.messages[1].text for request in model.requests)
    assert "You judge one factor: Trust." in first
    assert "2: Always.\n1: A little.\n0: Never.\n" in first
    assert "1. Read the turns.\n2. Take the score.\n" in first
    assert "<recommendation_list>" not in first
    assert "a whole number from 0 to 2" in first
    assert "<recommendation_list>" in second
    assert "<target>" in second
    assert "Whole numbers in between are allowed." in second


def test_a_score_off_its_scale_is_asked_for_again_and_never_kept(tmp_path: Path) -> None:
    evaluator = built(written(tmp_path, TRUST), *["<rating>3</rating>"] * 3)
    (rating,) = asyncio.run(evaluator.evaluate("rate", ConversationRecord(a_log()), {})).ratings
    assert (rating.score, rating.status, len(rating.calls)) == (None, Status.UNREADABLE, 3)


def test_what_a_log_lacks_leaves_a_criterion_unscored_without_a_call(tmp_path: Path) -> None:
    evaluator = built(written(tmp_path, LISTED))
    (rating,) = asyncio.run(
        evaluator.evaluate("rate", ConversationRecord(a_log(targets=())), {})
    ).ratings
    assert (rating.status, rating.reason) == (Status.NOT_APPLICABLE, "the log has no target item")


def test_a_call_that_failed_is_a_status(tmp_path: Path) -> None:
    gateway, _ = gateway_of(lambda _: CallFailed("gone"), "main")
    path = written(tmp_path, TRUST)
    evaluator = RubricEvaluator(file=str(path)).prepared(
        EvaluatorContext(None, gateway, gateway.models)
    )
    (rating,) = asyncio.run(evaluator.evaluate("rate", ConversationRecord(a_log()), {})).ratings
    assert rating.status is Status.CALL_FAILED


def test_settings_change_with_what_the_file_says_and_not_with_its_layout(tmp_path: Path) -> None:
    first = built(written(tmp_path, TRUST)).settings
    assert built(written(tmp_path, "# mine\n" + TRUST)).settings == first
    assert built(written(tmp_path, TRUST.replace("A little", "Some"))).settings != first


def test_a_rubric_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rubric needs a model"):
        RubricEvaluator(file=str(written(tmp_path, TRUST))).prepared(EvaluatorContext())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("[]", "has no criterion"),
        ("factors: 3", "expected a list of criteria, got a int"),
        ("a: b: c", "is not YAML"),
        (TRUST.replace(" 1: A little.,", ""), "'Trust': 1 has no anchor: add one, or say `between"),
        (TRUST.replace("2: Always.", "5: Always."), "the anchor 5 is outside its scale, 0 to 2"),
        (TRUST.replace("[0, 2]", "[2, 0]"), r"its scale must go up, got \[2, 0\]"),
        (TRUST.replace("[0, 2]", "[0, 2.5]"), "'Trust', `scale.1`: input should be a valid int"),
        (TRUST.replace("{0: Never., 1: A little., 2: Always.}", "{}"), "'Trust', `anchors`: "),
        (TRUST.replace("  definition: Would you trust it?\n", ""), "`definition`: is missing"),
        (TRUST.replace("group:", "grp:"), "'Trust', `grp`: unknown key .known: name, "),
        (TRUST.replace("name: Trust", "name: 'Trust & Co'"), "expected letters, digits and spaces"),
        (TRUST + TRUST, "two criteria are called 'Trust'"),
        (TRUST + TRUST.replace("name: Trust", "name: trust"), "two criteria are called 'trust'"),
        (TRUST + "  inputs: [lists]\n", "'Trust', `inputs.0`: "),
        ("- 3", "criterion 1: expected a mapping with keys such as name, "),
    ],
)
def test_whatever_is_wrong_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=said) as caught:
        _ = RubricEvaluator(file=str(path)).metrics
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_criteria(tmp_path / "none.yaml")
