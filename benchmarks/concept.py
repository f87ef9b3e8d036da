"""Concept's recordings (Huang et al. 2024) as jsonl: `python -m benchmarks.concept FOLDER 20`.

FOLDER has `concept/` and `ievalm/`. N conversations of each of eight files are written to standard
output. A conversation's history is empty, and its targets are the items that match the attributes
which the simulated user was told, as recorded (never the record's own `rec`).
"""

import gzip
import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

SYSTEMS = ("kbrd", "barcor", "unicrs", "chatgpt")


def main(folder: Path, count: int) -> None:
    """Write the conversations."""
    for dataset in ("redial", "opendialkg"):
        names, genres = items(folder / "ievalm" / dataset)
        for system in SYSTEMS:
            with gzip.open(folder / "concept" / f"{system}_{dataset}.jsonl.gz", "rt") as file:
                for line in islice(file, count):
                    row = conversation(json.loads(line), system, dataset, names, genres)
                    print(json.dumps(row, ensure_ascii=False))


def items(folder: Path) -> tuple[dict[int, str], dict[str, set[str]]]:
    """Names by entity, and genres by name."""
    entities = json.loads((folder / "entity2id.json").read_text("utf-8"))
    known = json.loads((folder / "id2info.json").read_text("utf-8")).values()
    genres = {each["name"]: {g.lower() for g in each.get("genre") or ()} for each in known}
    return {number: name for name, number in entities.items()}, genres


def conversation(
    row: dict[str, Any], system: str, dataset: str, names: dict[int, str], genres: dict[str, Any]
) -> dict[str, Any]:
    """A row of Concept in the keys of jsonl."""
    talk = row["simulator_dialog"]
    wanted = {each.lower() for each in talk["attributes"]}
    meets = wanted.__eq__ if dataset == "redial" else wanted.issubset
    turns = [
        {"role": turn["role"], "content": turn["content"].removesuffix("[END]").strip()}
        | {"items": [names[each] for each in turn.get("rec_items", ()) if each in names]}
        for turn in talk["context"]
    ]
    targets = [name for name, each in genres.items() if meets(each)]
    id_ = row["source_file"].rpartition("/")[2].removesuffix(".json")
    about = {"system": system, "corpus": f"concept-{dataset}", "targets": targets}
    return {"id": id_, **about, "interaction": turns}


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
