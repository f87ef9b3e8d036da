"""The table of files and lines by room."""

from pathlib import Path

from benchmarks.house_size import Size, table


def _checkout(folder: Path, **rooms: list[int]) -> Path:
    for room, files in {**rooms, "../tests": [5]}.items():
        place = folder / "recjury" / room
        place.mkdir(parents=True)
        for number, lines in enumerate(files):
            (place / f"m{number}.py").write_text("x = 1\n" * lines, "utf-8")
    return folder


def test_sizes_are_by_rank() -> None:
    assert Size.of([10, 30, 39, 40, 50, 60, 70, 80, 90, 100]) == Size(10, 569, 55, 90, 3)
    assert Size.of([7]) == Size(1, 7, 7, 7, 1)


def test_two_checkouts_stand_side_by_side(tmp_path: Path) -> None:
    old = _checkout(tmp_path / "old", llm=[10, 100], gone=[3])
    new = _checkout(tmp_path / "new", llm=[110], stats=[50, 60, 70])
    rows = table([old, new]).splitlines()[2:]
    assert rows == [
        "| gone | 1 → 0 | 3 → 0 | 3 → 0 | 3 → 0 | 1 → 0 |",
        "| llm | 2 → 1 | 110 → 110 | 55 → 110 | 100 → 110 | 1 → 0 |",
        "| stats | 0 → 3 | 0 → 180 | 0 → 60 | 0 → 70 | 0 → 0 |",
        "| all | 3 → 4 | 113 → 290 | 10 → 65 | 100 → 110 | 2 → 0 |",
        "| tests | 1 → 1 | 5 → 5 | 5 → 5 | 5 → 5 | 1 → 1 |",
    ]
