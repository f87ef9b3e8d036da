"""Labels of USS and of the sets of replies."""

import json
from pathlib import Path

import pytest

from recjury.agreement.agreement import agreements
from recjury.agreement.label_forms import read_labels
from recjury.agreement.predictors import lengths
from recjury.errors import DataError
from recjury.records import ScoreTarget

SESSION = (
    "USER\tHi, a film please.\tGREET\t3,3\nSYSTEM\tWhich kind do you like?\t\t\n"
    "USER\tCrime.\t\t4,2,3\nSYSTEM\tTry Heat.\t\t\nUSER\tThanks\t\t5,4\nUSER\tBye\t\t1\n"
    "USER\tOVERALL\t\t4,5\n\n"
)


def test_a_rating_of_uss_is_of_the_systems_turn_before_it(tmp_path: Path) -> None:
    (tmp_path / "CCPE.txt").write_text(SESSION, "utf-8")
    people = read_labels(f"uss:{tmp_path}")
    # The first user turn and the second of two in a row react to no system turn.
    assert people.labels["turn_satisfaction"] == {
        ScoreTarget("CCPE-0", 1): 3.0,
        ScoreTarget("CCPE-0", 3): 4.5,
    }
    assert people.labels["satisfaction"] == {ScoreTarget("CCPE-0"): 4.5}
    assert people.ratings["turn_satisfaction"][ScoreTarget("CCPE-0", 1)] == (4.0, 2.0, 3.0)
    assert people.subsets == {"CCPE-0": "CCPE"}
    places = list(people.labels["turn_satisfaction"])
    assert list(lengths(places, people.logs).values()) == [5, 2]


def test_the_whole_of_uss(data_folder: Path) -> None:
    people = read_labels(f"uss:{data_folder / 'uss'}")
    assert len(people.labels["satisfaction"]) == 3_500
    assert set(people.subsets.values()) == {"SGD", "MWOZ", "ReDial", "CCPE"}
    of_system = {place.conversation: place.turn for place in people.labels["turn_satisfaction"]}
    for conversation, turn in list(of_system.items())[:500]:
        assert turn is not None
        assert people.logs[conversation].interaction[turn].speaker == "system"


def test_the_sets_of_replies(data_folder: Path) -> None:
    people = read_labels(f"dialogue-eval:{data_folder / 'dialogue-eval'}")
    assert len(people.labels["reply_quality"]) == 3_135
    assert len(people.labels["dialogue_quality"]) == 125
    assert len(set(people.subsets.values())) == 8
    # The data's README has .314 for words and punctuation.
    subset = "topicalchat-usr"
    found = agreements(
        {"m": dict.fromkeys(people.labels["reply_quality"], 1.0)},
        people,
        {"m": "reply_quality"},
        resamples=2,
    )[subset]["reply_quality"]
    words = found.predictors["length"].estimates
    assert words is not None
    assert words.n == 360
    assert words.pearson.value == pytest.approx(0.314, abs=0.03)
    assert found.ceiling is not None
    # Published for these ratings: .72 (Mehri and Eskenazi 2020a).
    assert found.ceiling.one_against_the_rest == pytest.approx(0.72, abs=0.03)


def test_replies_that_begin_alike_are_drawn_together(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"fed-{number}",
            "history": ["Hi!", "Hi there!", "How are you?"],
            "response": f"Fine {number}",
            "system": "Meena",
            "scores": {"Overall": [3.0, 4.0]},
            "target": 3.5,
            "speakers": ["User", "System", "User", "System"],
        }
        for number in range(2)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "fed-turn.jsonl").write_text(text, "utf-8")
    people = read_labels(f"dialogue-eval:{tmp_path}")
    assert people.labels["reply_quality"] == {
        ScoreTarget("fed-0", 0): 3.5,
        ScoreTarget("fed-1", 0): 3.5,
    }
    assert people.clusters["fed-0"] == people.clusters["fed-1"]
    assert people.systems["fed-0"] == "Meena"
    assert people.ratings["reply_quality"][ScoreTarget("fed-0", 0)] == (3.0, 4.0)
    assert len(people.logs["fed-0"].scenario.history) == 3


@pytest.mark.parametrize("form", ["uss", "dialogue-eval", "annotations"])
def test_a_folder_without_the_data_is_said(tmp_path: Path, form: str) -> None:
    with pytest.raises(DataError, match=str(tmp_path)):
        read_labels(f"{form}:{tmp_path}")
