"""Every row of docs/replies.md and of further_replies.md, read as they say."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from recjury.debate.role_answer import parse_answer
from recjury.errors import ParseError
from recjury.llm import finished_text, parse_rating
from recjury.records import Reply
from tests.llm.doubles import reply

PAGE = Path(__file__).parents[2] / "docs" / "replies.md"
FURTHER = Path(__file__).with_name("further_replies.md")
CODE = "k7r2m0"
NOT_READ = "not read"
_ROW = re.compile(
    r"\| `(?P<form>.*?)`(?: \(finish reason `(?P<why>\w+)`\))? \| (?P<read>[^|]+?) \| [^|]+ \|"
)


class Row(NamedTuple):
    """One row: a reply, and what the page says of it."""

    reply: Reply
    read: str


def rows(heading: str) -> list[Row]:
    """The rows of the tables below a heading."""
    lines: list[str] = []
    for page in (PAGE, FURTHER):
        section = page.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
        lines += [line for line in section.splitlines() if line.startswith("| `")]
    found = []
    for line in lines:
        row = _ROW.fullmatch(line.replace(r"\|", "¦"))
        assert row is not None, line
        form = row["form"].replace("¦", "|").replace("↵", "\n").replace("CODE", CODE)
        form = form.replace(f"{CODE}='", "CODE='")  # the attribute's name
        read = row["read"].strip("`").replace("¦", "|")
        found.append(Row(reply(form, row["why"] or "stop", CODE), read))
    return found


def check(row: Row, read: str, repaired: str) -> None:
    assert (read + (", repaired" if repaired else "")) == row.read, repaired


@pytest.mark.parametrize("row", rows("Thoughts"), ids=lambda row: row.reply.text[:60])
def test_thoughts(row: Row) -> None:
    if row.read == NOT_READ:
        with pytest.raises(ParseError):
            finished_text(row.reply)
    else:
        assert finished_text(row.reply) == row.read


@pytest.mark.parametrize("row", rows("Ratings"), ids=lambda row: row.reply.text[:60])
def test_ratings(row: Row) -> None:
    if row.read == NOT_READ:
        with pytest.raises(ParseError):
            parse_rating(row.reply, 0, 4)
    else:
        found = parse_rating(row.reply, 0, 4)
        check(row, str(found.score), found.repaired)


@pytest.mark.parametrize("row", rows("Answers of debaters"), ids=lambda row: row.reply.text[:60])
def test_answers_of_debaters(row: Row) -> None:
    if row.read == NOT_READ:
        with pytest.raises(ParseError):
            parse_answer(row.reply)
    else:
        found = parse_answer(row.reply)
        check(row, f"{found.score:g}", found.repaired)


def test_the_page_has_its_tables() -> None:
    counts = [len(rows(name)) for name in ("Thoughts", "Ratings", "Answers of debaters")]
    assert [count >= 20 for count in counts] == [True] * 3, counts
