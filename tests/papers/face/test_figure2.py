"""Figure 2: people's labels by aspect and system."""

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.cli.front_door import Command


def test_labels_are_counted_and_drawn(command: Command, data_folder: Path, tmp_path: Path) -> None:
    labels = data_folder / "crsarena-eval" / "crs_arena_eval.json"
    asked = ("analyse", "face.figure2", "--labels", f"crsarena-eval:{labels}")
    ended = command(*asked, "--json", "--out", tmp_path / "figure2.svg")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["tables"]["labels"]
    zeros = {
        aspect: sum(row["n"] for row in rows if (row["aspect"], row["label"]) == (aspect, 0))
        for aspect in ("task_completion", "dialogue_overall")
    }
    assert zeros == {"task_completion": 402, "dialogue_overall": 208}
    assert len({row["system"] for row in rows}) == 9
    drawn = ElementTree.fromstring((tmp_path / "figure2.svg").read_text("utf-8"))
    texts = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("kbrd_redial") == 7, "a panel for each aspect"
