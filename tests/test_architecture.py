"""The house as docs/architecture.md draws it: floors, circles, lines, files entered."""

import ast
import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from recjury.campaign import Config, run
from recjury.llm import ScriptedModel
from recjury.records import Request
from recjury.store import Store
from tests.replies import reply_to

PACKAGE = Path(__file__).parent.parent / "recjury"
FLOORS = [
    {"errors", "files", "keys", "logs", "mistakes", "plugins", "tasks", "telemetry", "__init__"},
    {"records"},
    {"llm", "store", "stats"},
    {"debate", "corpora"},
    {"agents"},
    {"simulator", "judges"},
    {"demo"},
    {"campaign", "results"},
    {"agreement"},
    {"view", "papers", "api"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts), path


def imports(path: Path) -> Iterator[str]:
    """The modules of recjury that a file imports, also within functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recjury"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("recjury"))


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in FLOOR else "__init__"


def test_imports_run_downwards() -> None:
    for module, path in modules():
        for imported in imports(path):
            above, below = room(module), room(imported)
            assert above == below or FLOOR[above] > FLOOR[below] or FLOOR[above] == 0, (
                f"{module} imports {imported}"
            )


def test_no_circle_inside_a_room() -> None:
    known = {module.removesuffix(".__init__"): path for module, path in modules()}
    del known["recjury"]  # it passes on the names of `recjury.api` when they are used
    graph = {
        module: {
            found
            for imported in imports(path)
            if (found := imported if imported in known else imported.rpartition(".")[0]) in known
        }
        for module, path in known.items()
    }

    def walk(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, " -> ".join((*above, module))
        if module not in done:
            for each in graph[module]:
                walk(each, (*above, module))
            done.add(module)

    done: set[str] = set()
    for module in graph:
        walk(module, ())


def test_lines() -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for _, path in modules()}
    assert max(lines.values()) <= 400, max(lines, key=lambda path: lines[path])
    assert sum(lines.values()) <= 31_620


@contextmanager
def files_entered() -> Iterator[set[str]]:
    """The files of recjury whose functions are called meanwhile, without `__init__`."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and str(PACKAGE) in name and not name.endswith("__init__.py"):
            files.add(name)

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(None)


def script(request: Request, code: str) -> str:
    return reply_to("".join(message.text for message in request.messages))


def test_a_campaign_enters_few_files(tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "scenarios": [{"corpus": "sample", "limit": 1}],
            "systems": ["popular"],
            "model": {"name": "scripted"},
        }
    )
    with Store(tmp_path / "s.db") as store, files_entered() as files:
        asyncio.run(run(config, store, open_provider=lambda _: ScriptedModel(script)))
    assert len(files) <= 66, sorted(files)
