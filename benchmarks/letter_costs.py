"""How letters follow each other in words and names: `python -m benchmarks.letter_costs --data DIR`.

It writes `recjury/language/letters.npz` from the vocabulary of the language models and from the
names of people and titles of ReDial and OpenDialKG: counts of three letters, no names.
"""

import argparse
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.running import run
from recjury.corpora import open_corpus
from recjury.language.plain_words import COST, LETTERS_FILE, OUTSIDE, vocabulary, words_in

CORPORA = ("redial", "opendialkg")
_SMOOTHED = 0.1
_SHORTEST = 3


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds ievalm/")
    options = parser.parse_args()
    found = vocabulary() | names(options.data)
    costs = letter_costs([word for word in found if word.isascii() and word.isalpha()])
    file = Path(str(resources.files("recjury.language"))) / LETTERS_FILE
    np.savez_compressed(file, costs=costs)


def names(data: Path) -> set[str]:
    """The words of titles and of people's names."""
    items = [item for name in CORPORA for item in open_corpus(name, data).catalogue]
    said = [each for item in items for each in (item.title, *item.actors, *item.directors)]
    return {word for each in said for word in words_in(each) if len(word) >= _SHORTEST}


def letter_costs(found: list[str]) -> NDArray[np.uint8]:
    """Negative log likelihoods, `COST` to the unit, of a letter or the end after two others."""
    text = "  ".join(sorted(found))
    signs = np.frombuffer(f"  {text}  ".encode(), np.uint8)
    codes = np.where(signs == ord(" "), OUTSIDE, signs - ord("a")).astype(np.int64)
    size = OUTSIDE + 1
    runs = (codes[:-2] * size + codes[1:-1]) * size + codes[2:]
    counts = np.bincount(runs, minlength=size**3).reshape(size, size, size) + _SMOOTHED
    costs = np.round(-COST * np.log(counts / counts.sum(2, keepdims=True)))
    return np.asarray(np.minimum(255, costs).astype(np.uint8))


if __name__ == "__main__":
    run(main)
