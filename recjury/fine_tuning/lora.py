"""The training of an adapter by `peft`. It imports torch and transformers: import it late."""

import inspect
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from recjury.errors import DataError
from recjury.fine_tuning.plan import LoraPlan, TuningExample, TuningReport, TuningStep
from recjury.llm.chat_tokens import chat_tokens
from recjury.llm.local_choices import last_logits_only
from recjury.llm.local_generation import context_length, load_tokenizer, load_weights
from recjury.llm.local_spec import LocalSpec

_GROUPED = 16  # batches that are sorted by length among themselves


class _Row(NamedTuple):
    """The tokens of a prompt, and those of its label with the end of the reply."""

    prompt: list[int]
    label: list[int]

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.label)


class _Rows(NamedTuple):
    rows: list[_Row]
    shortened: int
    left_out: int


def train(
    folder: Path,
    examples: Iterable[TuningExample],
    out: Path,
    plan: LoraPlan,
    progress: Callable[[TuningStep], None] | None,
) -> TuningReport:
    """Train as `plan` says and write the adapter into `out`; raises as `fine_tune`."""
    started = time.perf_counter()
    spec = LocalSpec(
        provider="transformers", name=str(folder), device=plan.device, dtype=plan.dtype
    )
    tokenizer = load_tokenizer(spec)
    with torch.random.fork_rng():
        torch.manual_seed(plan.seed)
        base = load_weights(spec)
        longest = min(filter(None, (plan.longest, context_length(base))), default=None)
        found = _rows(examples, tokenizer, longest, spec.name)
        if plan.dtype == "nf4":
            base = prepare_model_for_kbit_training(base)
        model = _with_lora(base, plan)
        losses = _fit(model, found.rows, plan, progress)
        model.save_pretrained(str(out))
    trained, every = model.get_nb_trainable_parameters()
    return TuningReport(
        folder=str(out),
        model=str(folder),
        weights=spec.weights,
        plan=plan,
        examples=len(found.rows),
        shortened=found.shortened,
        left_out=found.left_out,
        losses=tuple(losses),
        trained=trained,
        all_parameters=every,
        seconds=time.perf_counter() - started,
    )


def _with_lora(base: PreTrainedModel, plan: LoraPlan) -> Any:
    config = LoraConfig(
        r=plan.rank,
        lora_alpha=plan.alpha,
        lora_dropout=plan.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    with warnings.catch_warnings():  # peft asks transformers for names that it will not keep
        warnings.simplefilter("ignore", FutureWarning)
        return get_peft_model(base, config)


def _rows(
    examples: Iterable[TuningExample],
    tokenizer: PreTrainedTokenizerBase,
    longest: int | None,
    name: str,
) -> _Rows:
    rows: list[_Row] = []
    shortened = left_out = 0
    end = tokenizer.eos_token_id
    for example in examples:
        label = tokenizer(example.label, add_special_tokens=False)["input_ids"]
        if not label:
            raise DataError(f"a label must have a token, got {example.label!r}")
        label = label if end is None else [*label, end]
        room = None if longest is None else longest - len(label)
        prompt = chat_tokens(tokenizer, example.messages, name)
        if room is not None and len(prompt) > room:
            shorter = (chat_tokens(tokenizer, each, name) for each in example.shorter)
            prompt = next((each for each in shorter if len(each) <= room), [])
            shortened += bool(prompt)
            left_out += not prompt
        if prompt:
            rows.append(_Row(prompt, label))
    if not rows:
        said = f"; {left_out} are longer than {longest} tokens" if left_out else ""
        raise DataError(f"there is no example to learn from{said}")
    return _Rows(rows, shortened, left_out)


def _fit(
    model: Any,
    rows: Sequence[_Row],
    plan: LoraPlan,
    progress: Callable[[TuningStep], None] | None,
) -> list[float]:
    """Train the parameters that require gradients; the mean loss per label token of each step."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=plan.learning_rate)
    order = np.random.default_rng(plan.seed)
    losses: list[float] = []
    steps = plan.epochs * -(-len(rows) // plan.batch)
    model.train()
    for _ in range(plan.epochs):
        for batch in _batches(rows, plan.batch, order):
            optimiser.zero_grad(set_to_none=True)
            loss = _accumulate(model, batch, plan.at_once)
            if not np.isfinite(loss):
                raise DataError(
                    f"the loss of step {len(losses) + 1} is {loss}: lower the learning rate"
                )
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            losses.append(loss)
            if progress is not None:
                progress(TuningStep(len(losses), steps, loss))
    model.eval()
    return losses


def _batches(
    rows: Sequence[_Row], size: int, order: np.random.Generator
) -> Iterable[Sequence[_Row]]:
    """All rows once: shuffled, and within a group of batches sorted by length."""
    shuffled = order.permutation(len(rows)).tolist()
    for start in range(0, len(shuffled), size * _GROUPED):
        group = sorted(
            shuffled[start : start + size * _GROUPED], key=lambda place: rows[place].length
        )
        batches = [group[at : at + size] for at in range(0, len(group), size)]
        for place in order.permutation(len(batches)).tolist():
            yield [rows[row] for row in batches[place]]


def _accumulate(model: Any, batch: Sequence[_Row], at_once: int) -> float:
    """Add the gradients of the mean loss per label token of `batch`; return that mean."""
    tokens = sum(len(row.label) for row in batch)
    total = 0.0
    for start in range(0, len(batch), at_once):
        loss = _summed_loss(model, batch[start : start + at_once]) / tokens
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    return total


def _summed_loss(model: Any, rows: Sequence[_Row]) -> Tensor:
    """The sum of the losses of all label tokens; rows are padded on the left."""
    device = model.device
    longest = max(row.length for row in rows)
    most = max(len(row.label) for row in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long, device=device)
    mask = torch.zeros_like(ids)
    labels = torch.full((len(rows), most), -100, dtype=torch.long, device=device)
    for number, row in enumerate(rows):
        ids[number, longest - row.length :] = torch.tensor([*row.prompt, *row.label])
        mask[number, longest - row.length :] = 1
        labels[number, most - len(row.label) :] = torch.tensor(row.label)
    places = (mask.cumsum(dim=1) - 1).clamp(min=0)
    more: dict[str, Any] = {**last_logits_only(model, most + 1)}
    if "position_ids" in inspect.signature(model.get_base_model().forward).parameters:
        more["position_ids"] = places  # or some models would count from the padding
    logits = model(input_ids=ids, attention_mask=mask, **more).logits
    wanted = logits[:, -most - 1 : -1].float()  # those that say each token of the labels
    return torch.nn.functional.cross_entropy(
        wanted.reshape(-1, wanted.shape[-1]), labels.reshape(-1), ignore_index=-100, reduction="sum"
    )
