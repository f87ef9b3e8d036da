"""Prompt packs: strict, cut into parts, and identified by every byte of theirs."""

import pytest
from jinja2 import UndefinedError

from recjury.prompts import Pack, load_pack

MANIFEST = 'id: tests\nversion: "2"\n'


def pack(template: str, manifest: str = MANIFEST) -> Pack:
    return Pack({"manifest.yaml": manifest, "ask.j2": template})


def test_parts_join_to_the_rendered_text() -> None:
    parts = pack("Be kind.\n{{ cut }}Log: {{ log }}{{ cut }}{{ cut }}Go.").render("ask", log="x")
    assert parts == ("Be kind.\n", "Log: x", "Go.")


def test_a_missing_variable_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        pack("Log: {{ log }}").render("ask")


def test_a_variable_can_neither_cut_nor_run() -> None:
    parts = pack("Log: {{ log }}").render("ask", log="a\x1eb {{ cut }} {% if %}")
    assert parts == ("Log: a b {{ cut }} {% if %}",)


def test_the_digest_changes_with_any_byte() -> None:
    same = pack("Go.").digest
    assert pack("Go.").digest == same
    assert pack("Go!").digest != same
    assert pack("Go.", MANIFEST + "# a comment\n").digest != same


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("core-judges", "5"),
        ("core-paper-judges", "2"),
        ("core-debate", "6"),
        ("core-paper-debate", "2"),
        ("core-simulator", "3"),
        ("core-paper-simulator", "1"),
        ("core-persuasiveness", "1"),
        ("face", "3"),
    ],
)
def test_shipped_packs_name_themselves_and_their_version(name: str, version: str) -> None:
    shipped = load_pack(name)
    assert shipped.id == name
    assert shipped.version == version
    assert len(shipped.digest) == 16
