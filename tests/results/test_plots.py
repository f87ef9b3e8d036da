"""Summaries and comparisons as pictures."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from recjury.errors import UserError
from recjury.results import Findings, comparison, plot, summary
from recjury.store import Store
from tests.results.filled import fill

NAMES = ("a $x_1$ <b>", "\N{SNOWMAN}\x07", "_c")


@pytest.fixture
def films(store: Store) -> Store:
    scores = {
        name: {"overall": [60, 70, 80 + number], "novelty": [number, 2, 3], "rounds": [1, 2, 3]}
        for number, name in enumerate(NAMES)
    }
    fill(store, scores)
    return store


def texts(path: Path) -> list[str]:
    """The texts of an SVG."""
    return [each.text or "" for each in ElementTree.parse(path).iter() if each.tag.endswith("text")]


def test_a_summary_shows_each_system_and_metric(films: Store, tmp_path: Path) -> None:
    fill(films, {"brief": {"rounds": [2, 3, 4]}})  # of the other panels it has nothing
    plot(summary(films), tmp_path / "means.svg")
    said = texts(tmp_path / "means.svg")
    assert {"core.overall", "core.novelty", "core.rounds, lower is better"} <= set(said)
    assert [text.strip() for text in said if NAMES[0] in text or "_c" in text] == [NAMES[0], "_c"]


def test_of_two_sides_all_metrics_and_of_more_the_leading_one(films: Store, tmp_path: Path) -> None:
    plot(comparison(films, ("_c", NAMES[0])), tmp_path / "two.svg")
    said = texts(tmp_path / "two.svg")
    assert f"_c minus {NAMES[0]}" in said
    assert "core.novelty" in said
    plot(comparison(films), tmp_path / "three.svg")
    said = texts(tmp_path / "three.svg")
    assert sum(" minus " in text for text in said) == 3
    assert "core.novelty" not in said


def test_equal_findings_are_equal_pictures(films: Store, tmp_path: Path) -> None:
    """But for the names of clips, which matplotlib takes from addresses in memory."""

    def drawn(name: str) -> str:
        plot(summary(films), tmp_path / name)
        return re.sub(r"p[0-9a-f]{10}", "clip", (tmp_path / name).read_text("utf-8"))

    assert drawn("a.svg") == drawn("b.svg")


def test_png(films: Store, tmp_path: Path) -> None:
    plot(summary(films), tmp_path / "means.PNG")
    assert (tmp_path / "means.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "said"), [("m.jpg", "expected a name that ends with"), ("no/m.png", "No such file")]
)
def test_what_cannot_be_drawn(films: Store, tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        plot(summary(films), tmp_path / name)


def test_without_numbers_there_is_no_plot(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no number to draw"):
        plot(Findings(title="t", answer="Done."), tmp_path / "m.png")
