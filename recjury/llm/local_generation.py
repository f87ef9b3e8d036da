"""Replies of a causal language model on this machine, by `transformers`."""

import hashlib
import threading
import warnings
from typing import Any, cast

import psutil
import torch
from safetensors import SafetensorError
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteria,
    StoppingCriteriaList,
)
from transformers.utils.logging import disable_progress_bar

from recjury.errors import CallFailed, ConfigError, PromptTooLong, ProviderError
from recjury.llm.chat_tokens import chat_tokens
from recjury.llm.local_choices import choice_scores
from recjury.llm.local_spec import LocalSpec
from recjury.llm.provider import Completion, LogProbs
from recjury.plugins.extras import require_fine_tuning, require_packages
from recjury.records import ChatRequest, Choice, ChoiceForm

_LENGTH_WARNING = "sequence-length-is-longer-than-the-specified-maximum"
_OWN_LIMIT = 1024  # tokens of a reply if neither the request nor the model has a limit


def load_tokenizer(spec: LocalSpec) -> PreTrainedTokenizerBase:
    """The tokenizer in the model's folder. Raises ProviderError if it cannot be read."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(spec.folder, local_files_only=True)
        # It would be printed for a prompt that is too long; those are found by their length.
        tokenizer.deprecation_warnings[_LENGTH_WARNING] = True
        return cast("PreTrainedTokenizerBase", tokenizer)
    except (OSError, ValueError, KeyError) as error:
        raise _load_error(spec, "tokenizer", error) from error


def load_model(spec: LocalSpec) -> "LocalModel":
    """The model, with its adapter, on its device. Raises ProviderError if it cannot be loaded."""
    tokenizer = load_tokenizer(spec)
    model = load_weights(spec)
    if spec.adapter is not None:
        model = _with_adapter(model, spec)
    return LocalModel(spec.name, model.eval(), tokenizer, spec)


def load_weights(spec: LocalSpec) -> PreTrainedModel:
    """The model without its adapter, on its device. Raises ProviderError if it cannot be loaded,
    and ConfigError if a package for 4 bits is missing."""
    disable_progress_bar()  # it would be drawn into the command line's own progress
    device = _device(spec.device)
    options: dict[str, Any] = {"dtype": spec.dtype}
    if spec.dtype == "nf4":
        options = _four_bits(device)
    try:
        model = AutoModelForCausalLM.from_pretrained(spec.folder, local_files_only=True, **options)
        return cast("PreTrainedModel", model if spec.dtype == "nf4" else model.to(device))
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise _load_error(spec, "model", error) from error


def _four_bits(device: torch.device) -> dict[str, Any]:
    """The options that load weights as 4-bit normal floats (Dettmers et al. 2023)."""
    from transformers import BitsAndBytesConfig

    require_packages("dtype: nf4", ("bitsandbytes",), "pip install bitsandbytes")
    if device.type != "cuda":
        raise ConfigError(f"dtype: nf4 needs a GPU, and the device is {device}: choose another one")
    plan = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return {"dtype": torch.bfloat16, "quantization_config": plan, "device_map": {"": device}}


def _with_adapter(model: PreTrainedModel, spec: LocalSpec) -> PreTrainedModel:
    require_fine_tuning("a model with an adapter")
    from peft import PeftModel

    try:
        with warnings.catch_warnings():  # peft asks transformers for names that it will not keep
            warnings.simplefilter("ignore", FutureWarning)
            tuned = PeftModel.from_pretrained(model, str(spec.adapter_folder))
        return cast("PreTrainedModel", tuned)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise _load_error(spec, "adapter", error) from error


def free_memory(device: str) -> int | None:
    """Bytes that are free on a device; None if it does not say.

    Raises ProviderError for a device that torch does not know or that is not there.
    """
    try:
        found = _device(device)
        if found.type == "cuda":
            return int(torch.cuda.mem_get_info(found)[0])
    except (RuntimeError, AssertionError) as error:
        raise ProviderError(f"device {device!r} cannot be used: {_first_line(error)}") from error
    return int(psutil.virtual_memory().available) if found.type == "cpu" else None


class LocalModel:
    """A loaded model and its tokenizer. Its methods block, and are called by one thread."""

    def __init__(
        self,
        name: str,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        spec: LocalSpec,
    ):
        """`name` is for messages."""
        self._name = name
        self._model = model
        self._tokenizer = tokenizer
        self._spec = spec

    def complete(self, request: ChatRequest, cancelled: threading.Event) -> Completion:
        """The reply, or `request.n` of them; generation ends early when `cancelled` is set.

        Sampling is seeded by the request. If log-probabilities of a `ChoiceForm` are asked for,
        nothing is generated: each choice is scored as a whole, however many tokens it has, and the
        reply is the likeliest.

        Raises CallFailed (permanent) for a prompt that the chat template refuses, and PromptTooLong
        for one that leaves no room for a reply.
        """
        prompt = self._prompt(request)
        if isinstance(request.form, ChoiceForm) and request.top_logprobs is not None:
            return self._choose(prompt, request.form.choices)
        room = self._room(prompt, request)
        generated, logits = self._generate(prompt, request, room, cancelled)
        if cancelled.is_set():
            raise CallFailed(f"{self._name}: cancelled")
        replies = [self._ended(row) for row in generated[:, prompt.shape[1] :]]
        first, *further = replies
        logprobs: LogProbs = ()
        if request.top_logprobs is not None:
            logprobs = self._logprobs(first, logits, request.top_logprobs)
        return Completion(
            text=self._text(first),
            finish_reason=self._reason(first, room),
            model=self._name,
            prompt_tokens=int(prompt.shape[1]),
            completion_tokens=sum(len(each) for each in replies),
            logprobs=logprobs,
            further=tuple(Choice(self._text(each), self._reason(each, room)) for each in further),
        )

    def _choose(self, prompt: Tensor, choices: tuple[str, ...]) -> Completion:
        self._check_context(int(prompt.shape[1]) + 1)
        scores = choice_scores(self._model, self._tokenizer, prompt, choices, self._check_context)
        ranked = sorted(zip(choices, scores, strict=True), key=lambda pair: -pair[1])
        best, score = ranked[0]
        return Completion(
            text=best,
            model=self._name,
            prompt_tokens=int(prompt.shape[1]),
            completion_tokens=1,
            logprobs=((best, score, tuple(ranked)),),
        )

    def _prompt(self, request: ChatRequest) -> Tensor:
        """The prompt's tokens, [1, tokens]."""
        ids = chat_tokens(self._tokenizer, request.messages, self._name)
        return torch.tensor([ids], device=self._model.device)

    def _room(self, prompt: Tensor, request: ChatRequest) -> int:
        """The most tokens of the reply."""
        wanted = self._spec.sent_limit(request) or _OWN_LIMIT
        self._check_context(int(prompt.shape[1]) + 1)
        context = context_length(self._model)
        return wanted if context is None else min(wanted, context - int(prompt.shape[1]))

    def _check_context(self, tokens: int) -> None:
        """Raise PromptTooLong if the model cannot read so many."""
        context = context_length(self._model)
        if context is not None and tokens > context:
            said = f"{self._name}: the prompt has {tokens - 1} tokens, the model {context}"
            raise PromptTooLong(said)

    def _generate(
        self, prompt: Tensor, request: ChatRequest, room: int, cancelled: threading.Event
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Token ids of prompt and reply, [n, tokens], and the logits of each step, [n, vocabulary].

        The logits are those before temperature.
        """
        chosen = self._spec.temperature
        temperature = request.temperature if chosen is None else chosen
        options: dict[str, Any] = {"do_sample": temperature > 0, "max_new_tokens": room}
        if temperature > 0:
            options |= {"temperature": temperature, "top_p": 1.0, "top_k": 0}
        devices = [self._model.device] if self._model.device.type == "cuda" else []
        with torch.random.fork_rng(devices), torch.inference_mode():
            torch.manual_seed(_seed(request))
            generated = self._model.generate(
                prompt.repeat(request.n, 1),
                attention_mask=torch.ones_like(prompt).repeat(request.n, 1),
                pad_token_id=self._end[0] if self._end else 0,
                stopping_criteria=StoppingCriteriaList([_Cancelled(cancelled)]),
                return_dict_in_generate=True,
                output_logits=request.top_logprobs is not None,
                **options,
            )
        return generated.sequences, generated.logits or ()

    @property
    def _end(self) -> list[int]:
        """The tokens that end a reply."""
        found = self._model.generation_config.eos_token_id
        if found is None:
            found = self._tokenizer.eos_token_id
        return [] if found is None else [found] if isinstance(found, int) else list(found)

    def _ended(self, row: Tensor) -> list[int]:
        """A reply's tokens, up to and including the one that ends it; padding is left out."""
        tokens: list[int] = row.tolist()
        for place, token in enumerate(tokens):
            if token in self._end:
                return tokens[: place + 1]
        return tokens

    def _reason(self, tokens: list[int], room: int) -> str:
        ended = bool(tokens) and tokens[-1] in self._end
        return "stop" if ended or len(tokens) < room else "length"

    def _text(self, tokens: list[int]) -> str:
        return cast("str", self._tokenizer.decode(tokens, skip_special_tokens=True))

    def _logprobs(self, tokens: list[int], logits: tuple[Tensor, ...], top: int) -> LogProbs:
        """For each token of the first reply: its text, its log-probability and the `top` ones'."""
        found = []
        for token, step in zip(tokens, logits, strict=False):
            scores = torch.log_softmax(step[0].float(), dim=-1)
            best = torch.topk(scores, top) if top else None
            others = [] if best is None else zip(best[1].tolist(), best[0].tolist(), strict=True)
            found.append(
                (
                    self._tokenizer.decode([token]),
                    float(scores[token]),
                    tuple((self._tokenizer.decode([other]), value) for other, value in others),
                )
            )
        return tuple(found)


class _Cancelled(StoppingCriteria):  # type: ignore[misc]
    """Ends all replies when the caller has gone."""

    def __init__(self, cancelled: threading.Event):
        self._cancelled = cancelled

    def __call__(self, input_ids: Tensor, scores: Tensor, **kwargs: object) -> Tensor:  # noqa: ARG002
        return torch.full((input_ids.shape[0],), self._cancelled.is_set(), device=input_ids.device)


def context_length(model: PreTrainedModel) -> int | None:
    """The most tokens that a model can read and write together; None if it does not say."""
    found = getattr(model.config, "max_position_embeddings", None)
    return None if found is None else int(found)


def _seed(request: ChatRequest) -> int:
    """A seed derived from what distinguishes a request from others."""
    known = (request.messages, request.temperature, request.sample, request.attempt, request.room)
    return int.from_bytes(hashlib.sha256(repr(known).encode()).digest()[:7])


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def _load_error(spec: LocalSpec, what: str, error: Exception) -> ProviderError:
    said = f"model {spec.name}: its {what} cannot be loaded: {_first_line(error)}"
    return ProviderError(said)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
