"""The training loop: shuffled batches, AdamW, and validation, which decides the weights to keep."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.report import EpochReport, TrainingSteps
from recjury.errors import DataError
from recjury.tables import WorkProgress

_THREADS = 1  # parallel sums are added in another order each time
_GROUPED = 16  # batches that are sorted by length among themselves


class Objective(Protocol):
    """What one part of a system learns: a loss on its rows, and the figures that decide when to
    stop.

    `part` is "recommender" or "generator"; `lengths` are the lengths of its rows, so that rows of
    similar length share a batch.
    """

    part: str

    @property
    def lengths(self) -> Sequence[int]:
        """One number per training row."""

    def loss(self, rows: Sequence[int]) -> Tensor:
        """The mean loss of these rows, with a gradient."""

    def figures(self) -> Mapping[str, float]:
        """The figures on the rows that decide when to stop; called without gradients and
        dropout."""

    def quality(self, figures: Mapping[str, float]) -> float:
        """One number for the figures; the epoch with the highest number is kept."""


class Fitted(NamedTuple):
    """The epochs of a training, and the one whose weights the model now has."""

    epochs: tuple[EpochReport, ...]
    best: EpochReport


def fit(
    model: nn.Module,
    objective: Objective,
    plan: TrainingPlan,
    *,
    seed: int,
    progress: WorkProgress | None = None,
) -> Fitted:
    """Train the parameters of `model` that require gradients; it ends with the kept weights.

    Call it inside `reproducible`. Raises DataError if the loss or the figures are not finite
    numbers: then nothing more can be learnt or ranked.
    """
    progress = progress or WorkProgress()
    run = _Run(model, objective, plan, seed, progress)
    history: list[EpochReport] = []
    waited, best, kept = 0, None, {}
    for number in range(1, plan.epochs + 1):
        report = run.epoch(number)
        history.append(report)
        progress.say(report.line)
        if best is None or plan.last or report.quality > best.quality:
            best, waited = report, 0
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            waited += 1
        if waited >= plan.patience:
            break
    assert best is not None, "at least one epoch was trained"
    model.load_state_dict(kept)
    model.eval()
    return Fitted(tuple(history), best)


class _Run:
    """One training run: the optimiser, its schedule, and the order of the rows."""

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        plan: TrainingPlan,
        seed: int,
        progress: WorkProgress,
    ):
        self._model, self._objective, self._plan = model, objective, plan
        self._trained = [p for p in model.parameters() if p.requires_grad]
        self._optimiser = torch.optim.AdamW(
            self._trained, lr=plan.learning_rate, weight_decay=plan.weight_decay
        )
        self._order = np.random.default_rng(seed)
        self._lengths = np.array(objective.lengths)
        steps = -(-len(self._lengths) // plan.batch)
        self._steps = plan.epochs * steps
        self._at = TrainingSteps(objective.part, plan.epochs, steps, progress)

    def epoch(self, number: int) -> EpochReport:
        start = time.perf_counter()
        self._model.train()
        total = sum(self._learn(rows) * len(rows) for rows in self._batches())
        self._model.eval()
        with torch.no_grad():
            figures = dict(self._objective.figures())
        quality = self._objective.quality(figures)
        self._refuse_other_than_finite(quality)
        return EpochReport(
            part=self._objective.part,
            epoch=number,
            loss=total / max(1, len(self._lengths)),
            figures=figures,
            quality=quality,
            seconds=time.perf_counter() - start,
        )

    def _batches(self) -> Iterator[list[int]]:
        """All rows once: shuffled, and within a group of batches sorted by length."""
        shuffled = self._order.permutation(len(self._lengths))
        size = self._plan.batch
        for start in range(0, len(shuffled), size * _GROUPED):
            group = shuffled[start : start + size * _GROUPED]
            if self._lengths.min() < self._lengths.max():
                group = group[np.argsort(self._lengths[group], kind="stable")]
            batches = [group[i : i + size].tolist() for i in range(0, len(group), size)]
            yield from (batches[i] for i in self._order.permutation(len(batches)))

    def _learn(self, rows: Sequence[int]) -> float:
        for group in self._optimiser.param_groups:
            group["lr"] = self._plan.learning_rate * self._learning_rate_factor()
        self._optimiser.zero_grad(set_to_none=True)
        loss = self._objective.loss(rows)
        found = float(loss.detach())
        self._refuse_other_than_finite(found)
        loss.backward()  # type: ignore[no-untyped-call]
        if self._plan.clip is not None:
            nn.utils.clip_grad_norm_(self._trained, self._plan.clip)
        self._optimiser.step()
        self._at.step()
        return found

    def _refuse_other_than_finite(self, number: float) -> None:
        if not math.isfinite(number):
            raise DataError(
                f"the {self._objective.part}'s training failed after {self._at.done} steps: its "
                "loss or figures are no longer finite numbers; train with another seed"
            )

    def _learning_rate_factor(self) -> float:
        """The factor of the learning rate in this step, 0 to 1."""
        rising = self._plan.warm_up * self._steps
        if self._at.done < rising:
            return (self._at.done + 1) / rising
        return 1.0 - 0.9 * self._at.done / self._steps if self._plan.decay else 1.0


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Use one thread and a seeded generator; both are restored afterwards."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(_THREADS)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
