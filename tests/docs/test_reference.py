"""The reference is what the code says, and its queries run."""

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import recjury as package
from docs.generator import HELP, helps, pages
from tests.cli.conftest import Recjury, campaign, endpoint, recjury
from tests.docs.pages import DOCS, blocks
from tests.scripted_endpoint import ScriptedEndpoint

__all__ = ["endpoint", "recjury"]


def test_it_is_what_the_code_says() -> None:
    for name, text in pages().items():
        there = (DOCS / "reference" / name).read_text("utf-8")
        assert there == text, f"docs/reference/{name} is not up to date: run `make docs`"
    assert HELP.read_text("utf-8") == helps(), f"{HELP} is not up to date: run `make docs`"


def test_python_has_all_names() -> None:
    text = pages()["python.md"]
    assert not [name for name in package.__all__ if f"`{name}" not in text]


def test_its_queries_run(tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint) -> None:
    """With the program sqlite3 where there is one."""
    campaign(tmp_path / "films.yaml", endpoint.url)
    assert recjury("run", "films.yaml", "--store", "films.db").code == 0
    with closing(sqlite3.connect("films.db")) as store:
        first = store.execute("SELECT id FROM conversation").fetchone()[0]
        call = store.execute("SELECT id FROM call").fetchone()[0]
    queries = blocks(DOCS / "reference" / "store.md", "sql")
    assert len(queries) == 10
    empty = []
    for query in queries:
        asked = query.replace("a1%", f"{first[:6]}%").replace("k1%", f"{call[:6]}%")
        with closing(sqlite3.connect("films.db")) as store:
            rows = store.execute(asked).fetchall()
        if not rows:
            empty.append(query)
        if program := shutil.which("sqlite3"):
            arguments = [program, "-readonly", "-json", "films.db", asked]
            done = subprocess.run(arguments, capture_output=True, text=True, check=False)
            assert not done.stderr, query
            assert bool(done.stdout.strip()) == bool(rows), query
    assert len(empty) <= 1, empty  # nothing has failed here
