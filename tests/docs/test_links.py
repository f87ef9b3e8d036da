"""Each link of the pages, and each page that source names, leads somewhere; pages are short."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, name_of

NAMING = ("recjury", "tests", "examples", "benchmarks", "pyproject.toml", "AGENTS.md", "Makefile")
PACKS = re.compile(r"/prompts/[^/]+/manifest\.yaml$")
"""A comment there is part of a pack's identity: it names a page as it was called at first."""


def anchors(page: Path) -> set[str]:
    """The anchors of its headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each).strip().lower().replace(" ", "-") for each in headings}


def links(page: Path) -> Iterator[tuple[str, str]]:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
        if not target.startswith(("http:", "https:")):
            yield target, anchor


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_its_links_lead_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        led = (page.parent / target).resolve() if target else page
        assert led.exists(), target
        assert not anchor or anchor in anchors(led), f"{target}#{anchor}"


def test_each_page_that_source_names_is_there() -> None:
    files = [
        each
        for name in NAMING
        for each in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
        if each.suffix in {".py", ".yaml", ".json", ".toml", ".md", ".html", ""}
        and each.is_file()
        and not PACKS.search(each.as_posix())
    ]
    for file in files:
        for named in re.findall(
            r"(?<![/\w])docs/[\w/.-]*?\.md", file.read_text("utf-8", "replace")
        ):
            assert (ROOT / named).exists(), f"{file}: {named}"


def test_every_page_can_be_reached() -> None:
    """From README.md, by links alone."""
    seen, left = set[Path](), [ROOT / "README.md"]
    while left:
        page = left.pop()
        seen.add(page)
        left += {(page.parent / target).resolve() for target, _ in links(page)} & {*PAGES} - seen
    assert not [name_of(page) for page in PAGES if page not in seen]


def test_words() -> None:
    words = {name_of(page): len(page.read_text("utf-8").split()) for page in PAGES}
    assert words["README.md"] <= 1_300
    long = {
        page: number for page, number in words.items() if number > 1_200 and page != "README.md"
    }
    assert not long
    assert sum(words.values()) <= 24_000, sum(words.values())
    assert DOCS.is_dir()
