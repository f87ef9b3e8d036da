"""USS: dialogues whose user turns and wholes were rated for satisfaction (Sun et al. 2021).

A line is `ROLE<TAB>text<TAB>action<TAB>ratings`, a blank line ends a session. A session's last line
has the role USER and the text OVERALL: the ratings of the dialogue.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.errors import DataError
from recjury.input_files import read_lines
from recjury.records import Speaker, Turn

SUBSETS = ("SGD", "MWOZ", "ReDial", "CCPE")
SCALE = (1, 5)
_SPEAKERS = {"USER": Speaker.USER, "SYSTEM": Speaker.SYSTEM}
_OVERALL = "OVERALL"


class UssSession(NamedTuple):
    """A dialogue; `id` is its subset and its number in the file, from 0 ("ReDial-17").

    `ratings` has each turn's ratings from 1 to 5, none for turns of the system. `overall` are those
    of the dialogue.
    """

    id: str
    turns: tuple[Turn, ...]
    ratings: tuple[tuple[int, ...], ...]
    overall: tuple[int, ...]


class _Line(NamedTuple):
    number: int
    role: str
    text: str
    ratings: tuple[int, ...]


def read_uss(folder: Path, subset: str) -> tuple[UssSession, ...]:
    """The sessions of `folder`/`subset`.txt, in file order.

    Raises DataError, with file and line, if the file is missing or empty or has another form, or
    if a rating is not 1 to 5.
    """
    if subset not in SUBSETS:
        raise DataError(f"USS has no subset {subset!r}: expected one of {', '.join(SUBSETS)}")
    path = folder / f"{subset}.txt"
    sessions = tuple(
        UssSession(f"{subset}-{number}", *_session(lines, path))
        for number, lines in enumerate(_blocks(path))
    )
    if not sessions:
        raise DataError("has no session", path=path)
    return sessions


def _blocks(path: Path) -> Iterator[list[_Line]]:
    """The lines of each session: the line OVERALL ends it."""
    block: list[_Line] = []
    for number, content in read_lines(path):
        block.append(_line(content, path, number))
        if block[-1].text == _OVERALL and block[-1].role == "USER":
            yield block
            block = []
    if block:
        raise DataError("the last session has no OVERALL", path=path, line=block[-1].number)


def _line(content: bytes, path: Path, number: int) -> _Line:
    try:
        cells = content.decode().rstrip("\r\n").split("\t")
    except UnicodeDecodeError:
        raise DataError("is not UTF-8", path=path, line=number) from None
    if len(cells) != 4 or cells[0] not in _SPEAKERS:
        raise DataError(
            f"expected USER or SYSTEM, a text, an action and ratings, got {cells[0][:40]!r} "
            f"in {len(cells)} cells",
            path=path,
            line=number,
        )
    role, text, _, ratings = cells
    return _Line(number, role, text, _ratings(ratings, path, number))


def _ratings(cell: str, path: Path, line: int) -> tuple[int, ...]:
    given = cell.split(",") if cell.strip() else []
    low, high = SCALE
    for rating in given:
        if rating.strip() not in map(str, range(low, high + 1)):
            raise DataError(
                f"expected ratings from {low} to {high}, got {cell[:40]!r}", path=path, line=line
            )
    return tuple(map(int, given))


def _session(
    lines: Sequence[_Line], path: Path
) -> tuple[tuple[Turn, ...], tuple[tuple[int, ...], ...], tuple[int, ...]]:
    *said, overall = lines
    if not said:
        raise DataError("a session without turns", path=path, line=overall.number)
    if not overall.ratings:
        raise DataError("a dialogue without ratings", path=path, line=overall.number)
    turns = tuple(Turn(speaker=_SPEAKERS[line.role], text=line.text) for line in said)
    return turns, tuple(line.ratings for line in said), overall.ratings
