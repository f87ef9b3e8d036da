"""Run a command in this process, as the shell would."""

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from recjury.cli import main


class Ended(NamedTuple):
    """The exit code, and what was printed where."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]
"""A call with arguments, as `recjury ARGUMENTS`: the fixture `command`."""


def recjury(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> Ended:
    """`recjury ARGUMENTS`."""
    monkeypatch.setattr(sys, "argv", ["recjury", *map(str, arguments)])
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return Ended(ended.value.code or 0, printed.out, printed.err)  # type: ignore[arg-type]
