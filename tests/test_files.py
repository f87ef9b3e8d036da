"""Files that people write."""

from itertools import pairwise
from pathlib import Path
from string import ascii_letters
from typing import Any

import pytest

from recjury.errors import UserError
from recjury.files import YamlFile, content_digest, nearest, read_text


def yaml_of(tmp_path: Path, text: str) -> YamlFile:
    path = tmp_path / "c.yaml"
    path.write_text(text, "utf-8")
    return YamlFile(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1e3", 1000),
        ("-2.5E+2", -250.0),
        (".5", 0.5),
        ("7", 7),
        ("0x1F", 31),
        ("NO", "NO"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1_000", "1_000"),
        ("true", True),
        ("~", None),
        ("'1e3'", "1e3"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(tmp_path: Path, text: str, value: Any) -> None:
    found = yaml_of(tmp_path, f"key: {text}\n").values["key"]
    assert found == value
    assert type(found) is type(value)


def test_an_error_names_file_and_line(tmp_path: Path) -> None:
    file = yaml_of(tmp_path, "a: 1\nsystems:\n  - kind: http\n    url: x\n")
    message = str(file.error(("systems", 0, "url"), "is no address"))
    assert message == f"{file.path}:4: systems.0.url: is no address"
    assert ":3: " in str(file.error(("systems", 0, "missing"), "is missing"))


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\na: 2\n", 2), ("a: [1\n", 2), ("a:\n\tb: 1\n", 2)],
)
def test_what_is_not_yaml_is_one_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(UserError, match=rf"c\.yaml(:{line})?: is not YAML: ") as found:
        yaml_of(tmp_path, text)
    assert "\n" not in str(found.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    for name in ("missing.yaml", "latin.yaml", "."):
        with pytest.raises(UserError, match=str(tmp_path)):
            read_text(tmp_path / name)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert YamlFile(tmp_path / "bom.yaml").values == {"a": 1}


def test_the_nearest_name_is_offered() -> None:
    assert "list_source" in nearest("list_sorce", ["model", "list_source"])
    assert nearest("zzz", ["model", "list_source"]) == ""


def test_a_digest_is_of_the_content_and_of_the_names_in_a_folder(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "a.json").write_text("[1]")
    assert content_digest(str(one)) == content_digest(str(two))
    assert content_digest(str(one / "a.json")) == content_digest(str(two / "a.json"))
    (two / "a.json").rename(two / "b.json")
    assert content_digest(str(one)) != content_digest(str(two))
    assert content_digest(str(one / "a.json")) == content_digest(str(two / "b.json"))
    assert content_digest("initial") == "initial"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &a [*a]\n", "Circular"),
        (
            "a: &a [x, x]\n"
            + "".join(f"{k}: &{k} [*{j}, *{j}]\n" for j, k in pairwise(ascii_letters)),
            "much",
        ),
        (f"a: {'[' * 5000}{']' * 5000}\n", "recursion"),
    ],
)
def test_what_would_fill_the_memory_is_one_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        yaml_of(tmp_path, text)
