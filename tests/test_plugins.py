"""Parts of one's own: found, loaded, and identified by their source."""

import subprocess
import sys
from pathlib import Path

import pytest

from recjury.agents import SYSTEMS
from recjury.errors import UserError
from recjury.plugins import find, load, source_digest


def test_what_is_built_in_comes_first() -> None:
    assert find("systems", "popular").value is SYSTEMS["popular"]


def test_an_unknown_name_is_one_line_with_the_nearest() -> None:
    with pytest.raises(UserError, match="popular") as found:
        find("systems", "populr")
    assert "module:name" in str(found.value)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("missing_module_x:f", "missing_module_x"),
        ("broken:f", "ZeroDivisionError"),
        ("mine:Mine2", "did you mean Mine"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, words: str
) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "mine.py").write_text("class Mine: ...\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(UserError, match=words):
        load(target)


def test_the_source_covers_modules_beside_it(tmp_path: Path) -> None:
    """An edited helper is another system: case 06."""
    (tmp_path / "mine.py").write_text("import json\nfrom helper import TITLE\nimport package\n")
    (tmp_path / "helper.py").write_text("import deeper\nTITLE = 'Heat'\n")
    (tmp_path / "deeper.py").write_text("W = 1.0\n")
    (tmp_path / "unused.py").write_text("W = 1.0\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "part.py").write_text("X = 1\n")
    seen = {source_digest(str(tmp_path / "mine.py"))}
    for name in ("helper.py", "deeper.py", "package/part.py"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "# changed\n")
        seen.add(source_digest(str(tmp_path / "mine.py")))
    assert len(seen) == 4
    (tmp_path / "unused.py").write_text("W = 2.0\n")
    assert source_digest(str(tmp_path / "mine.py")) in seen


def test_entry_points_are_found(tmp_path: Path) -> None:
    """A package that is installed beside recjury adds a kind of system."""
    info = tmp_path / "shop-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: shop\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[recjury.systems]\nshop = shop:respond\n")
    (tmp_path / "shop.py").write_text("def respond(conversation): return 'hello'\n")
    code = "from recjury.plugins import find; print(find('systems', 'shop').value(None))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "hello\n"
