"""`recjury analyse` on a store, on files, and on what it cannot use."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from recjury.store import Store
from tests.cli.front_door import Command
from tests.corpora.arena import dialogue, scores, write, write_lines
from tests.report.filling import Played, fill

QUALITY = {"good": 80.0, "fair": 50.0, "poor": 20.0}


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Three systems; better ones say more, by twelve scenarios."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with Store.open(url) as kept:
        fill(
            kept,
            [
                Played(
                    system,
                    str(record),
                    factors=[float(record % 5)] * 12,
                    scores=[(level + record,) * 4],
                    hit_at=1 if level > 40 else None,
                    said="word " * int(level / 10 + record),
                )
                for record in range(12)
                for system, level in QUALITY.items()
            ],
        )
    return url


def _read(command: Command, *arguments: object) -> dict[str, Any]:
    ended = command("analyse", *arguments, "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def _texts(path: str) -> list[str]:
    drawn = ElementTree.fromstring(Path(path).read_text("utf-8"))
    return ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]


def test_a_campaign_by_sizes(command: Command, store: str) -> None:
    asked = ("samples", "--store", store, "--metric", "core.overall", "--metric", "outcome")
    found = _read(command, *asked, "--draws", "50", "--plot", "samples.svg")
    assert "core.overall" in found
    assert "outcome.recall@10" in found
    assert "core.naturalness" not in found
    assert not any("leaks" in name for name in found), "a detail"
    own = found["core.overall"]
    assert own["ranking_by"] == "all scores"
    assert [each["size"] for each in own["sizes"]] == [1, 2, 3, 5, 8, 10]
    assert own["sizes"][0]["evaluator"]["mean"] == pytest.approx(1), "the systems are far apart"
    assert "conversations of each system" in _texts("samples.svg")
    shown = command("analyse", *asked, "--sizes", "2,12", "--draws", "20")
    assert "1.00 [1.00, 1.00]" in shown.out
    assert "the ranking of 3 systems" in shown.err


def test_a_campaign_by_metric(command: Command, store: str) -> None:
    asked = ("radar", "--store", store, "--metric", "core", "--system", "good", "--system", "poor")
    found = _read(command, *asked, "--plot", "radar.svg")
    assert set(found) == {"scores"}
    good, poor = found["scores"]["good"], found["scores"]["poor"]
    assert good["core.overall"]["value"] == pytest.approx(0.855)
    assert poor["core.overall"]["value"] == pytest.approx(0.255)
    assert good["core.overall"]["n"] == 12
    texts = _texts("radar.svg")
    assert "good" in texts
    assert "fair" not in texts
    assert "naturalness" in texts


def test_a_campaign_by_length(command: Command, store: str) -> None:
    found = _read(command, "length-bias", "--store", store, "--resamples", "100", "--metric",
                  "core.overall", "--plot", "length.svg")  # fmt: skip
    own = found["core.overall"]
    assert own["people"] is None
    assert own["evaluator"]["pearson"]["value"] == pytest.approx(0.687, abs=0.001)
    assert own["evaluator"]["within_system"]["pearson"]["value"] > 0.99
    assert own["evaluator"]["between_systems"]["pearson"] > 0.99
    assert own["evaluator"]["n"] == 36
    assert any("core.overall" in text for text in _texts("length.svg"))


def test_what_a_campaign_lacks_is_said(command: Command, store: str) -> None:
    for arguments, said in (
        (("turns",), "no metric has scores of turns"),
        (("turns", "--metric", "core.overall"), "core.overall has no scores of turns"),
        (("radar", "--metric", "core.overal"), "the run has no such metric"),
        (("radar", "--metric", "core.overall", "--plot", "x.svg"), "a radar needs 3 metrics"),
        (("radar", "--system", "god"), "did you mean good?"),
        (("samples", "--sizes", "0"), "expected whole numbers above 0"),
        (("samples", "--pair", "core.overall=x"), "--pair is for --labels"),
        (("self-bias",), "no system runs the model of a judge (judges: debate large-model-1"),
    ):
        ended = command("analyse", *arguments, "--store", store)
        assert (ended.code, ended.out) == (2, ""), arguments
        assert said in ended.err, ended.err
    assert not Path("x.svg").exists()


@pytest.fixture
def released(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of scores by particle, and the labels of the same conversations."""
    systems = ("kbrd_redial", "barcor_redial", "unicrs_redial")
    names = [f"{system}_{n}" for system in systems for n in range(6)]
    worth = {name: place // 6 for place, name in enumerate(names)}
    labels = write(
        tmp_path / "labels.json",
        [dialogue(name, understanding=worth[name]) for name in names],
    )
    turns = {name: {1: [{"itr1": worth[name]}, {"itr1": 0}], 3: [{"itr1": 2}]} for name in names}
    write_lines(
        tmp_path / "runs" / "understanding.jsonl", [scores(n, own) for n, own in turns.items()]
    )
    return tmp_path / "runs", labels


def test_scores_of_files_beside_labels(command: Command, released: tuple[Path, Path]) -> None:
    runs, labels = released
    given = (runs, "--labels", f"crsarena-eval:{labels}")
    turns = _read(command, "turns", *given, "--metric", "understanding")["understanding"]
    assert [mean["value"] for mean in turns["barcor_redial"]] == [0.25, 1.0], "shares of 0 to 2"
    few = _read(command, "turns", *given, "--metric", "understanding", "--fewest", "7")
    assert few["understanding"]["barcor_redial"] == []
    sizes = _read(command, "samples", *given, "--draws", "20")["understanding"]
    assert sizes["ranking_by"] == "people"
    assert sizes["sizes"][0]["people"]["mean"] == pytest.approx(1)
    radar = _read(command, "radar", *given)
    assert radar["people"]["unicrs_redial"]["understanding"]["value"] == 1
    assert radar["scores"]["unicrs_redial"]["understanding"]["value"] == pytest.approx(2 / 3)
    bare = command("analyse", "turns", runs, "--metric", "understanding")
    assert bare.code == 2
    assert "needs the conversation's text" in bare.err
    bare = command("analyse", "length-bias", runs)
    assert bare.code == 2
    assert "no scored conversation has a known text" in bare.err


def test_a_csv_file_names_systems_and_scales(command: Command, tmp_path: Path) -> None:
    def csv(*rows: str, columns: str = "conversation,metric,score,system,low,high") -> Path:
        path = tmp_path / "scores.csv"
        path.write_text("\n".join((columns, *rows)), "utf-8")
        return path

    rows = [f"c{s}{n},m,{s + n % 2},s{s},1,5" for s in (1, 2, 3) for n in range(8)]
    radar = _read(command, "radar", csv(*rows))["scores"]
    assert radar["s2"]["m"]["value"] == pytest.approx(0.375)
    found = _read(command, "samples", csv(*rows), "--draws", "20")["m"]
    assert found["systems"] == 3
    for bad, said in (
        (["c1,m,1,,,"], "the system of the conversation 'c1' is not known"),
        (["c1,m,1,a,1,5", "c1,n,1,b,1,5"], "is of 'a' in an earlier row, now 'b'"),
        (["c1,m,7,a,1,5"], "score: 7 is outside 1 to 5"),
        (["c1,m,1,a,1,1"], "high: must be above low"),
        (["c1,m,1,a,1,5", "c2,m,1,a,1,4"], "has another scale in an earlier row"),
        (["c1,m,1,a,,"], "no metric has a scale with an upper bound"),
    ):
        ended = command("analyse", "radar", csv(*bad))
        assert ended.code == 2, bad
        assert said in ended.err
