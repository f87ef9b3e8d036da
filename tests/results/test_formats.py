"""Findings for notebooks, notes, spreadsheets, web pages and papers."""

import io
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from recjury.cli.show import show
from recjury.results import Findings, Format, comparison, render, summary
from recjury.store import Store
from tests.results.filled import fill

HOSTILE = "<b>|*a*_b_\\{50 %}$1_000 & #2 ~^ [x](y)"
SPOKEN = Findings(
    title="films & <books>",
    answer=f"First {HOSTILE}.\nSecond.",
    tables={
        f"Means {HOSTILE}": pd.DataFrame({"name": ["a_b", HOSTILE], "mean": [1.5, float("nan")]}),
        "Gaps": pd.DataFrame({"gap": ["[1,\N{NO-BREAK SPACE}2]", "a\nb"], "n": [1, 2]}),
    },
    text="line one\n  line <two>",
    notes=("few scenarios\r\\end{document}",),
    problems=("a failed",),
)


class _Cells(HTMLParser):
    """The texts of a page by the tag around them."""

    def __init__(self, page: str):
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self._tags = ["page"]
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("br", "meta"):
            self._tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._tags.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.setdefault(self._tags[-1], []).append(data)


def test_a_notebook_shows_all_as_text() -> None:
    texts = _Cells(SPOKEN._repr_html_()).texts
    assert texts["p"] == [f"First {HOSTILE}.", "Second."]
    assert texts["td"][:4] == ["a_b", "1.50", HOSTILE, "-"]
    assert texts["pre"] == [SPOKEN.text]
    assert texts["li"] == [SPOKEN.notes[0], "a failed"]
    assert set(texts) == {"p", "td", "th", "caption", "pre", "li"}


def test_html_is_a_page() -> None:
    page = render(SPOKEN, "html")
    assert page.startswith("<!doctype html>")
    assert _Cells(page).texts["title"] == ["films & <books>"]


def test_markdown_renders_as_the_same_text() -> None:
    page = MarkdownIt("commonmark").enable("table").render(render(SPOKEN, "markdown"))
    texts = _Cells(page).texts
    assert texts["p"] == [f"First {HOSTILE}.", "Second."]
    assert texts["td"][:4] == ["a_b", "1.50", HOSTILE, "-"]
    assert "[1, 2]" in texts["td"]
    assert texts["code"] == [f"{SPOKEN.text}\n"]
    assert "few scenarios" in page


def test_latex_escapes_all_that_it_would_take_for_its_own() -> None:
    text = render(SPOKEN, "latex")
    assert text.startswith("% First")
    assert r"\end{document}" in text
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert r"\end{document}" not in lines
    rows = [line for line in lines if line.endswith(r" \\")]
    assert rows[1] == r"a\_b & 1.50 \\"
    assert rows[4] == r"{}[1,~2] & 1 \\"
    plain = re.sub(r"\\[&%$#_{}]|\\text\w+\{\}", "", rows[2].removesuffix(r" \\"))
    assert not set("%$#_^~<>\\{}") & set(plain)
    assert r"\label{tab:gaps}" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2


def test_the_terminal_writes_controls_and_overrides_out(capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[31m\u202elive"
    show(Findings("t", name, {name: pd.DataFrame({name: [name]})}, notes=(name,)))
    out = capsys.readouterr().out
    assert not {"\x1b", "\u202e"} & {*out}
    assert out.count("\\x1b[31m\\u202elive") == 5


def test_csv_has_the_unrounded_numbers(store: Store) -> None:
    fill(store, {"a": {"novelty": [1, 2, 2]}, "b": {"novelty": [3, 3, 4]}})
    means = pd.read_csv(io.StringIO(render(summary(store), "csv")))
    assert list(means["system"]) == ["a", "b"]
    assert means["mean"].tolist() == pytest.approx([5 / 3, 10 / 3])
    assert means["scale"].tolist() == [4, 4]
    (gap,) = pd.read_csv(io.StringIO(render(comparison(store), "csv"))).to_dict("records")
    assert gap["difference"] == pytest.approx(-5 / 3)


def test_csv_without_numbers_has_the_tables() -> None:
    first, second = render(SPOKEN, "csv").split("\n\n")
    assert first.splitlines()[1] == "name,mean"
    assert second.startswith('Gaps\ngap,n\n"[1, 2]",1')


@pytest.mark.parametrize("form", ["markdown", "csv", "html", "latex"])
def test_findings_without_tables(form: Format) -> None:
    assert render(Findings(title="t", answer="Done."), form).endswith("\n" if form != "csv" else "")
