"""A real browser, and what its console and its network say."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@contextmanager
def browsing(origin: str, **context: Any) -> Iterator["Page"]:
    """A page in Debian's chromium; without it the test is skipped, and in CI it fails.

    Fails at the end if the console had an error, or if anything but `origin` was asked for.
    """
    if not CHROMIUM.exists():
        missing = f"{CHROMIUM} is missing: apt-get install chromium"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    from playwright.sync_api import sync_playwright

    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(**context).new_page()
        page.set_default_timeout(120_000)  # for machines with much else to do
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console", lambda said: problems.extend([said.text] if said.type == "error" else [])
        )
        page.on(
            "request",
            lambda sent: problems.extend([] if sent.url.startswith(origin) else [sent.url]),
        )
        yield page
        browser.close()
    assert not problems
