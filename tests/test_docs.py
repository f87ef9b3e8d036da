"""The documentation site builds without a warning, and its tutorials can be followed."""

import json
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.cli.front_door import recjury

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))

# Both lists only become shorter, and so does the sum.
LONG_PAGES = {"agreement", "data", "judging", "simulator"}
PAGES_WITH_LONG_CELLS = {"batch", "busy-endpoints"}
WORDS_OF_ALL_PAGES = 62_688


def _without_code(page: str) -> str:
    return re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)


def _words(text: str) -> int:
    """The words of a text, without signs such as the lines of tables."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def _cells(page: str) -> list[str]:
    rows = [line for line in _without_code(page).splitlines() if line.startswith("|")]
    return [cell for row in rows for cell in re.split(r"(?<!\\)\|", row)]


def test_a_page_has_at_most_1800_words() -> None:
    words = {page.stem: _words(_without_code(page.read_text("utf-8"))) for page in PAGES}
    assert {name for name, number in words.items() if number > 1800} == LONG_PAGES


def test_a_table_cell_has_at_most_25_words() -> None:
    longest = {
        page.stem: max(map(_words, _cells(page.read_text("utf-8"))), default=0) for page in PAGES
    }
    assert {name for name, number in longest.items() if number > 25} == PAGES_WITH_LONG_CELLS


def test_the_pages_do_not_grow() -> None:
    assert sum(len(page.read_text("utf-8").split()) for page in PAGES) <= WORDS_OF_ALL_PAGES


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


def _table_rows(page: str) -> list[list[str]]:
    """The rows that a tutorial shows of printed tables, without their last columns."""
    blocks = "".join(re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    rows = [line.split() for line in blocks.splitlines()]
    return [row for row in rows if len(row) > 1 and re.fullmatch(r"[\d.]+", row[-1])]


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
    printed: list[list[str]] = []
    for command in commands:
        ended = recjury(monkeypatch, capsys, *command)
        assert ended.code == 0, (command, ended.err)
        assert ended.out, command
        printed += [line.split() for line in ended.out.splitlines()]
    for row in _table_rows(page):
        assert row in [line[: len(row)] for line in printed]
    for module in {name.removesuffix(".py") for name in saved}:
        sys.modules.pop(module, None)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(notebook: Path) -> None:
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the notebook's own libraries
        import nbformat
        from nbclient import NotebookClient

        book: Any = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
        NotebookClient(
            book, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
        ).execute()
    printed = [output for cell in book.cells for output in cell.get("outputs", ())]
    assert any("core.overall" in output.get("text", "") for output in printed)
    assert list(tmp_path.glob("*.db"))
