"""Train the model that tells the sentences of people from broken ones.

    python -m benchmarks.fluency_training --data DIR [--out FILE]

It takes about two minutes on one core, and always gives the same weights. A first layer is fitted
to sentences of people and the same ones broken on purpose. Then the recordings of
`fluency_texts.training_sources` join: what the first layer is sure of, with its opinion as the
label. The threshold is written here; it was chosen on the development half of
tests/judges/measured/marked/sentences.tsv.
"""

import argparse
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.fluency_corruptions import Corruptor
from benchmarks.fluency_texts import hashed, read_texts
from benchmarks.running import run
from recjury.judges.measured import fluency
from recjury.judges.measured.fluency import END, START, STEP, Fluency, class_of, tokens_of
from recjury.judges.measured.text import MaskedText, Sentence

THRESHOLD = 0.985
_MARKED = Path("tests/judges/measured/marked/sentences.tsv")
_SIZES = {
    "word1": 2**17,
    "word2": 2**19,
    "word3": 2**20,
    "class1": 2**14,
    "class2": 2**15,
    "class3": 2**18,
    "class4": 2**19,
}
_FITTED = 16_000
_DOUBTFUL = 5_000
_SURE_FINE, _SURE_BROKEN = 0.25, 0.5
_DOUBTFUL_WEIGHT = 2.0
_HIDDEN, _EPOCHS, _BATCH = 24, 20, 256

Array = NDArray[np.float64]
Layers = list[Array]


def counted(sentences: Sequence[Sentence]) -> dict[str, NDArray[np.generic]]:
    """The tables of counts, and the number of words."""
    counts = {name: np.zeros(size, np.int64) for name, size in _SIZES.items()}
    for sentence in sentences:
        words = [START, *tokens_of(sentence), END]
        for kind, row, longest in (("word", words, 3), ("class", list(map(class_of, words)), 4)):
            for length in range(1, longest + 1):
                table = counts[f"{kind}{length}"]
                for at in range(len(row) - length + 1):
                    sequence = " ".join(row[at : at + length]).encode()
                    table[zlib.crc32(sequence) & (len(table) - 1)] += 1
    tables: dict[str, NDArray[np.generic]] = {
        name: np.minimum(255, np.round(STEP * np.log2(table + 1))).astype(np.uint8)
        for name, table in counts.items()
    }
    return tables | {"total": np.array(float(counts["word1"].sum()))}


def fit(rows: Array, labels: Array, weights: Array) -> Layers:
    """A hidden layer of rectified units, fitted by Adam to the weighted cross-entropy."""
    rng = np.random.default_rng(0)
    width = rows.shape[1]
    layers = [
        rng.normal(0, width**-0.5, (width, _HIDDEN)),
        np.zeros(_HIDDEN),
        rng.normal(0, 0.1, _HIDDEN),
        np.zeros(1),
    ]
    first, second = [np.zeros_like(p) for p in layers], [np.zeros_like(p) for p in layers]
    step = 0
    for epoch in range(_EPOCHS):
        order = rng.permutation(len(rows))
        rate = 3e-3 * (1 - epoch / _EPOCHS) + 1e-4
        for start in range(0, len(rows), _BATCH):
            batch = order[start : start + _BATCH]
            x = rows[batch]
            hidden = np.maximum(x @ layers[0] + layers[1], 0)
            wrong = (_probability(layers, x) - labels[batch]) * weights[batch] / len(batch)
            back = np.outer(wrong, layers[2]) * (hidden > 0)
            gradients = [
                x.T @ back + 1e-5 * layers[0],
                back.sum(0),
                wrong @ hidden,
                np.array([wrong.sum()]),
            ]
            step += 1
            for at, gradient in enumerate(gradients):
                first[at] = 0.9 * first[at] + 0.1 * gradient
                second[at] = 0.999 * second[at] + 0.001 * gradient**2
                speed = np.sqrt(second[at] / (1 - 0.999**step)) + 1e-8
                layers[at] = layers[at] - rate * first[at] / (1 - 0.9**step) / speed
    return layers


def _probability(layers: Layers, rows: Array) -> Array:
    hidden = np.maximum(rows @ layers[0] + layers[1], 0)
    return np.asarray(1 / (1 + np.exp(-(hidden @ layers[2] + layers[3]))), np.float64)


def train(data: Path) -> dict[str, NDArray[np.generic]]:
    """The arrays of the file of weights."""
    texts = read_texts(data, marked_sentences())
    arrays = counted(texts.counted)
    model = Fluency(arrays)
    fine = sorted(texts.fitted, key=lambda s: hashed(" ".join(s.raw)))[:_FITTED]
    corrupt = Corruptor(texts.fitted, seed=0)
    broken = [changed for sentence in fine if (changed := corrupt(sentence)) is not None]
    rows = np.array([model.features(sentence) for sentence in (*fine, *broken)])
    labels = np.repeat([0.0, 1.0], [len(fine), len(broken)])
    mean, spread = rows.mean(0), rows.std(0) + 1e-6
    scaled = np.clip((rows - mean) / spread, -5, 5)
    layers = fit(scaled, labels, np.ones(len(labels)))
    doubtful = [
        model.features(sentence)
        for sentences in texts.doubtful.values()
        for sentence in sorted(sentences, key=lambda s: hashed(" ".join(s.raw)))[:_DOUBTFUL]
    ]
    more = np.clip((np.array(doubtful) - mean) / spread, -5, 5)
    opinion = _probability(layers, more)
    sure = (opinion < _SURE_FINE) | (opinion > _SURE_BROKEN)
    layers = fit(
        np.vstack([scaled, more[sure]]),
        np.concatenate([labels, (opinion[sure] > _SURE_BROKEN).astype(float)]),
        np.concatenate([np.ones(len(labels)), np.full(int(sure.sum()), _DOUBTFUL_WEIGHT)]),
    )
    names = ("hidden", "hidden_bias", "out", "out_bias")
    weights = {name: layer.astype(np.float32) for name, layer in zip(names, layers, strict=True)}
    weights["out_bias"] = weights["out_bias"][0]
    scale = {"mean": mean, "spread": spread, "threshold": np.array(THRESHOLD)}
    return arrays | weights | scale


def marked_sentences() -> frozenset[str]:
    """The marked sentences, which nothing is trained with, as their words in lower case."""
    texts = (line.rstrip("\n").split("\t")[-1] for line in _MARKED.open(encoding="utf-8"))
    return frozenset(
        " ".join(sentence.words) for text in texts for sentence in unmarked(text).sentences
    )


def unmarked(text: str) -> MaskedText:
    """A marked text with its titles, which stand in [[ ]]."""
    pieces = text.split("[[")
    plain, spans = pieces[0], []
    for piece in pieces[1:]:
        title, _, rest = piece.partition("]]")
        spans.append((len(plain), len(plain) + len(title)))
        plain += title + rest
    return MaskedText(plain, spans)


def main() -> None:
    """Train, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    shipped = Path(fluency.__file__).with_name(fluency.WEIGHTS)
    parser.add_argument("--data", type=Path, required=True, help="folder with concept/, ievalm/")
    parser.add_argument("--out", type=Path, default=shipped, help="default: the package's weights")
    options = parser.parse_args()
    arrays = train(options.data)
    np.savez_compressed(options.out, **arrays)  # type: ignore[arg-type]
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    run(main)
