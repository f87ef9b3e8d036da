"""The neural systems against golden vectors: `python -m benchmarks.crs_golden FOLDER --json`.

FOLDER has MODEL/DATASET/ with weights as iEvaLM-CRS publishes them and what its code gave for them
(outputs.json, outputs.npz), and common/ with data sets and backbones. Prints, for each, the largest
absolute error, whether the lists of 50 are equal, and how many texts are. Ends with code 1 unless
every error is at most 1e-4 and every list and text is equal.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file

from recjury.agents.neural import NeuralSystem, Said
from recjury.agents.neural.files import Limits
from recjury.agents.neural.settings import neural_class
from recjury.corpora import Catalogue, Corpus, Item, known_domain
from recjury.errors import RecjuryError

MODELS = ("kbrd", "barcor", "unicrs")
TOLERANCE = 1e-4
LIST = 50


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="golden vectors, with common/ in it")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    report = compare(options.folder)
    if not report:
        sys.exit(f"no golden vectors in {options.folder}: expected MODEL/DATASET/outputs.npz")
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        for model, datasets in report.items():
            for dataset, figures in datasets.items():
                print(f"{model} {dataset}: " + ", ".join(f"{k} {v}" for k, v in figures.items()))
    sys.exit(0 if passed(report) else 1)


def compare(root: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by model and data set."""
    report: dict[str, dict[str, dict[str, Any]]] = {}
    for model in MODELS:
        for path in sorted((root / model).glob("*/outputs.npz")):
            try:
                found = figures(root, model, path.parent.name)
            except RecjuryError as error:
                found = {"error": str(error)}
            report.setdefault(model, {})[path.parent.name] = found
    return report


def passed(report: dict[str, dict[str, dict[str, Any]]]) -> bool:
    """Whether all numbers are close, and all lists and texts equal."""
    every = [figures for datasets in report.values() for figures in datasets.values()]
    return all(
        "error" not in each
        and each["max_abs_error"] is not None
        and each["max_abs_error"] <= TOLERANCE
        and each["top50_equal"]
        and each["texts_equal"][0] == each["texts_equal"][1] > 0
        for each in every
    )


def figures(root: Path, model: str, dataset: str) -> dict[str, Any]:
    """What one model gives on one data set, held against the reference."""
    outputs = json.loads((root / model / dataset / "outputs.json").read_text("utf-8"))
    with np.load(root / model / dataset / "outputs.npz") as found:
        arrays = {name: found[name] for name in found.files}
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        system = _system(root, model, dataset, outputs["args"], arrays, Path(folder))
        said = [_said(system, case, outputs["args"]) for case in outputs["cases"]]
        errors, lists = list(_errors(system, said, outputs, arrays)), []
        for each, case in zip(said, outputs["cases"], strict=True):
            if np.ptp(scores := _entity_scores(system, each)[system.graph.items]) > 0:
                best = system.graph.items[np.argsort(-scores, kind="stable")[:LIST]]
                lists.append(best.tolist() == case["top50"])
        pairs = zip(system.write(said), outputs["cases"], strict=True)
        texts = [text.strip() == case["text"].strip() for text, case in pairs]
    worst = float(max(errors))
    return {
        "max_abs_error": worst if np.isfinite(worst) else None,
        "top50_equal": all(lists),
        "texts_equal": [sum(texts), len(texts)],
    }


def _system(
    root: Path,
    model: str,
    dataset: str,
    args: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    folder: Path,
) -> NeuralSystem:
    """The model, from a folder that has the weights beside data set and backbones."""
    common = root / "common"
    weights = root / model / dataset
    for path in (*(common / dataset).iterdir(), weights / "rec_model", weights / "conv_model"):
        (folder / path.name).symlink_to(path.resolve())
    (folder / "backbones").symlink_to((common / "backbones").resolve())
    rows = {"gpt2": "gpt2_wte_new_rows", "text": "roberta_new_rows"}
    if rows["gpt2"] in arrays:
        save_file({k: arrays[v] for k, v in rows.items()}, folder / "added_rows.safetensors")
    limits = Limits(
        args["context_max_length"], args.get("entity_max_length", 0), args["resp_max_length"]
    )
    limits.write(folder, model)
    names = json.loads((folder / "entity2id.json").read_text("utf-8"))
    items = set(json.loads((folder / "item_ids.json").read_text("utf-8")))
    catalogue = Catalogue(Item(id=str(n), name=name) for name, n in names.items() if n in items)
    corpus = Corpus(dataset, known_domain("film"), catalogue, ())
    system: NeuralSystem = neural_class(model)(corpus, str(folder), fidelity="ievalm")
    return system


def _said(system: NeuralSystem, case: dict[str, Any], args: dict[str, Any]) -> Said:
    names = case["entity"][-args["entity_max_length"] :] if "entity_max_length" in args else []
    numbers = (system.graph.number.get(name) for name in names)
    return Said(tuple(case["context"]), tuple(n for n in numbers if n is not None))


def _entity_scores(system: Any, said: Said) -> NDArray[np.float32]:
    found: NDArray[np.float32] = system.ranked([said])[0].numpy()
    return found


def _errors(
    system: Any, said: list[Said], outputs: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> Iterator[float]:
    """Differences of all scores of entities, and of words where the reference's reply is said."""
    for number, (each, case) in enumerate(zip(said, outputs["cases"], strict=True)):
        yield _error(_entity_scores(system, each), arrays[f"c{number}_rec_logits_all"])
        expected = arrays[f"c{number}_teacher_forced_logits"]
        reply = torch.tensor([case["gen_ids"][-len(expected) :]])
        yield _error(system.word_scores([each], reply)[0].numpy(), expected)


def _error(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """The largest difference; infinite for other shapes, and for numbers that are none."""
    if ours.shape != theirs.shape:
        return float("inf")
    error = float(np.abs(ours - theirs).max())
    return float("inf") if np.isnan(error) else error


if __name__ == "__main__":
    main()
