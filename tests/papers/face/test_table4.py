"""Table 4: FACE and FACE* on the USR sets, with a scripted model."""

import json
from pathlib import Path

from tests.cli.front_door import Command
from tests.endpoint import Body, ScriptedEndpoint, prompt


def _rated_by_length(body: Body) -> str:
    return f"<rating>{len(prompt(body)) % 3}</rating>"


def test_face_is_compared_on_maintains_context(
    command: Command, data_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "model.yaml"
    settings = ("rules=true", "limit=4", "resamples=20")
    asked = [part for each in settings for part in ("--set", each)]
    with ScriptedEndpoint(_rated_by_length) as endpoint:
        file.write_text(f"model: {{base_url: '{endpoint.url}', name: scripted}}\n")
        given = ("--config", file, "--data", data_folder, "--store", f"sqlite:///{tmp_path}/f.db")
        found, sent = {}, 0
        for final in (2, 16):
            ended = command(
                "analyse", "face.table4", *given, *asked, "--set", f"final={final}", "--json"
            )
            assert ended.code == 0, ended.err
            found[final] = json.loads(ended.out)
            sent = sent or len(endpoint.bodies)
        assert len(endpoint.bodies) == sent, "another choice asks nothing again"
    assert "FACE* is FACE" in found[16]["notes"][0]
    assert all(note.count("itr") == 2 for note in found[2]["notes"])
    rows = {
        (row["set"], row["method"]): row
        for row in found[16]["tables"]["table4"]
        if row["subset"] == "all rows"
    }
    for name in ("convai2-usr", "topicalchat-usr"):
        assert rows[name, "FACE"]["n"] == 4
        assert rows[name, "FACE"]["spearman"] == rows[name, "FACE*"]["spearman"]
    assert rows["convai2-usr", "FACE"]["published"] == "0.473; 0.544"
    assert rows["topicalchat-usr", "FACE*, 2B"]["published"] == "0.570; 0.582"


def test_without_the_sets_it_says_what_is_missing(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text("model: {base_url: 'http://127.0.0.1:9/v1', name: m}\n")
    ended = command("analyse", "face.table4", "--config", file, "--data", tmp_path)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "no such folder" in ended.err or "cannot be read" in ended.err
