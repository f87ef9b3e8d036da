"""One loop for all trainings of judges: a LoRA adapter of a causal language model, by peft."""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from recjury.agents.neural.training import Schedule, Step
from recjury.errors import UserError
from recjury.llm import Dialect
from recjury.llm.endpoint import messages_of
from recjury.records import Message, Request

if TYPE_CHECKING:
    from torch import Tensor


class LoraTraining(Schedule):
    """A training of the model in the folder `model`; the defaults are PairEval's (section 4.1).

    `at_once` of a `batch` are computed together; prompts of more than `longest` tokens are left
    out, and `limit` takes the first so many examples. `out` must be new.
    """

    model: str
    out: str = Field(min_length=1)
    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=8, ge=1)
    dropout: float = Field(default=0.05, ge=0, lt=1)
    epochs: int = Field(default=1, ge=1)
    rate: float = Field(default=1e-4, gt=0)
    batch: int = Field(default=16, ge=1)
    at_once: int = Field(default=4, ge=1)
    longest: int = Field(default=2048, ge=1)
    dtype: str = "auto"
    seed: int = 0


class Lesson(NamedTuple):
    """A prompt as the judge asks it, and the word to reply with."""

    prompt: Sequence[Message]
    word: str


class Adapter(NamedTuple):
    """The adapter's folder, how many examples it learned, how many were too long, and the mean loss
    of a word's token over the first and the last tenth of the steps.
    """

    folder: Path
    learned: int
    too_long: int
    first_loss: float
    last_loss: float


Report = Callable[[Step], None]


def train(
    asked: LoraTraining, lessons: Iterable[Lesson], report: Report = lambda _: None
) -> Adapter:
    """Train an adapter and write it into `out`. Raises UserError.

    The loss is that of the words alone. `adapter` of a model with provider transformers reads it.
    """
    for package in ("torch", "transformers", "peft"):
        if find_spec(package) is None:
            raise UserError(f"{package} is missing: pip install 'recjury[neural,fine-tuning]'")
    if not (Path(asked.model) / "config.json").is_file():
        raise UserError(f"model: there is no file {Path(asked.model) / 'config.json'}")
    import torch

    with asked.new_folder() as folder, torch.random.fork_rng():
        torch.manual_seed(asked.seed)
        learner = _Learner(asked)
        rows = list(learner.rows(lessons))
        losses = list(learner.steps([row for row in rows if row], report))
        learner.model.save_pretrained(folder)
    some = math.ceil(len(losses) / 10)
    means = (sum(part) / some for part in (losses[:some], losses[-some:]))
    out = Path(asked.out).expanduser()
    return Adapter(out, len(rows) - rows.count(None), rows.count(None), *means)


class _Row(NamedTuple):
    prompt: list[int]
    word: list[int]


class _Learner:
    """A model with an adapter, and its tokenizer."""

    def __init__(self, asked: LoraTraining):
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._asked = asked
        self._tokenizer: Any = AutoTokenizer.from_pretrained(asked.model)
        if self._tokenizer.chat_template is None:
            raise UserError(f"{asked.model}: its tokenizer has no chat template")
        base: Any = AutoModelForCausalLM.from_pretrained(asked.model, dtype=asked.dtype)
        config = LoraConfig(
            r=asked.rank,
            lora_alpha=asked.alpha,
            lora_dropout=asked.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        with warnings.catch_warnings():  # peft asks transformers for names that it will not keep
            warnings.simplefilter("ignore", FutureWarning)
            self.model: Any = get_peft_model(base.to(asked.device), config)

    def rows(self, lessons: Iterable[Lesson]) -> Iterator[_Row | None]:
        """The tokens of each lesson; None for one that is too long."""
        end = self._tokenizer.eos_token_id
        for lesson in lessons:
            word = self._tokenizer(lesson.word, add_special_tokens=False)["input_ids"]
            row = _Row(self._prompt(lesson), [*word, *([] if end is None else [end])])
            yield row if len(row.prompt) + len(row.word) <= self._asked.longest else None

    def _prompt(self, lesson: Lesson) -> list[int]:
        """As a judge's prompt is sent; where a template refuses a system message, without one."""
        request = Request(tuple(lesson.prompt))
        dialects: tuple[Dialect, ...] = (frozenset(), frozenset({"no system"}))
        for dialect in dialects:
            try:
                tokens: Any = self._tokenizer.apply_chat_template(
                    messages_of(request, dialect), add_generation_prompt=True, return_dict=False
                )
            except Exception as error:  # templates raise what they like
                problem = error
            else:
                return list(tokens)
        raise UserError(f"{self._asked.model}: its chat template refuses the prompt: {problem}")

    def steps(self, rows: Sequence[_Row], report: Report) -> Iterator[float]:
        """Train; the loss of each step."""
        import torch

        if not rows:
            raise UserError(
                f"there is no example of at most {self._asked.longest} tokens: set `longest`"
            )
        asked, random = self._asked, Random(self._asked.seed)
        learned = [each for each in self.model.parameters() if each.requires_grad]
        optimiser = torch.optim.AdamW(learned, lr=asked.rate)
        total = asked.epochs * math.ceil(len(rows) / asked.batch)
        self.model.train()
        for step in range(total):
            place = step % math.ceil(len(rows) / asked.batch) * asked.batch
            if not place:
                order = random.sample(rows, len(rows))
            optimiser.zero_grad()
            loss = self._loss_of(order[place : place + asked.batch])
            if not math.isfinite(loss):
                raise UserError(f"the loss of step {step + 1} is {loss}: lower `rate`")
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            report(Step("batches", step + 1, total, loss))
            yield loss

    def _loss_of(self, batch: Sequence[_Row]) -> float:
        """Add the gradients of the mean loss of the words' tokens; that mean."""
        tokens, total = sum(len(row.word) for row in batch), 0.0
        for start in range(0, len(batch), self._asked.at_once):
            loss = self._summed_loss(batch[start : start + self._asked.at_once]) / tokens
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        return total

    def _summed_loss(self, rows: Sequence[_Row]) -> "Tensor":
        """The sum of the losses of the words' tokens; shorter rows are filled up on their right."""
        from torch import ones_like, tensor
        from torch.nn.utils.rnn import pad_sequence

        texts = [tensor(row.prompt + row.word) for row in rows]
        words = [tensor([-100] * len(row.prompt) + row.word) for row in rows]
        ids, mask, labels = (
            pad_sequence(each, batch_first=True, padding_value=fill).to(self.model.device)
            for each, fill in ((texts, 0), ([*map(ones_like, texts)], 0), (words, -100))
        )
        mean: Tensor = self.model(input_ids=ids, attention_mask=mask, labels=labels).loss
        return mean * sum(len(row.word) for row in rows)
