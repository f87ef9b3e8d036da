"""Labels of CRSArena-Eval: read as they are, and every fault with its conversation and turn."""

from pathlib import Path
from typing import Any

import pytest

from recjury.corpora.crsarena import read_crsarena, subset_of, system_of
from recjury.corpora.data_problems import Fault
from recjury.errors import DataError
from recjury.records import Aspect, Level, ScoreTarget, Speaker
from tests.corpora.arena import count_faults, dialogue, write


def test_the_real_file_is_what_its_description_says(data_folder: Path) -> None:
    arena = read_crsarena(data_folder / "crsarena-eval" / "crs_arena_eval.json")
    system_turns = [t for log in arena.logs.values() for t in log.system_turns]
    assert (len(arena.logs), len(system_turns)) == (467, 2235)
    assert len(arena.labels["relevance"]) == 2230
    assert len(arena.labels["interestingness"]) == 2235
    assert all(len(arena.labels[a]) == 467 for a in Aspect if a.level is Level.DIALOGUE)
    assert len(arena.labels["explanation"]) == 467
    assert count_faults(arena.problems) == {"missing label": 5}
    assert {p.place.turn for p in arena.problems if p.place} == {1, 3, 11, 17}
    for aspect in Aspect:
        assert set(arena.labels[aspect].values()) == set(range(aspect.high + 1))


def test_a_dialogue_becomes_a_log_and_labels(tmp_path: Path) -> None:
    arena = read_crsarena(write(tmp_path / "labels.json", [dialogue()]))
    log = arena.logs["kbrd_redial_1"]
    assert (log.system, log.scenario.corpus) == ("kbrd_redial", "crsarena-eval/redial")
    assert [turn.speaker for turn in log.interaction] == [Speaker.USER, Speaker.SYSTEM] * 2
    assert arena.labels["relevance"] == {
        ScoreTarget("kbrd_redial_1", 1): 2,
        ScoreTarget("kbrd_redial_1", 3): 0,
    }
    assert arena.labels["dialogue_overall"] == {ScoreTarget("kbrd_redial_1"): 3}
    assert arena.problems == ()


def _without(labels: dict[str, Any], name: str) -> None:
    del labels[name]


@pytest.mark.parametrize(
    ("labels", "fault", "said"),
    [
        ({"understanding": 3}, Fault.OUT_OF_RANGE, "the label 3 is outside 0 to 2"),
        ({"efficiency": -1}, Fault.OUT_OF_RANGE, "the label -1 is outside 0 to 1"),
        ({"efficiency": 0.5}, Fault.NOT_AN_INTEGER, "the label 0.5 is not an integer"),
        ({"efficiency": True}, Fault.NOT_AN_INTEGER, "the label True is not an integer"),
        ({"efficiency": "1"}, Fault.NOT_AN_INTEGER, "the label '1' is not an integer"),
        ({"efficiency": None}, Fault.NOT_AN_INTEGER, "the label None is not an integer"),
        ({"fluency": 1}, Fault.UNKNOWN_ASPECT, "fluency: is not an aspect of this level"),
        ({"relevance": 1}, Fault.UNKNOWN_ASPECT, "relevance: is not an aspect of this level"),
    ],
)
def test_a_label_that_is_none_is_reported_with_its_place(
    tmp_path: Path, labels: dict[str, Any], fault: Fault, said: str
) -> None:
    arena = read_crsarena(write(tmp_path / "labels.json", [dialogue(**labels)]))
    (problem,) = arena.problems
    assert problem.fault is fault
    assert problem.place == ScoreTarget("kbrd_redial_1")
    assert said in str(problem)
    assert str(problem).startswith("kbrd_redial_1, ")
    assert ScoreTarget("kbrd_redial_1") not in arena.labels.get(problem.aspect, {})


def test_a_missing_label_is_reported_with_conversation_and_turn(tmp_path: Path) -> None:
    content = dialogue()
    _without(content["dialogue"][3]["turn_level_aggregated"], "relevance")
    _without(content["dial_level_aggregated"], "understanding")
    arena = read_crsarena(write(tmp_path / "labels.json", [content]))
    assert sorted(map(str, arena.problems)) == [
        "kbrd_redial_1, turn 3, relevance: has no label",
        "kbrd_redial_1, understanding: has no label",
    ]
    assert list(arena.labels["relevance"]) == [ScoreTarget("kbrd_redial_1", 1)]


def _twice(content: list[Any]) -> None:
    content.append(content[0])


def _same_speaker(content: list[Any]) -> None:
    content[0]["dialogue"][2]["role"] = "ASST"


def _misnumbered(content: list[Any]) -> None:
    content[0]["dialogue"][2]["turn_ind"] = 7


def _other_id(content: list[Any]) -> None:
    content[0]["conv_id"] = "kbrd-1"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_twice, "a second conversation 'kbrd_redial_1'"),
        (_same_speaker, "kbrd_redial_1: turns 1 and 2 are both by ASST"),
        (_misnumbered, "kbrd_redial_1: expected turns numbered 0, 1, 2"),
        (_other_id, "expected an id like kbrd_redial_USER"),
        (list.clear, "holds no conversation"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, spoil: Any, said: str) -> None:
    content = [dialogue()]
    spoil(content)
    with pytest.raises(DataError, match=said):
        read_crsarena(write(tmp_path / "labels.json", content))


def test_ids_name_system_and_subset() -> None:
    assert subset_of("crbcrs_redial_8-4_x") == "redial"
    assert system_of("crbcrs_redial_8-4_x") == "crbcrs_redial"
    with pytest.raises(DataError):
        subset_of("crb-crs_8")
