"""The plan of the house, kept: who may import whom, public faces, budgets and file sizes."""

import ast
import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

import recjury

ROOT = Path(recjury.__file__).parent

# Ground floor first; rooms on one floor do not import each other.
FLOORS = (
    ("safe_text",),
    ("errors", "logs"),
    ("mistakes",),
    ("input_files",),
    ("yaml_files",),
    ("records",),
    ("plugins", "prompts", "stats", "tables", "telemetry"),
    ("llm",),
    ("knowledge", "store"),
    ("language",),
    ("corpora", "debate"),
    ("fine_tuning", "isolation"),
    ("agents", "simulator", "judges"),
    ("agreement", "campaign"),
    ("cluster", "results"),
    ("report",),
    ("api", "demo"),
    ("papers", "web"),
    ("cli",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
ROOMS = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())

# The most lines of Python that a room may have; "top" are the files beside the rooms. A budget
# falls when its room has become smaller, and rises in a commit of its own that says why.
BUDGETS = {
    "agents": 8_296,
    "agreement": 5_824,
    "api": 933,
    "campaign": 4_146,
    "cli": 4_738,
    "corpora": 3_679,
    "debate": 2_117,
    "demo": 33,
    "fine_tuning": 410,
    "isolation": 882,
    "judges": 10_152,
    "language": 2_097,
    "knowledge": 1_782,
    "llm": 9_814,
    "papers": 6_593,
    "plugins": 661,
    "prompts": 296,
    "records": 1_932,
    "report": 1_727,
    "results": 2_974,
    "simulator": 4_032,
    "stats": 1_940,
    "store": 7_383,
    "tables": 934,
    "top": 1_182,
    "cluster": 497,
}
LINES = 85_054
FILES = 661

# Files outside `judges` that import the folder of one evaluator: a list that only becomes shorter.
# `papers`, whose job is the evaluators' papers, may name them all.
NAMES_AN_EVALUATOR: set[tuple[str, str]] = {
    ("agreement/replies/registry.py", "learned"),
}

HEAVY = {"torch", "scipy", "autogen_agentchat", "autogen_core", "openai", "transformers", "pyarrow"}
HEAVY |= {"aiohttp", "numpy", "sqlalchemy", "vl_convert"}


def _sources() -> Iterator[Path]:
    return ROOT.rglob("*.py")


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path): path for path in ROOT.rglob("*.py")}


def _imported_modules(path: Path) -> Iterator[str]:
    """The modules of this package that a file imports, wherever the import stands.

    Imports inside functions and for type checking count, too: what two files know of each other is
    a circle however late it is looked up.
    """
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else node.module or "" for name in inside]
        yield from (name for name in names if name.startswith("recjury."))


def _imported_rooms(path: Path) -> Iterator[str]:
    return (name.split(".")[1] for name in _imported_modules(path))


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


def test_rooms_stay_within_their_budgets() -> None:
    lines = Counter[str]()
    for path in MODULES.values():
        room = _room(path) if len(path.relative_to(ROOT).parts) > 1 else "top"
        lines[room] += len(path.read_text("utf-8").splitlines())
    assert set(BUDGETS) == set(lines), "every room has a budget, and every budget a room"
    over = {room: n - BUDGETS[room] for room, n in lines.items() if n > BUDGETS[room]}
    assert over == {}, "lines above the budget"
    assert lines.total() <= LINES
    assert len(MODULES) <= FILES


def test_no_circles_inside_rooms() -> None:
    imports = nx.DiGraph(
        (module, other)
        for module, path in MODULES.items()
        for other in _imported_modules(path)
        if other != module and other.split(".")[1] == _room(path)
    )
    circles = {
        frozenset(name.removeprefix("recjury.") for name in circle)
        for circle in nx.strongly_connected_components(imports)
        if len(circle) > 1
    }
    assert circles == set()


def test_nothing_outside_judges_names_an_evaluator() -> None:
    folders = {path.parent.name for path in (ROOT / "judges").glob("*/__init__.py")}
    names = {
        (str(path.relative_to(ROOT)), other.split(".")[2])
        for path in _sources()
        if _room(path) not in ("judges", "papers")
        for other in _imported_modules(path)
        if other.startswith("recjury.judges.") and other.split(".")[2] in folders
    }
    assert names - NAMES_AN_EVALUATOR == set(), "a new import of an evaluator's folder"
    assert NAMES_AN_EVALUATOR - names == set(), "these are gone: take them out of the list"


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


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    import subprocess
    import sys

    probe = "import sys, recjury; print(*(m for m in sys.modules if m.startswith('recjury')))"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {"recjury"}
