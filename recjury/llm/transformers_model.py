"""A language model in this process, by transformers: for tests, small judges, one's own weights."""

import asyncio
import hashlib
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from recjury.errors import UserError
from recjury.keys import one_line
from recjury.llm.endpoint import messages_of
from recjury.llm.identity import with_code
from recjury.llm.models import Model
from recjury.llm.reading import spoken
from recjury.llm.remedies import AttemptError, Dialect, Remedy
from recjury.llm.weights import place_of
from recjury.records import Completion, EmbeddingShape, OddsShape, RatingShape, Request
from recjury.tasks import Batcher

if TYPE_CHECKING:
    from torch import Tensor

_TOGETHER = 8  # prompts that are answered at once
_LONGEST_REPLY = 1024  # tokens, where neither the request nor the model has a limit
_TOP = 20  # likely tokens at each place, as endpoints send them


class _Settings(NamedTuple):
    """What prompts must share to be answered at once."""

    temperature: float
    limit: int
    logprobs: bool


class _Question(NamedTuple):
    """One reply that is wanted: to which messages, how, and what its sampling begins with."""

    messages: list[dict[str, str]]
    settings: _Settings
    call: str


class TransformersModel:
    """The provider of one model. Its weights are loaded for the first call."""

    def __init__(self, model: Model):
        """Raises UserError for a missing package, folder or file."""
        _check(model)
        self._model = model
        self._loaded: _Loaded | None = None
        self._batcher = Batcher(self._answer, min(_TOGETHER, model.concurrency))

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        """One completion for each of `calls`. Raises AttemptError."""
        if isinstance(request.shape, EmbeddingShape):
            raise AttemptError(Remedy("stop", "provider transformers has no embeddings"))
        messages = messages_of(with_code(request, code), dialect)
        settings = self._settings(request)
        questions = [_Question(messages, settings, call) for call in calls]
        answers = await asyncio.gather(*map(self._batcher.ask, questions))
        for each in answers:
            if isinstance(each, Remedy):
                known = each.step in dialect
                raise AttemptError(Remedy("refused", each.reason) if known else each)
        return [each for each in answers if isinstance(each, Completion)]

    async def aclose(self) -> None:
        """Let go of the weights."""
        self._loaded = None

    def _settings(self, request: Request) -> _Settings:
        own = self._model.temperature
        logprobs = isinstance(request.shape, OddsShape) or (
            isinstance(request.shape, RatingShape) and request.shape.logprobs
        )
        return _Settings(
            request.temperature if own is None else own,
            request.max_tokens or self._model.max_tokens or _LONGEST_REPLY,
            logprobs,
        )

    def _answer(self, questions: Sequence[_Question]) -> list[Completion | Remedy]:
        """In the batcher's thread. What is wrong with one prompt leaves the others as they are."""
        try:
            if self._loaded is None:
                self._loaded = _Loaded(self._model)
            return self._loaded.answers(questions)
        except Exception as error:
            reason = one_line(error)
            if "memory" in reason.lower():
                reason += ": lower `concurrency`, or choose another `device` or `dtype`"
            return [Remedy("stop", reason)] * len(questions)


