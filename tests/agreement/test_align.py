"""Scores held against labels: the released run, simple predictors, and what cannot be compared."""

import asyncio
from pathlib import Path

import pytest

from recjury.agreement.agreement import AspectAgreement, agreements
from recjury.agreement.label_forms import read_labels
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.metric_pairs import metric_differences, pair_metrics
from recjury.agreement.score_files import read_scores
from recjury.agreement.scored_run import run_of_store
from recjury.campaign import CampaignConfig, run_campaign
from recjury.errors import ConfigError, DataError
from recjury.records import ScoreTarget
from recjury.store import Store


@pytest.fixture(scope="module")
def arena(data_folder: Path) -> LabelSet:
    """CRSArena-Eval's labels."""
    return read_labels(f"crsarena-eval:{data_folder / 'crsarena-eval' / 'crs_arena_eval.json'}")


def _overall(arena: LabelSet, data_folder: Path, subset: str) -> AspectAgreement:
    scores = read_scores(data_folder / "crsarena-eval" / "face_run.json").scores
    pairs = {"dialogue_overall": "dialogue_overall"}
    return agreements(scores, arena, pairs, resamples=200)[subset]["dialogue_overall"]


@pytest.mark.parametrize(
    ("subset", "r", "rho", "n"), [("redial", 0.712, 0.668, 267), ("opendialkg", 0.766, 0.679, 199)]
)
def test_faces_published_agreement_comes_out(
    arena: LabelSet, data_folder: Path, subset: str, r: float, rho: float, n: int
) -> None:
    found = _overall(arena, data_folder, subset).metrics["dialogue_overall"].estimates
    assert found is not None
    assert found.n == n
    assert found.pearson.value == pytest.approx(r, abs=0.001)
    assert found.spearman.value == pytest.approx(rho, abs=0.001)
    assert found.pearson.low is not None
    assert found.pearson.high is not None
    assert found.pearson.low < r < found.pearson.high
    within = found.within_pearson.value
    assert within is not None
    assert within < r  # the system alone explains a part


@pytest.mark.parametrize(
    ("subset", "length", "system_mean"),
    [
        ("redial", (0.377, 0.256), (0.512, 0.314)),
        ("opendialkg", (0.612, 0.430), (0.670, 0.486)),
    ],
)
def test_simple_predictors_reach_what_is_known_of_them(
    arena: LabelSet,
    data_folder: Path,
    subset: str,
    length: tuple[float, float],
    system_mean: tuple[float, float],
) -> None:
    simple = _overall(arena, data_folder, subset).predictors
    for name, expected in (("length", length), ("system_mean", system_mean)):
        found = simple[name].estimates
        assert found is not None
        got = (found.pearson.value, found.spearman.value)
        assert got == pytest.approx(expected, abs=0.0011)
    constant = simple["constant"].estimates
    assert constant is not None
    assert constant.pearson.value is None


