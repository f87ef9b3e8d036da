"""The documentation site builds without a warning, and its tutorials can be followed."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.front_door import recjury

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs the extra docs")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-b", "html",
         "-d", str(tmp_path / "doctrees"), str(DOCS), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert "--dry-run" in (tmp_path / "site/reference/command-line.html").read_text("utf-8")
    assert "max_rounds" in (tmp_path / "site/reference/campaign-file.html").read_text("utf-8")


def _saved(page: str) -> dict[str, str]:
    """The files that a tutorial tells its reader to save: "as `NAME`", then a block."""
    named = r"as\s+`([\w.]+)`[^`]*?:\n\n```\w+\n(.*?)^```"
    return dict(re.findall(named, page, re.MULTILINE | re.DOTALL))


def _commands(page: str) -> list[list[str]]:
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    return [shlex.split(line)[1:] for line in blocks.splitlines() if line.startswith("recjury ")]


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_can_be_followed(
    tutorial: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    page = tutorial.read_text("utf-8")
    saved, commands = _saved(page), _commands(page)
    assert saved
    assert len(commands) >= 3
    for name, text in saved.items():
        Path(name).write_text(text, "utf-8")
    for command in commands:
        ended = recjury(monkeypatch, capsys, *command)
        assert ended.code == 0, (command, ended.err)
        assert ended.out, command
    for module in {name.removesuffix(".py") for name in saved}:
        sys.modules.pop(module, None)
