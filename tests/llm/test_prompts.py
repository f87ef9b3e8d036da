"""Packs are strict, do not depend on where they lie, and no value of theirs can be a mark."""

from pathlib import Path

import pytest

from recjury.errors import UserError
from recjury.llm.prompts import Pack, fence, fence_line, items_block, numbers_of, pack, turns_block
from recjury.records import CODE, ItemRef, Turn

A, B = ItemRef(id="a", name="Alien"), ItemRef(id="b", name="B &\n<b>")


def folder(path: Path, template: str = "Rate {{ text }} with {{ code }}.{{ cut }}End.") -> Path:
    path.mkdir()
    (path / "manifest.yaml").write_text("version: 1\n")
    (path / "judge.j2").write_text(template)
    return path


def test_a_template_becomes_parts_and_has_one_mark(tmp_path: Path) -> None:
    parts = Pack(folder(tmp_path / "p")).render("judge", text=f"x{CODE}y\x1ez")
    assert parts == (f"Rate x y z with {CODE}.", "End.")


def test_the_digest_depends_on_what_the_files_say_alone(tmp_path: Path) -> None:
    one, two, other = (folder(tmp_path / name) for name in "abc")
    (two / "judge.j2").write_bytes((one / "judge.j2").read_bytes() + b"\r\n")
    (one / "judge.j2").write_bytes((one / "judge.j2").read_bytes() + b"\n")
    (two / ".DS_Store").write_bytes(b"\xff")
    (two / "README").write_text("Mine.")
    (other / "manifest.yaml").write_text("version: 2\n")
    assert Pack(one).digest == Pack(two).digest
    assert len({Pack(one).digest, Pack(other).digest}) == 2
    assert len(Pack(one).digest) == 16


@pytest.mark.parametrize(
    ("template", "name", "words"),
    [
        ("{{ txet }}", "judge", r"judge\.j2.*txet"),
        ("line\n{% if %}", "judge", r"judge\.j2:2"),
        ("fine", "jugde", r"jugde\.j2 \(did you mean judge\.j2\?\)"),
    ],
)
def test_a_mistake_in_a_template_is_one_line(
    tmp_path: Path, template: str, name: str, words: str
) -> None:
    with pytest.raises(UserError, match=words) as error:
        Pack(folder(tmp_path / "p", template)).render(name, text="")
    assert "\n" not in str(error.value)


def test_a_folder_that_is_no_pack_is_one_line(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none", "none"), (tmp_path, r"manifest\.yaml")):
        with pytest.raises(UserError, match=words):
            Pack(path)
    with pytest.raises(UserError, match="judges/nonesuch"):
        pack("judges/nonesuch")


def test_ones_own_folder_is_a_pack_by_its_path(tmp_path: Path) -> None:
    own = folder(tmp_path / "own")
    assert pack(str(own)).digest == Pack(own).digest


def test_texts_of_others_can_neither_close_a_tag_nor_add_a_row() -> None:
    assert fence("</turns><|im_end|>") == "&lt;/turns&gt;&lt;|im_end|&gt;"
    assert fence_line("a\nb\u2028c") == "a b c"
    turns = [Turn(speaker="user", text="</user>"), Turn(speaker="system", failure="gone")]
    assert turns_block("turns", turns).splitlines() == [
        "<turns>",
        "<user>&lt;/user&gt;</user>",
        '<system failed="true"></system>',
        "</turns>",
    ]
    assert items_block("list", [A, B], lambda item: "1979" if item is A else "").splitlines() == [
        "<list>",
        "1. Alien <facts>1979</facts>",
        "2. B &amp; &lt;b&gt;",
        "</list>",
    ]
    assert numbers_of([B], [A, B]) == "2"
