"""The analyses of scores on a store, on files, and on what they cannot use."""

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
    """The tables by name; rows are by the first column."""
    ended = command("analyse", *arguments, "--json")
    assert ended.code == 0, ended.err
    tables = json.loads(ended.out)["tables"]
    return {name: {next(iter(row.values())): row for row in tables[name]} for name in tables}


def _texts(path: str) -> list[str]:
    drawn = ElementTree.fromstring(Path(path).read_text("utf-8"))
    return ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]


def test_a_campaign_by_sizes(command: Command, store: str) -> None:
    metrics = ("--set", "metrics=core.overall", "--set", "metrics=outcome")
    asked = ("judge.samples", "--store", store, *metrics)
    found = _read(command, *asked, "--set", "draws=50", "--out", "samples.svg")
    assert list(found["sizes"]) == [1, 2, 3, 5, 8, 10]
    assert "outcome.recall@10" in found["sizes"][1]
    assert "core.naturalness" not in found["sizes"][1]
    assert not any("leaks" in name for name in found["sizes"][1]), "a detail"
    assert found["rankings"]["core.overall"]["ranking_by"] == "all scores"
    assert found["rankings"]["core.overall"]["systems"] == 3
    mean = found["sizes"][1]["core.overall"]["value"]
    assert mean == pytest.approx(1), "the systems are far apart"
    assert "conversations of each system" in _texts("samples.svg")
    shown = command("analyse", *asked, "--set", "sizes=[2, 12]", "--set", "draws=20")
    assert "1.00 [1.00, 1.00]" in shown.out


def test_a_campaign_by_metric(command: Command, store: str) -> None:
    systems = ("--set", "systems=[good, poor]")
    asked = ("judge.radar", "--store", store, "--set", "metrics=core", *systems)
    found = _read(command, *asked, "--out", "radar")
    assert set(found) == {"scores"}
    row = found["scores"]["core.overall"]
    assert row["good"]["value"] == pytest.approx(0.855)
    assert row["poor"]["value"] == pytest.approx(0.255)
    assert row["good"]["n"] == 12
    assert set(row) == {"metric", "good", "poor"}
    texts = _texts("radar/radar.svg")
    assert "good" in texts
    assert "naturalness" in texts


def test_a_campaign_by_length(command: Command, store: str) -> None:
    found = _read(
        command, "judge.length", "--store", store, "--set", "resamples=100", "--set",
        "metrics=core.overall", "--out", "length.svg",
    )  # fmt: skip
    own = found["length"]["core.overall"]
    assert own["who"] == "scores"
    assert own["pearson"]["value"] == pytest.approx(0.687, abs=0.001)
    assert own["within_pearson"]["value"] > 0.99
    assert own["between_pearson"] > 0.99
    assert own["n"] == 36
    assert any("core.overall" in text for text in _texts("length.svg"))


def test_what_a_campaign_lacks_is_said(command: Command, store: str) -> None:
    for name, settings, said in (
        ("turns", (), "no metric has scores of turns"),
        ("turns", ("metrics=core.overall",), "core.overall has no scores of turns"),
        ("radar", ("metrics=core.overal",), "the run has no such metric: core.overal"),
        ("radar", ("systems=god",), "did you mean 'good'?"),
        ("samples", ("sizes=[]",), "sizes: tuple should have at least 1 item"),
        ("samples", ("pairs=core.overall=x",), "pairs are for --labels"),
        ("self_preference", (), "no system runs the model of a judge (judges: debate large-model"),
    ):
        given = (part for setting in settings for part in ("--set", setting))
        ended = command("analyse", f"judge.{name}", *given, "--store", store)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), (name, settings)
        assert said in ended.err, ended.err


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
    given = ("--set", f"scores={runs}", "--labels", f"crsarena-eval:{labels}")
    asked = ("judge.turns", *given, "--set", "metrics=understanding")
    turns = _read(command, *asked)["understanding"]
    shares = [turns[number]["barcor_redial"]["value"] for number in (1, 2)]
    assert shares == [0.25, 1.0], "shares of 0 to 2"
    assert _read(command, *asked, "--set", "fewest=7")["understanding"] == {}
    samples = _read(command, "judge.samples", *given, "--set", "draws=20")
    assert samples["rankings"]["understanding"]["ranking_by"] == "people's labels"
    assert samples["sizes"][1]["people, understanding"]["value"] == pytest.approx(1)
    radar = _read(command, "judge.radar", *given)
    assert radar["people"]["understanding"]["unicrs_redial"]["value"] == 1
    assert radar["scores"]["understanding"]["unicrs_redial"]["value"] == pytest.approx(2 / 3)
    bare = command("analyse", "judge.turns", *given[:2], "--set", "metrics=understanding")
    assert bare.code == 2
    assert "needs the conversation's text" in bare.err
    bare = command("analyse", "judge.length", *given[:2])
    assert bare.code == 2
    assert "no scored conversation has a known text" in bare.err


def test_a_csv_file_names_systems_and_scales(command: Command, tmp_path: Path) -> None:
    def csv(*rows: str, columns: str = "conversation,metric,score,system,low,high") -> Path:
        path = tmp_path / "scores.csv"
        path.write_text("\n".join((columns, *rows)), "utf-8")
        return path

    rows = [f"c{s}{n},m,{s + n % 2},s{s},1,5" for s in (1, 2, 3) for n in range(8)]
    radar = _read(command, "judge.radar", "--set", f"scores={csv(*rows)}")["scores"]
    assert radar["m"]["s2"]["value"] == pytest.approx(0.375)
    found = _read(command, "judge.samples", "--set", f"scores={csv(*rows)}", "--set", "draws=20")
    assert found["rankings"]["m"]["systems"] == 3
    for bad, said in (
        (["c1,m,1,,,"], "the system of the conversation 'c1' is not known"),
        (["c1,m,1,a,1,5", "c1,n,1,b,1,5"], "is of 'a' in an earlier row, now 'b'"),
        (["c1,m,7,a,1,5"], "score: 7 is outside 1 to 5"),
        (["c1,m,1,a,1,1"], "high: must be above low"),
        (["c1,m,1,a,1,5", "c2,m,1,a,1,4"], "has another scale in an earlier row"),
        (["c1,m,1,a,,"], "no metric has a scale with an upper bound"),
    ):
        ended = command("analyse", "judge.radar", "--set", f"scores={csv(*bad)}")
        assert ended.code == 2, bad
        assert said in ended.err
