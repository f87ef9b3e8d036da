"""Neural systems from the command line: training, the demo, and CoRE's experiments."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from recjury.files import YamlFile
from tests.cli.conftest import Recjury
from tests.scripted_endpoint import ScriptedEndpoint

CORE = Path(__file__).parents[2] / "examples" / "core.yaml"
SMALL = ("corpus=sample-books", "width=16", "layers=1", "words=300", "limit=8", "epochs=1")


def settings(*given: str) -> list[str]:
    return [part for each in given for part in ("--set", each)]


def test_train_makes_a_folder_that_a_campaign_names(tmp_path: Path, recjury: Recjury) -> None:
    done = recjury("train", "kbrd", *settings(*SMALL, "reply_epochs=1", "out=mine"), "--json")
    assert done.code == 0
    assert done.json["folder"] == "mine"
    assert set(done.json["recall"]) == {"1", "10", "50"}
    assert "lists: epoch 1 of 1" in done.err
    campaign = {
        "scenarios": [{"corpus": "sample-books", "limit": 1}],
        "systems": [
            {"kind": "kbrd", "weights": "mine", "vary": {"fidelity": ["ievalm", "corrected"]}}
        ],
    }
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(campaign))
    found = recjury("run", "c.yaml", "--json")
    assert set(found.json["systems"]) == {"kbrd/fidelity=ievalm", "kbrd/fidelity=corrected"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["kbrt"], "did you mean kbrd"),
        (["kbrd", *settings("widht=8")], "--set widht: there is no such key (did you mean width?)"),
        (["kbrd", *settings("width=9")], "--set width: "),
        (["kbrd", *settings("width")], "expected key=value"),
        (["kbrd", *settings("corpus=redial")], "RECJURY_DATA is not set"),
    ],
)
def test_a_training_that_cannot_begin_is_one_line(
    recjury: Recjury, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    assert recjury("train", *arguments).is_mistake(says)


def test_the_demo_has_the_neural_systems(recjury: Recjury) -> None:
    done = recjury("demo", "--limit", "1", "--json")
    assert set(done.json["systems"]) >= {"kbrd", "barcor", "unicrs", "retrieval"}
    assert "pip install" not in done.err


def core(url: str, **scenarios: Any) -> dict[str, Any]:
    """CoRE's experiments, with all models behind one endpoint and the weights that ship."""
    values: dict[str, Any] = dict(YamlFile(CORE).values)
    for model in (values["model"], *values["models"].values()):
        model.pop("key_env", None)
        model.update(base_url=url, price_in=0, price_out=0)
    for system in values["systems"]:
        system.pop("weights", None)
    return values | {"scenarios": [scenarios]}


def test_cores_experiments(tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint) -> None:
    (tmp_path / "core.yaml").write_text(yaml.safe_dump(core(endpoint.url, corpus="sample")))
    found = recjury("run", "core.yaml", "--limit", "2", "--json")
    assert found.code == 0, found.err
    systems = found.json["systems"]
    assert set(systems) == {"barcor", "kbrd", "unicrs", "chatcrs"}
    assert all(each["core.overall"]["n"] == 2 for each in systems.values())
    raters = {asked.body["model"] for asked in endpoint.asked}
    assert len(raters) == 3


@pytest.mark.skipif("RECJURY_DATA" not in os.environ, reason="RECJURY_DATA is not set")
def test_cores_experiments_are_priced_over_both_corpora(
    tmp_path: Path, recjury: Recjury, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("GLM_API_KEY", "k")
    for system in ("barcor", "kbrd", "unicrs"):
        for corpus in ("redial", "opendialkg"):
            (tmp_path / "weights" / system / corpus).mkdir(parents=True)
    done = recjury("run", str(CORE), "--dry-run", "--limit", "2", "--json")
    assert done.json["trials"] == 4 * 2 * 2