def _csv(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def _small(folder: Path) -> tuple[Path, LabelSet]:
    """Two metrics and six conversations of two systems; one lacks a score of "good"."""
    labels = ["conversation,aspect,label,rater,system"]
    scores = ["conversation,metric,score"]
    for number, label in enumerate((1, 2, 3, 4, 5, 5)):
        system = "ab"[number % 2]
        labels += [f"c{number},quality,{label},{rater},{system}" for rater in ("x", "y")]
        scores.append(f"c{number},good.quality,{'' if number == 5 else label + number % 2 / 4}")
        scores.append(f"c{number},poor,{(number * 7) % 5}")
    people = read_labels(f"csv:{_csv(folder / 'labels.csv', *labels)}")
    return _csv(folder / "scores.csv", *scores), people


def test_missing_scores_lower_the_coverage_and_never_help(tmp_path: Path) -> None:
    path, people = _small(tmp_path)
    scores = read_scores(path).scores
    pairs = pair_metrics(scores, people.labels, ["poor=quality"])
    assert pairs == {"good.quality": "quality", "poor": "quality"}
    found = agreements(scores, people, pairs, resamples=100)["all"]["quality"]
    good = found.metrics["good.quality"]
    assert good.coverage == pytest.approx(5 / 6)
    assert good.estimates is not None
    assert good.filled is not None
    assert good.estimates.n == 5
    assert good.filled.n == 6
    assert good.filled.pearson.value is not None
    assert good.estimates.pearson.value is not None
    assert good.filled.pearson.value < good.estimates.pearson.value
    assert found.metrics["poor"].filled is None
    assert found.ceiling is not None
    assert found.ceiling.alpha == pytest.approx(1)


def test_two_metrics_are_compared_on_the_places_that_both_scored(tmp_path: Path) -> None:
    path, people = _small(tmp_path)
    (found,) = metric_differences(
        read_scores(path).scores, people, ["good.quality", "poor"], "quality", "all"
    )
    assert found.n == 5
    assert found.gap.low < found.gap.value < found.gap.high
    assert found.gap.value > 0
    assert found.williams is not None


def test_turns_of_one_conversation_are_not_taken_as_independent(tmp_path: Path) -> None:
    labels, scores = ["conversation,aspect,label,turn"], ["conversation,metric,score,turn"]
    for number in range(12):
        for turn in (1, 3, 5):
            labels.append(f"c{number},quality,{number % 5},{turn}")
            scores.append(f"c{number},quality,{number % 5 + turn / 9},{turn}")
            scores.append(f"c{number},other.quality,{number * turn % 5},{turn}")
    people = read_labels(f"csv:{_csv(tmp_path / 'labels.csv', *labels)}")
    given = read_scores(_csv(tmp_path / "scores.csv", *scores)).scores
    (found,) = metric_differences(given, people, ["quality", "other.quality"], "quality", "all")
    assert found.n == 36
    assert (found.williams, found.steiger) == (None, None)
    assert found.gap.low <= found.gap.value <= found.gap.high


def test_ab_redial_has_single_ratings_and_so_a_ceiling(data_folder: Path) -> None:
    people = read_labels(f"ab-redial:{data_folder / 'ab-redial'}")
    assert len(people.labels["dialogue_overall"]) == 200
    assert len(people.labels["relevance"]) == 600
    scores = {"dialogue_overall": dict(people.labels["efficiency"])}
    pairs = {"dialogue_overall": "dialogue_overall"}
    found = agreements(scores, people, pairs, resamples=100)["ab-redial"]["dialogue_overall"]
    assert found.ceiling is not None
    assert found.ceiling.places == 200
    assert found.ceiling.alpha is not None
    assert 0 < found.ceiling.alpha < 1
    of_dialogues = {place.conversation for place in people.labels["dialogue_overall"]}
    families = {people.clusters[each] for each in of_dialogues}
    assert len(families) < 200  # 13 dialogues are there twice
    assert {people.clusters[place.conversation] for place in people.labels["relevance"]} == families


def test_scores_of_other_conversations_are_said(arena: LabelSet) -> None:
    scores = {"relevance": {ScoreTarget("elsewhere", 1): 1.0}}
    with pytest.raises(DataError, match=r"no conversation has both.*'elsewhere'"):
        agreements(scores, arena, {"relevance": "relevance"})


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([], "no metric has the name of an aspect"),
        (["core.overall"], "expected METRIC=ASPECT"),
        (["core.overal=x"], "no metric 'core.overal'; did you mean 'core.overall'"),
        (["core.overall=x"], "no aspect with labels 'x'"),
    ],
)
def test_a_pair_that_cannot_be_is_said(chosen: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pair_metrics(["core.overall"], ["quality"], chosen)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("c0,quality,high,,", "label: expected a number, got 'high'"),
        ("c0,quality,nan,,", "label: expected a number, got 'nan'"),
        ("c0,quality,1,-1,", "turn: expected a whole number from 0, got '-1'"),
        ("c0,quality,1,,x\nc0,quality,2,,x", "a second label of c0 for quality by rater x"),
        ("c0,quality,1,,x,a\nc0,good,2,,x,b", "c0 is of 'a' in an earlier row, now 'b'"),
    ],
)
def test_a_wrong_label_is_said_with_file_and_line(tmp_path: Path, row: str, message: str) -> None:
    path = _csv(tmp_path / "labels.csv", "conversation,aspect,label,turn,rater,system", row)
    with pytest.raises(DataError, match=message) as caught:
        read_labels(f"csv:{path}")
    assert f"labels.csv:{2 + row.count(chr(10))}" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["conversation,metric"], "has no column 'score'"),
        (["conversation,metric,score", "a,m,"], "has no scores"),
        (["conversation,metric,score", "a,m,1", "a,m,1"], "a second score of a for m"),
    ],
)
def test_wrong_scores_are_said(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_scores(_csv(tmp_path / "scores.csv", *rows))


def test_an_unknown_form_of_labels_is_said() -> None:
    with pytest.raises(ConfigError, match="expected one of crsarena-eval:PATH"):
        read_labels("labels.csv")


def test_a_record_that_two_systems_played_has_no_one_label(tmp_path: Path) -> None:
    config = {
        "scenarios": [{"corpus": "sample", "limit": 1}],
        "systems": ["retrieval", {"kind": "retrieval", "name": "again"}],
        "evaluators": ["outcome"],
    }
    with Store.open(str(tmp_path / "store.db")) as store:
        asyncio.run(run_campaign(CampaignConfig.model_validate(config), store))
        with pytest.raises(DataError, match=r"was played with again and retrieval.*--campaign"):
            run_of_store(store, None, by_log=False)
