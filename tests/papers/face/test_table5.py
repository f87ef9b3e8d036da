"""Table 5 on AB-ReDial's ratings, and what is said without them."""

import json
from pathlib import Path

import pytest

from recjury.papers.face.table5 import RATERS, rating_units
from recjury.papers.published import published
from recjury.records import Aspect
from recjury.stats.agreement import krippendorff_alpha
from tests.cli.front_door import Command

_COEFFICIENTS = ("pearson", "spearman", "alpha")


def test_the_published_agreement_comes_out(command: Command, data_folder: Path) -> None:
    ended = command("analyse", "face.table5", "--data", data_folder, "--json")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["tables"]["table5"]
    theirs = published("face")["table5"]["ab-redial"]
    assert [row["aspect"] for row in rows] == list(Aspect)
    for row in rows:
        found = [row[name] for name in _COEFFICIENTS]
        assert found == pytest.approx(theirs[row["aspect"]], abs=0.015), row["aspect"]
    turns = [[round(row[name], 3) for name in _COEFFICIENTS] for row in rows[:2]]
    assert turns == [theirs["relevance"], theirs["interestingness"]], "to three decimals"


def test_only_the_interval_alpha_of_the_first_ratings_is_the_published_one(
    data_folder: Path,
) -> None:
    from recjury.corpora.ab_redial import read_ab_redial

    people = read_ab_redial(data_folder / "ab-redial")
    units = dict(rating_units(people))[Aspect.EFFICIENCY]
    assert max(map(len, units)) == RATERS
    whole = [dialogue.ratings["efficiency"] for dialogue in people.dialogues]
    assert krippendorff_alpha(units, "interval") == pytest.approx(0.226, abs=0.003)
    assert krippendorff_alpha(whole, "interval") != pytest.approx(0.226, abs=0.015)


def test_without_the_data_it_says_which_are_missing(command: Command, tmp_path: Path) -> None:
    ended = command("analyse", "face.table5", "--data", tmp_path)
    assert ended.code == 2
    assert "annotated_dialogues.csv" in ended.err
    assert "Traceback" not in ended.err
