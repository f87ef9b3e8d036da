"""The plan of the house, kept: who may import whom, public faces, and file sizes."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import recjury

ROOT = Path(recjury.__file__).parent

# Ground floor first; rooms on one floor do not import each other.
FLOORS = (
    ("safe_text",),
    ("errors", "logs"),
    ("records",),
    ("figures", "plugins", "prompts", "stats", "tables", "telemetry"),
    ("llm",),
    ("knowledge", "store"),
    ("corpora", "debate"),
    ("fine_tuning",),
    ("agents", "simulator", "judges"),
    ("agreement", "campaign"),
    ("results",),
    ("report",),
    ("api", "demo"),
    ("papers", "web"),
    ("cli",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
ROOMS = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())
HEAVY = {"torch", "scipy", "autogen_agentchat", "autogen_core", "openai", "transformers", "pyarrow"}
HEAVY |= {"aiohttp", "matplotlib", "numpy", "sqlalchemy"}


def _sources() -> Iterator[Path]:
    return (path for path in ROOT.rglob("*.py") if "migrations" not in path.parts)


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imported_rooms(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("recjury."):
                yield name.split(".")[1]


def test_every_room_has_a_floor() -> None:
    assert set(ROOMS) <= set(FLOOR)


def test_imports_run_downwards() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {other}"
        for path in _sources()
        if _room(path) not in ("__init__", "__main__")
        for other in _imported_rooms(path)
        if other != _room(path) and FLOOR[other] >= FLOOR[_room(path)]
    ]
    assert wrong == []


@pytest.mark.parametrize("room", ROOMS)
def test_public_faces_are_sorted_and_importable(room: str) -> None:
    module = importlib.import_module(f"recjury.{room}")
    names = list(module.__all__)
    assert names == sorted(names, key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert [name for name in names if not hasattr(module, name)] == []


def test_files_stay_small() -> None:
    long = {str(p.relative_to(ROOT)): len(p.read_text("utf-8").splitlines()) for p in _sources()}
    assert {name: lines for name, lines in long.items() if lines > 350} == {}


def test_nothing_is_printed_outside_the_command_line() -> None:
    printing = [
        str(path.relative_to(ROOT))
        for path in _sources()
        if _room(path) != "cli"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    assert printing == []


def test_the_front_door_opens_without_heavy_libraries() -> None:
    import subprocess
    import sys

    probe = "import sys, recjury.cli; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in run.stdout.split()} & HEAVY == set()


def test_importing_the_package_takes_little_time() -> None:
    import subprocess
    import sys

    probe = "import time; t = time.process_time(); import recjury; print(time.process_time() - t)"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.3
