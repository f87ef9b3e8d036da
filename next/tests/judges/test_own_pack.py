"""A pack of one's own: a folder in place of `core`."""

import shutil
from pathlib import Path

import pytest

import recjury
from recjury.debate import roles_of
from recjury.errors import UserError
from recjury.judges import Core
from recjury.llm.prompts import Pack, pack
from recjury.records import identity
from tests.judges.test_core import rated
from tests.logs import said

SHIPPED = Path(recjury.__file__).parent / "judges" / "prompts" / "core"
OWN = "Does the system know its way around crime films?"


def own_pack(folder: Path, old: str = "", new: str = "") -> Path:
    """A copy of the pack `core`, with another text in its manifest."""
    shutil.copytree(SHIPPED, folder)
    manifest = folder / "manifest.yaml"
    text = manifest.read_text("utf-8")
    assert old in text
    manifest.write_text(text.replace(old, new, 1), "utf-8")
    return folder


def definition() -> str:
    """That of Coherence, as it stands in the manifest."""
    text = (SHIPPED / "manifest.yaml").read_text("utf-8")
    return text.partition("definition: >-\n      ")[2].partition("    anchors:")[0]


def identity_of(**settings: object) -> object:
    core = Core.model_validate(settings)
    return identity(core, lambda kind, name: pack(name).digest if kind == "pack" else name)


def test_a_definition_of_ones_own_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own_pack(tmp_path / "mine", definition(), f"{OWN}\n")
    monkeypatch.chdir(tmp_path)
    ratings, requests = rated(prompts="mine")
    assert len(ratings) == 13
    shown = [each for each in requests if OWN in said(each)]
    assert len(shown) == 1
    assert "You judge one factor: Coherence." in said(shown[0])
    assert identity_of(prompts="mine") == identity_of(prompts=str(folder))
    assert identity_of(prompts="mine") != identity_of()


def test_a_copy_is_the_same_evaluator(tmp_path: Path) -> None:
    assert identity_of(prompts=str(own_pack(tmp_path / "copy"))) == identity_of()


def test_what_a_folder_lacks_is_one_line(tmp_path: Path) -> None:
    without_manifest = own_pack(tmp_path / "no manifest")
    (without_manifest / "manifest.yaml").unlink()
    without_template = own_pack(tmp_path / "no template")
    (without_template / "judge.j2").unlink()
    for folder, words in (
        (tmp_path / "nowhere", "nowhere"),
        (without_manifest, r"no manifest/manifest\.yaml"),
        (without_template, r"no template: has no template judge\.j2"),
    ):
        with pytest.raises(UserError, match=words) as error:
            rated(prompts=str(folder))
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("factors:", "factrs:", "`factors` is wanted"),
        ("    definition:", "    defintion:", r"yaml:\d+: factors\.Coherence.*mean definition"),
        ("      4: Every", "      four: Every", r"yaml:\d+: factors\.Coherence\.anchors"),
        ("  Coherence:", "  Coherence: none\n  Other:", "a guideline is wanted"),
    ],
)
def test_a_mistake_in_a_manifest_is_one_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    folder = own_pack(tmp_path / "mine", old, new)
    with pytest.raises(UserError, match=words) as error:
        Core.model_validate({"prompts": str(folder)})
    assert "\n" not in str(error.value)


def test_a_mistake_in_a_role_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "debate"
    shutil.copytree(SHIPPED.parent.parent.parent / "debate" / "prompts" / "core", folder)
    manifest = folder / "manifest.yaml"
    text = manifest.read_text("utf-8")
    for old, new, words in (
        ("    who:", "    woh:", r"yaml:\d+: roles\.Common User.*did you mean who"),
        ("roles:", "rolls:", "`roles` is wanted"),
    ):
        manifest.write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(UserError, match=words):
            roles_of(Pack(folder))
