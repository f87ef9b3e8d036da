"""Trainings of judges and the papers' tables from the command line."""

import json
import re
from pathlib import Path

import pytest

from recjury.records import Message, Request
from tests.cli.conftest import Recjury
from tests.papers.planted import GOOD, scripted
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, prompt_of


def planted(body: Body) -> Reply:
    prompt = prompt_of(body)
    (code,) = set(re.findall(r'code(?:="|" with the value ")(\w+)"', prompt))
    return Reply(completion(scripted(Request((Message("user", (prompt,)),)), code)))


def test_train_face_writes_instructions_that_a_campaign_names(
    tmp_path: Path, recjury: Recjury
) -> None:
    small = ("iterations=1", "candidates=4", "final=1", "shown=8", "samples=1", "sampled=6")
    with ScriptedEndpoint(planted) as server:
        model = {"base_url": server.url, "name": "m", "concurrency": 8}
        (tmp_path / "judges.yaml").write_text(json.dumps({"model": model}))
        given = ("aspect=understanding", "labels=tests.papers.planted:labels", "config=judges.yaml")
        sets = [each for setting in (*given, *small) for each in ("--set", setting)]
        done = recjury("train", "face", *sets, "--json")
        again = recjury("train", "face", *sets, "--json")
    assert done.code == 0, done.err
    assert (tmp_path / done.json["file"]).name == "understanding.json"
    assert done.json["together"] == 1
    assert GOOD in (tmp_path / done.json["file"]).read_text()
    assert again.json["sent"] == 0
    assert again.json["validation"] == done.json["validation"]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("face", "--set", "aspect=relevance"), "labels"),
        (("dialogue-qualit",), "dialogue-quality"),
        (("dialogue-quality", "--set", "model=nowhere", "--set", "out=o"), "data"),
    ],
)
def test_a_training_that_lacks_something_is_one_line(
    recjury: Recjury, arguments: tuple[str, ...], names: str
) -> None:
    assert recjury("train", *arguments).is_mistake(names)


def test_recipes_are_listed_and_write_what_rates(tmp_path: Path, recjury: Recjury) -> None:
    assert "paireval.table2" in recjury("analyse").out
    done = recjury("analyse", "paireval.table2", "--write", "judges.yaml", "--draws", "3")
    assert done.code == 0
    assert (tmp_path / "judges.yaml").read_text().count("seed:") == 3
    assert recjury("analyse", "paireval.table2", "--write", "judges.yaml").is_mistake()
    assert recjury("analyse", "core.table9").is_mistake("recjury annotate")
