"""The neural CRSs against golden vectors: `python -m benchmarks.crs_golden FOLDER --json`.

Prints, per model and data set in FOLDER, the largest absolute error, whether the lists of 50 are
equal, and how many texts are. Fails (exit code 1) unless every error is at most 1e-4 and every
list and text is equal. Sizes and hyper-parameters come from the folder.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.golden.barts import barcor, kbrd
from benchmarks.golden.compared import Compared
from benchmarks.golden.files import Golden, found_in
from benchmarks.golden.unicrs import unicrs
from recjury.errors import RecjuryError

COMPARISONS: dict[str, Callable[[Golden], Compared]] = {
    "kbrd": kbrd,
    "barcor": barcor,
    "unicrs": unicrs,
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="golden vectors, with common/ in it")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = list(found_in(options.folder))
    if not found:
        sys.exit(f"no golden vectors in {options.folder}: expected MODEL/DATASET/outputs.npz")
    report, passed = compare(found)
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        for model, datasets in report.items():
            for dataset, figures in datasets.items():
                print(f"{model} {dataset}: " + ", ".join(f"{k} {v}" for k, v in figures.items()))
    sys.exit(0 if passed else 1)


def compare(found: list[Golden]) -> tuple[dict[str, dict[str, dict[str, object]]], bool]:
    """Figures by model and data set, and whether all are the reference's."""
    report: dict[str, dict[str, dict[str, object]]] = {}
    passed = True
    for golden in found:
        figures: dict[str, object]
        try:
            with torch.inference_mode():
                compared = COMPARISONS[golden.model](golden)
            figures, good = compared.report(), compared.passed
        except RecjuryError as error:
            figures, good = {"error": str(error)}, False
        report.setdefault(golden.model, {})[golden.dataset] = figures
        passed &= good
    return report, passed


if __name__ == "__main__":
    main()
