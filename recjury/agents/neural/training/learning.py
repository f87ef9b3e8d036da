"""The trainings: cross-entropy over entities, and over the words of replies; AdamW.

Weights are those of the last epoch. KBRD and BARCOR learn lists, then replies. UniCRS learns
replies first, with its backbones if these are new, and lists after that with prompts alone, as its
paper does (section 4).
"""

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from recjury.agents.neural.entities import entity_graph
from recjury.agents.neural.settings import neural_class
from recjury.agents.neural.training import examples
from recjury.agents.neural.training.beginning import begin, save
from recjury.agents.neural.training.examples import Recommendation, Reply
from recjury.agents.neural.training.settings import Learned, Step, Training
from recjury.corpora import Corpus
from recjury.errors import UserError

_CUTS = (1, 10, 50)


class _Part(NamedTuple):
    """A part of a training: modules that learn from examples by a loss."""

    name: str
    modules: Sequence[nn.Module]
    examples: Sequence[Any]
    loss: Callable[[Sequence[Any]], Tensor]
    epochs: int
    rate: float


def learned(
    training: Training,
    corpus: Corpus,
    test: Corpus,
    folder: Path,
    progress: Callable[[Step], None],
) -> Learned:
    """Weights in `folder`, and what they reach on `test`. Raises UserError."""
    if training.start:
        start = Path(training.start).expanduser()
        if not start.is_dir():
            raise UserError(f"`start`: there is no folder {start}")
        shutil.copytree(start, folder, copy_function=shutil.copyfile)
    else:
        begin(training, entity_graph(corpus), examples.texts(corpus), folder)
    system = neural_class(training.kind)(
        corpus, str(folder), backbones=training.backbones, device=training.device
    )
    torch.manual_seed(training.seed)
    recommended = examples.recommendations(corpus, system)[: training.limit]
    said = examples.replies(corpus, system)[: training.limit]
    for part in _parts(training, system, recommended, said):
        if not part.examples:
            raise UserError(f"{corpus.name}: split {training.split!r} has no {part.name} to learn")
        for epoch, loss in enumerate(_epochs(training, part, system), 1):
            progress(Step(part.name, epoch, part.epochs, loss))
    save(system.modules, folder)
    system.encode()
    tested = examples.recommendations(test, system)
    return Learned(folder, len(recommended), len(said), len(tested), _recall(system, tested))


def _parts(
    training: Training, system: Any, recommended: list[Recommendation], said: list[Reply]
) -> list[_Part]:
    modules = system.modules
    ranks = [modules["rec_model"]]
    writes = [module for place, module in modules.items() if place != "rec_model"]

    def ranking(batch: Sequence[Recommendation]) -> Tensor:
        wanted = torch.tensor([each.entity for each in batch], device=system.device)
        return functional.cross_entropy(system.ranked([each.said for each in batch]), wanted)

    def wording(batch: Sequence[Reply]) -> Tensor:
        ids = _reply_ids(training.kind, system, [each.text for each in batch])
        scores = system.word_scores([each.said for each in batch], ids)
        return functional.cross_entropy(
            scores.transpose(1, 2), ids, ignore_index=system.tokens.pad_token_id
        )

    lists = _Part("lists", ranks, recommended, ranking, training.epochs, training.rate)
    replies = _Part("replies", writes, said, wording, training.reply_epochs, training.reply_rate)
    return [replies, lists] if training.kind == "unicrs" else [lists, replies]


def _epochs(training: Training, part: _Part, system: Any) -> Iterator[float]:
    """The mean loss of each epoch."""
    weights = [w for module in part.modules for w in module.parameters() if w.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=part.rate)
    order, draw = list(part.examples), random.Random(training.seed)
    for module in part.modules:
        module.train()
    for _ in range(part.epochs):
        draw.shuffle(order)
        losses = [
            _learn(part, system, optimizer, order[start : start + training.batch])
            for start in range(0, len(order), training.batch)
        ]
        yield sum(losses) / len(losses)
    for module in part.modules:
        module.eval()


def _learn(
    part: _Part, system: Any, optimizer: torch.optim.Optimizer, batch: Sequence[Any]
) -> float:
    optimizer.zero_grad()
    system.encode()
    loss = part.loss(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


def _reply_ids(kind: str, system: Any, texts: Sequence[str]) -> Tensor:
    """[texts, tokens]: what a system is to say, padded at the end."""
    tokens, longest = system.tokens, system.limits.reply
    before = {"kbrd": "", "barcor": "System: ", "unicrs": " "}[kind]
    end = [tokens.eos_token_id]
    rows = []
    for text in texts:
        ids = tokens(f"{before}{text}").input_ids
        ids = ids[:-1] if ids[-1:] == end else ids
        rows.append(torch.tensor([*ids[: longest - 1], *end]))
    pad = tokens.pad_token_id
    return pad_sequence(rows, batch_first=True, padding_value=pad).to(system.device)


def _recall(system: Any, tested: Sequence[Recommendation]) -> dict[int, float]:
    """The share of recommendations among the first items of lists, by the length of lists."""
    ranks = []
    with torch.inference_mode():
        for said, entity in tested:
            scores = system.scores(said)
            wanted = scores[system.graph.items.tolist().index(entity)]
            ranks.append(int((scores > wanted).sum()))
    return {cut: sum(rank < cut for rank in ranks) / max(1, len(ranks)) for cut in _CUTS}