class _Loaded:
    """Weights and tokenizer, used by one thread at a time."""

    def __init__(self, model: Model):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.set_verbosity(50)  # what is wrong is raised
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self._settings, (folder, options) = model, _from(model)
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, **options)
        if self._tokenizer.chat_template is None:
            raise UserError("its tokenizer has no chat template: take one that was tuned for chat")
        weights: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=model.dtype, **options)
        if model.adapter:
            from peft import PeftModel

            adapter = str(place_of(model.adapter) or model.adapter)
            weights = PeftModel.from_pretrained(weights, adapter)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = weights.to(device if model.device == "auto" else model.device).eval()
        self._longest = getattr(self._model.config, "max_position_embeddings", sys.maxsize)

    def answers(self, questions: Sequence[_Question]) -> list[Completion | Remedy]:
        """The reply to each question, or what to do since there is none."""
        found: dict[str, Any] = {each.call: self._prompt(each) for each in questions}
        how_asked = attrgetter("settings")
        fit = [each for each in questions if isinstance(found[each.call], list)]
        for how, same in groupby(sorted(fit, key=how_asked), how_asked):
            calls = [each.call for each in same]
            seed = int.from_bytes(hashlib.sha256(calls[0].encode()).digest()[:7])
            done = self._generated([found[call] for call in calls], how, seed)
            found |= zip(calls, done, strict=True)
        return [found[each.call] for each in questions]

    def _prompt(self, question: _Question) -> "list[int] | Remedy":
        """The tokens up to where the reply begins."""
        try:
            tokens: list[int] = self._tokenizer.apply_chat_template(
                question.messages, add_generation_prompt=True, return_dict=False
            )
        except Exception as error:  # templates raise what they like, mostly about system messages
            reason = f"the chat template refuses the prompt: {one_line(str(error))}"
            return Remedy("change", reason, step="no system")
        if len(tokens) < self._longest:
            return tokens
        return Remedy("refused", f"the prompt has {len(tokens):,} of {self._longest:,} tokens")

    def _generated(self, prompts: Any, how: _Settings, seed: int) -> Iterator[Completion]:
        """One completion for each prompt; shorter ones are filled up on their left."""
        import torch

        longest = max(map(len, prompts))
        pad = self._tokenizer.pad_token_id or 0
        rows = [[pad] * (longest - len(each)) + each for each in prompts]
        mask = [[0] * (longest - len(each)) + [1] * len(each) for each in prompts]
        device = self._model.device
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices), torch.inference_mode():
            torch.manual_seed(seed)
            done = self._model.generate(
                torch.tensor(rows, device=device),
                attention_mask=torch.tensor(mask, device=device),
                pad_token_id=pad,
                max_new_tokens=min(how.limit, self._longest - longest),
                return_dict_in_generate=True,
                output_logits=how.logprobs,
                **_sampling(how.temperature),
                **self._settings.extra,
            )
        for number, prompt in enumerate(prompts):
            tokens, ended = self._until_its_end(done.sequences[number, longest:].tolist())
            steps = [step[number] for step in done.logits or ()]
            yield self._completion(tokens, len(prompt), steps, ended=ended)

    def _until_its_end(self, tokens: list[int]) -> tuple[list[int], bool]:
        """A reply without its end and what stands after it, and whether it has an end."""
        ends = self._model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends, self._tokenizer.eos_token_id]
        place = next((n for n, token in enumerate(tokens) if token in ends), None)
        return (tokens, False) if place is None else (tokens[:place], True)

    def _completion(
        self, tokens: list[int], prompt: int, steps: "list[Tensor]", *, ended: bool
    ) -> Completion:
        text, thoughts = spoken(self._tokenizer.decode(tokens, skip_special_tokens=True))
        return Completion(
            text,
            thoughts=thoughts,
            finish="stop" if ended else "length",
            logprobs=tuple(map(self._likely, tokens, steps)),
            tokens_in=prompt,
            tokens_out=len(tokens),
            cost=self._settings.cost(prompt, len(tokens)),
        )

    def _likely(self, token: int, logits: "Tensor") -> dict[str, Any]:
        """A token, and the likeliest at its place, as endpoints write them."""
        scores = logits.float().log_softmax(-1)
        values, tokens = scores.topk(min(_TOP, len(scores)))

        def each(token: int, score: float) -> dict[str, Any]:
            return {"token": self._tokenizer.decode([token]), "logprob": score}

        tops = [each(*pair) for pair in zip(tokens.tolist(), values.tolist(), strict=True)]
        return each(token, float(scores[token])) | {"top_logprobs": tops}


def _sampling(temperature: float) -> dict[str, Any]:
    """What the temperature means, without the limits that a model's folder may set for sampling."""
    if temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    return {"do_sample": True, "temperature": temperature, "top_p": 1.0, "top_k": 0}


def _from(model: Model) -> tuple[str, dict[str, str]]:
    """Where transformers loads from: a folder, a name on the hub, or a GGUF file in a folder."""
    place = place_of(model.name)
    if place is not None and place.suffix == ".gguf":
        return str(place.parent), {"gguf_file": place.name}
    return str(place or model.name), {}


def _check(model: Model) -> None:
    """Raise UserError for a missing package, folder or file."""
    is_gguf = model.name.endswith(".gguf")
    files = {model.name: "" if is_gguf else "config.json", model.adapter: "adapter_config.json"}
    for name, file in files.items():
        place = place_of(name) if name else None
        if place is not None and not (place / file).is_file():
            raise UserError(f"there is no file {place / file}")
    extras = {"torch": "recjury[neural]", "transformers": "recjury[neural]"}
    extras |= {"gguf": "gguf"} if is_gguf else {}
    extras |= {"peft": "recjury[fine-tuning]"} if model.adapter else {}
    for package, extra in extras.items():
        if find_spec(package) is None:
            raise UserError(f"{model.name}: {package} is missing: pip install '{extra}'")
