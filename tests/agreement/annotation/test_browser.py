"""The annotation page in a real browser, by keyboard alone."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agreement.annotation.tasks import HOSTILE, key_of, store_with
from tests.cli.front_door import Command

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, of the extra dev")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt install chromium"),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip

_PATIENCE = 120_000  # milliseconds: a machine may be busy


@contextmanager
def _opened(profile: Path, html: Path) -> Iterator[Any]:
    """The page, in a browser that keeps what pages keep, and reaches no network."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=FLAGS, accept_downloads=True, offline=True
        )
        try:
            opened = browser.new_page()
            opened.set_default_timeout(_PATIENCE)
            opened.goto(html.as_uri())
            yield opened
        finally:
            browser.close()


def _progress(page: Any) -> str:
    text: str = page.locator("#progress").inner_text()
    return text


def _saved(page: Any, path: Path) -> Path:
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as(path)
    return path


def test_twenty_answers_by_keyboard_closed_in_the_middle(command: Command, tmp_path: Path) -> None:
    store = store_with(tmp_path, records=5, said=HOSTILE)
    ended = command("annotate", "export", "task", "--store", store, "--raters", "1",
                    "--raters-each", "1", "--question", "coherence", "--question",
                    "overall")  # fmt: skip
    assert ended.code == 0, ended.err
    key, html = key_of(tmp_path / "task"), tmp_path / "task" / "task.html"
    asked = key.task.asked("r1")
    assert len(asked) == 20

    def answer(page: Any, number: int) -> None:
        name, question = asked[number]
        record = int(key.logs[name].scenario.record)
        if question == "coherence":
            page.keyboard.press(str(record))
        else:
            page.keyboard.type(str(10 * record + 1))
            page.keyboard.press("Enter")

    with _opened(tmp_path / "profile", html) as page:
        page.keyboard.press("Enter")  # the first rater
        for number in range(9):
            answer(page, number)
        assert _progress(page) == "9 of 20 answered"
    with _opened(tmp_path / "profile", html) as page:
        page.keyboard.press("Enter")
        assert _progress(page) == "9 of 20 answered"
        page.keyboard.press("ArrowLeft")  # one answer is given again
        answer(page, 8)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        for number in range(9, 20):
            answer(page, number)
        assert _progress(page) == "20 of 20 answered"
        assert page.title() == "Rating conversations", "text of a conversation was run as a script"
        given = _saved(page, tmp_path / "answers.json")
    read = command("annotate", "import", "task/key.json", given, "--json")
    assert read.code == 0, read.err
    assert json.loads(read.out)["raters"]["r1"]["answered"] == 20
    aligned = command("align", "--labels", "annotations:labels.json", "--store", store, "--json",
                      "--resamples", "100")  # fmt: skip
    assert aligned.code == 0, aligned.err
    own = json.loads(aligned.out)["sample/test"]
    assert own["coherence"]["pearson"]["value"] == pytest.approx(1)
    assert own["overall"]["n"] == 10
    given.write_text(given.read_text("utf-8").replace('"coherence",4', '"coherence",3'), "utf-8")
    refused = command("annotate", "import", "task/key.json", given)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "was altered after it was saved" in refused.err


def test_a_wrong_score_is_not_taken_and_an_altered_page_is_not_used(
    command: Command, tmp_path: Path
) -> None:
    store = store_with(tmp_path, records=2)
    command("annotate", "export", "task", "--store", store, "--raters", "1", "--raters-each", "1",
            "--question", "coherence", "--question", "overall")  # fmt: skip
    html = tmp_path / "task" / "task.html"
    with _opened(tmp_path / "profile", html) as page:
        page.keyboard.press("Enter")
        page.keyboard.press("7")  # of 0 to 4
        assert "from 0 to 4" in page.locator(".error").inner_text()
        page.keyboard.press("4")
        page.keyboard.type("101")
        page.keyboard.press("Enter")
        assert "from 0 to 100" in page.locator(".error").inner_text()
        assert _progress(page) == "1 of 8 answered"
    html.write_text(html.read_text("utf-8").replace("Try Heat.", "Try Alien."), "utf-8")
    with _opened(tmp_path / "other", html) as page:
        assert "This page was altered" in page.locator(".error").inner_text()
        assert page.locator("button").count() == 0
