"""How many files and lines each room of a checkout has: a Markdown table.

    python -m benchmarks.house_size               # of this checkout
    python -m benchmarks.house_size OLD NEW       # of two checkouts, side by side

Lines are all lines of the Python files in `recjury/`, with blank ones and comments. The
90th percentile is the nearest rank.
"""

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SHORT = 40
HERE = Path(__file__).parents[1]


class Size(NamedTuple):
    """The files and lines of a room; `median` and `p90` are lines per file."""

    files: int
    lines: int
    median: int
    p90: int
    short: int

    @classmethod
    def of(cls, lines: Sequence[int]) -> "Size":
        """From the number of lines of each file; there must be one."""
        ranked = sorted(lines)
        p90 = ranked[math.ceil(0.9 * len(ranked)) - 1]
        short = sum(each < SHORT for each in ranked)
        return cls(len(ranked), sum(ranked), round(statistics.median(ranked)), p90, short)


def measure(checkout: Path) -> dict[str, Size]:
    """The size of each room, and of `all` of them and `tests`."""
    rooms: dict[str, list[int]] = {}
    for path, lines in _files(checkout / "recjury"):
        inside = path.relative_to(checkout / "recjury")
        rooms.setdefault(inside.parts[0] if len(inside.parts) > 1 else "(top)", []).append(lines)
    sizes = {room: Size.of(rooms[room]) for room in sorted(rooms)}
    sizes["all"] = Size.of([lines for room in rooms.values() for lines in room])
    sizes["tests"] = Size.of([lines for _, lines in _files(checkout / "tests")])
    return sizes


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, len(path.read_text("utf-8").splitlines())


def table(checkouts: Sequence[Path]) -> str:
    """The Markdown table: a row for each room; with two checkouts each cell is "old → new"."""
    measured = [measure(checkout) for checkout in checkouts]
    rooms = list(dict.fromkeys(room for sizes in measured for room in sizes))
    rooms.sort(key=lambda room: (room in ("all", "tests"), room))
    lines = [f"| room | files | lines | median | 90th percentile | under {SHORT} lines |"]
    lines.append("|---|---|---|---|---|---|")
    for room in rooms:
        found = [sizes.get(room, Size(0, 0, 0, 0, 0)) for sizes in measured]
        cells = [
            " → ".join(f"{value:,}" for value in column) for column in zip(*found, strict=True)
        ]
        lines.append(f"| {room} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table for the checkouts that are named."""
    parser = argparse.ArgumentParser(description="Files and lines by room, as a Markdown table.")
    parser.add_argument("checkouts", nargs="*", type=Path, default=[HERE], metavar="FOLDER")
    print(table(parser.parse_args().checkouts))


if __name__ == "__main__":
    main()
