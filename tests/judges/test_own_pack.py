"""A pack of one's own: a folder in place of `core`."""

import shutil
from pathlib import Path

import pytest
import yaml

import recjury
from recjury.debate import roles_of
from recjury.errors import UserError
from recjury.judges import Core
from recjury.llm.prompts import Pack, pack
from recjury.records import identity
from tests.judges.test_core import rated
from tests.logs import said

ROOMS = Path(recjury.__file__).parent
SHIPPED = ROOMS / "judges" / "prompts" / "core"
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


def test_the_texts_of_appendices_a_and_d_have_their_places(tmp_path: Path) -> None:
    """As docs/explanation/core.md says: a copy of each pack, with other texts in it."""
    texts = {
        "judges": ("Text of A.1.1", "Text of its anchor"),
        "debate": ("Text of the Common User", "Text of a concern"),
    }
    for room, others in texts.items():
        shutil.copytree(ROOMS / room / "prompts" / "core-paper", tmp_path / room)
        manifest = tmp_path / room / "manifest.yaml"
        values = yaml.safe_load(manifest.read_text("utf-8"))
        if room == "judges":
            first = values["factors"]["Coherence"]
            first["definition"], first["anchors"][4] = others
        else:
            first = values["roles"]["Common User"]
            first["who"], first["concerns"]["Effectiveness"] = others
        manifest.write_text(yaml.safe_dump(values, sort_keys=False), "utf-8")
    _, requests = rated(
        prompts=str(tmp_path / "judges"), debate={"prompts": str(tmp_path / "debate")}
    )
    for purpose, room in (("judge", "judges"), ("debate", "debate")):
        shown = [said(each) for each in requests if each.purpose == purpose]
        own = [text for text in shown if all(other in text for other in texts[room])]
        assert len(own) == 1


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
    shutil.copytree(ROOMS / "debate" / "prompts" / "core", folder)
    manifest = folder / "manifest.yaml"
    text = manifest.read_text("utf-8")
    for old, new, words in (
        ("    who:", "    woh:", r"yaml:\d+: roles\.Common User.*did you mean who"),
        ("roles:", "rolls:", "`roles` is wanted"),
    ):
        manifest.write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(UserError, match=words):
            roles_of(Pack(folder))
