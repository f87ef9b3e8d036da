"""Tables where the terminal is narrow."""

from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from recjury.cli import output
from recjury.cli.result_tables import say_reasons, show_systems
from recjury.results import summarise
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, fill


def test_a_table_too_wide_for_its_terminal_is_turned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Console, "is_terminal", property(lambda _: True))
    monkeypatch.setenv("COLUMNS", "40")
    headings = ["system", *(f"measure {n}" for n in range(10))]
    output.show_table(headings, [["kbrd", *(f"{n}.25" for n in range(10))], ["x", *["1"] * 10]])
    lines = capsys.readouterr().out.splitlines()
    assert any("system" in line and "kbrd" in line for line in lines)
    assert all(
        any(f"measure {n}" in line and f"{n}.25" in line for line in lines) for n in range(10)
    )


def test_a_table_too_wide_even_turned_is_dealt_out_to_several(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Console, "is_terminal", property(lambda _: True))
    monkeypatch.setenv("COLUMNS", "40")
    headings = ["turns", "recall at 1", "recall at 10", "recall at 50"]
    rows = [[f"group {n}", *(f"{n}.{k} [0.1, 0.9]" for k in range(3))] for n in range(4)]
    output.show_table(headings, rows, title="Recall")
    lines = capsys.readouterr().out.splitlines()
    assert max(len(Text.from_ansi(line)) for line in lines) <= 40
    for n, row in enumerate(rows):
        own = [line for line in lines if f"group {n}" in line]
        assert len(own) > 1
        assert all(any(cell in line for line in own) for cell in row)
    assert sum("Recall" in line for line in lines) == 1


def test_a_table_on_no_terminal_is_as_wide_as_its_content(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.show_table([f"measure {n}" for n in range(30)], [["1.25"] * 30])
    assert "measure 29" in capsys.readouterr().out


def test_recall_is_shown_with_its_coverage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = [Played("kbrd", str(n), hit_at=1, target_seen=n == 0) for n in range(3)]
    failed = Played("kbrd", "9", failure="kbrd: no answer")
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        fill(store, [*played, failed, Played("whole", "1", hit_at=2)])
        show_systems(summarise(store, CAMPAIGN))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    outcome = lines[: lines.index(next(line for line in lines if line.strip() == "core"))]
    _, _, _, _, kbrd, whole = outcome
    assert kbrd.count("1.000 (75%)") == 3
    assert "1.000 (n=2)" in kbrd
    assert whole.split() == ["whole", "0.000", "1.000", "1.000", "1.000", "1.00", "1"]
    assert kbrd.endswith(" 3 of 4 ")


def test_reasons_that_are_not_shown_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        reasons = [*"abcdefghij", "HTTP 500", "HTTP 503"]
        fill(store, [Played("kbrd", str(n), failure=why) for n, why in enumerate(reasons)])
        say_reasons(summarise(store, CAMPAIGN).failures)
    *shown, last = capsys.readouterr().err.splitlines()
    assert len(shown) == 8
    assert shown[0] == "  2 x converse: HTTP …"
    assert last == "  3 x other reasons: --json and recjury report have all"
