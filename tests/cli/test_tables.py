"""Tables where the terminal is narrow."""

import pytest
from rich.console import Console

from recjury.cli import output


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


def test_a_table_on_no_terminal_is_as_wide_as_its_content(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.show_table([f"measure {n}" for n in range(30)], [["1.25"] * 30])
    assert "measure 29" in capsys.readouterr().out
