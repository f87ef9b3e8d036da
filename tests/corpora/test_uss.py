"""USS: sessions, ratings, and what is wrong with a file, in one line."""

from pathlib import Path

import pytest

from recjury.corpora.uss import SUBSETS, read_uss
from recjury.errors import DataError
from recjury.records import Speaker

GOOD = "USER\thi\tGREET\t3,4\nSYSTEM\thello\t\t\nUSER\tOVERALL\t\t4,5\n\n"


def test_a_session_has_turns_ratings_and_those_of_the_whole(tmp_path: Path) -> None:
    (tmp_path / "SGD.txt").write_text(GOOD * 2, "utf-8")
    first, second = read_uss(tmp_path, "SGD")
    assert (first.id, second.id) == ("SGD-0", "SGD-1")
    assert [turn.speaker for turn in first.turns] == [Speaker.USER, Speaker.SYSTEM]
    assert first.ratings == ((3, 4), ())
    assert first.overall == (4, 5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no session"),
        (GOOD.replace("3,4", "3,6"), "expected ratings from 1 to 5, got '3,6'"),
        (GOOD.replace("4,5", ""), "a dialogue without ratings"),
        ("USER\thi\tGREET\t3\n", "the last session has no OVERALL"),
        ("USER\tOVERALL\t\t3\n", "a session without turns"),
        ("USER\thi\n", "got 'USER' in 2 cells"),
        ("ROBOT\thi\t\t3\n", "expected USER or SYSTEM"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "SGD.txt").write_text(content, "utf-8")
    with pytest.raises(DataError, match=message) as caught:
        read_uss(tmp_path, "SGD")
    assert "SGD.txt" in str(caught.value)


def test_an_unknown_subset_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no subset 'JDDC'"):
        read_uss(tmp_path, "JDDC")


def test_the_real_files_have_what_their_readme_counts(data_folder: Path) -> None:
    counted = {}
    for subset in SUBSETS:
        sessions = read_uss(data_folder / "uss", subset)
        rated = sum(bool(ratings) for each in sessions for ratings in each.ratings)
        counted[subset] = (len(sessions), sum(len(each.turns) for each in sessions), rated)
    assert counted == {
        "SGD": (1000, 25_666, 12_833),
        "MWOZ": (1000, 22_108, 11_553),
        "ReDial": (1000, 21_458, 10_806),
        "CCPE": (500, 11_936, 6_360),
    }
