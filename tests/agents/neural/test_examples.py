"""The neural system of one's own that the docs show."""

from pathlib import Path

import pytest

from recjury.files import YamlFile
from tests.agents.talk import loaded, talk

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_an_own_neural_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    import own_neural  # type: ignore[import-not-found]

    own_neural.learn(tmp_path)
    settings = YamlFile(EXAMPLES / "own_neural.yaml").values["systems"][0]
    settings["weights"] = str(tmp_path)
    hello, turn = talk(settings, "Hello.", "I liked Heat.")
    assert len(hello.items) == 10
    assert turn.items != hello.items
    names = [item.name for item in turn.items]
    assert turn.text == f"Have you seen {names[0]}? Or {names[1]}?"
    before = loaded(settings).version
    (tmp_path / "after.pt").write_bytes((tmp_path / "after.pt").read_bytes() + b"\0")
    assert loaded(settings).version != before


def test_core_yaml_names_what_the_paper_has() -> None:
    values = YamlFile(EXAMPLES / "core.yaml").values
    assert [each["corpus"] for each in values["scenarios"]] == ["redial", "opendialkg"]
    assert [each["kind"] for each in values["systems"]] == ["barcor", "kbrd", "unicrs", "chatcrs"]
