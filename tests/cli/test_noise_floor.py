"""The noise floor under every table whose metrics were repeated or judged again."""

import json
from pathlib import Path

import pytest

from recjury.store import Store
from tests.cli.front_door import Command
from tests.report.filling import Played, evaluator, fill


def _store(folder: Path, *, repeats: int, judgings: int = 1) -> str:
    """Two systems on four scenarios; the verdict of a repeat is 2 above that of the one before."""
    url = f"sqlite:///{folder / 'runs.db'}"
    with Store.open(url) as store:
        fill(
            store,
            [
                Played(
                    system,
                    str(record),
                    scores=[(level + record + 2 * repeat,) * 4],
                    hit_at=3,
                    repeat=repeat,
                )
                for record in range(4)
                for repeat in range(repeats)
                for system, level in (("a", 40.0), ("b", 60.0))
            ],
            evaluators=(evaluator("core", judgings=judgings), evaluator("outcome")),
        )
    return url


def _row(table: str, name: str) -> list[str]:
    line = next(line for line in table.splitlines() if line.strip().startswith(name))
    return line.split()


def test_repeats_give_every_table_a_noise_floor(command: Command, tmp_path: Path) -> None:
    asked = ("report", "--store", _store(tmp_path, repeats=2))
    ended = command(*asked)
    assert ended.code == 0, ended.err
    # Squared deviations of 2 a scenario: a standard deviation of √2, of eight conversations each.
    assert _row(ended.out, "noise floor")[2] == "±1.4"
    assert "from repeats; a difference below it is noise" in ended.err
    noise = json.loads(command(*asked, "--json").out)["noise"]
    assert noise["core.overall"]["repeats"] == 8
    assert noise["core.overall"]["floor"] == pytest.approx(1.96 * 2**0.5 * (2 / 8) ** 0.5)
    assert noise["outcome.recall@10"]["floor"] == 0
    page = Path("report.html").read_text("utf-8")
    assert page.count("<tfoot>") >= 2
    assert "Noise floor" in page
    assert "±1.4" in page
    assert "a difference below it is noise" in page


def test_judging_again_gives_one_too(command: Command, tmp_path: Path) -> None:
    ended = command("report", "--store", _store(tmp_path, repeats=1, judgings=2))
    assert _row(ended.out, "noise floor")[2] == "±0.0"
    assert "from judgings alone" in ended.err
    # Nothing of `outcome` was repeated, so only the table of `core` has the row.
    assert ended.out.count("noise floor") == 1
    assert "±0.0" in Path("report.html").read_text("utf-8")


def test_without_repeats_no_table_has_one(command: Command, tmp_path: Path) -> None:
    asked = ("report", "--store", _store(tmp_path, repeats=1))
    ended = command(*asked)
    assert "noise floor" not in ended.out + ended.err
    assert json.loads(command(*asked, "--json").out)["noise"] == {}
    page = Path("report.html").read_text("utf-8").lower()
    assert "noise floor" not in page
    assert "<tfoot>" not in page
