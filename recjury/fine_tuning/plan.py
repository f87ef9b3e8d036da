"""What is learned, how, and what came of it."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import Field

from recjury.records import JSON, Message, Record


class TuningExample(NamedTuple):
    """A prompt, and the reply to learn.

    `shorter` are prompts of the same meaning with less text, the longest first. The first one that
    the model can read whole is taken in place of `messages`, if that is too long.
    """

    messages: tuple[Message, ...]
    label: str
    shorter: Iterable[tuple[Message, ...]] = ()


class LoraPlan(Record):
    """How an adapter is trained; by default as PairEval's (Park et al. 2024, section 4.1).

    `rank` and `alpha` are LoRA's r and alpha, on all linear layers but the output's. AdamW takes a
    step for each `batch` of examples, of which `at_once` are in memory at a time; the learning rate
    stays as it is. `longest` is the most tokens of an example, by default those of the model's
    context. `device` and `dtype` are as for a model with `provider: transformers`; "nf4" loads the
    model's weights in 4 bits, and needs a GPU and the package bitsandbytes.
    """

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=8, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    learning_rate: float = Field(default=1e-4, gt=0, allow_inf_nan=False)
    epochs: int = Field(default=1, ge=1)
    batch: int = Field(default=16, ge=1)
    at_once: int = Field(default=4, ge=1)
    longest: int | None = Field(default=None, ge=8)
    seed: int = Field(default=0, ge=0)
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16", "nf4"] = "auto"


class TuningStep(NamedTuple):
    """A step that was taken: its number from 1, how many there are, and its mean loss per token."""

    number: int
    steps: int
    loss: float


class TuningReport(Record):
    """An adapter that was trained: its folder, the model, and the loss of each step.

    `shortened` examples took one of their shorter prompts; `left_out` were too long even so.
    `trained` and `all_parameters` count parameters. `notes` say where the examples are from.
    """

    folder: str
    model: str
    weights: str
    plan: LoraPlan
    examples: int
    shortened: int
    left_out: int
    losses: tuple[float, ...]
    trained: int
    all_parameters: int
    seconds: float
    notes: dict[str, JSON] = Field(default_factory=dict)

    @property
    def first_loss(self) -> float:
        """The mean loss of the first tenth of the steps."""
        return _mean(self.losses[: self._tenth])

    @property
    def last_loss(self) -> float:
        """The mean loss of the last tenth of the steps."""
        return _mean(self.losses[-self._tenth :])

    @property
    def _tenth(self) -> int:
        return max(1, len(self.losses) // 10)


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)
