"""The log-probabilities of whole words or phrases as the reply of a model in this process."""

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

_WRITTEN = ("", " ")  # models write a word with or without a space before it


def choice_scores(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompt: Tensor,
    choices: Sequence[str],
    check_length: Callable[[int], None],
) -> list[float]:
    """The log-probability of each of `choices` after `prompt`, [1, tokens].

    That of a choice is the sum over its tokens; with and without a space before it are added up.
    The prompt is read once. `check_length` is called with the tokens of the longest text, and may
    raise.
    """
    forms = [_token_forms(tokenizer, choice) for choice in choices]
    longest = max(len(tokens) for each in forms for tokens in each)
    check_length(prompt.shape[1] + longest)
    with torch.inference_mode():
        read = model(prompt, use_cache=longest > 1, **last_logits_only(model))
        first = torch.log_softmax(read.logits[0, -1].float(), dim=-1)
        cache = read.cache if longest > 1 else None
        return [
            float(
                torch.logsumexp(
                    torch.stack([_score(model, first, cache, tokens) for tokens in each]), dim=0
                )
            )
            for each in forms
        ]


def last_logits_only(model: PreTrainedModel, count: int = 1) -> dict[str, int]:
    """The argument by which a model makes logits of its last `count` places alone, if it has it:
    those of a long prompt take more memory than all else."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    is_taken = "logits_to_keep" in inspect.signature(base.forward).parameters
    return {"logits_to_keep": count} if is_taken else {}


def _token_forms(tokenizer: PreTrainedTokenizerBase, choice: str) -> list[tuple[int, ...]]:
    """The ways in which the choice may be written, as tokens; each once."""
    written = (tokenizer(before + choice, add_special_tokens=False) for before in _WRITTEN)
    return list(dict.fromkeys(tuple(each["input_ids"]) for each in written))


def _score(model: PreTrainedModel, first: Tensor, cache: Any, tokens: tuple[int, ...]) -> Tensor:
    score = first[tokens[0]]
    if len(tokens) == 1:
        return score
    ids = torch.tensor([tokens], device=first.device)
    # The model adds to the cache that it is given.
    logits = model(ids[:, :-1], cache=copy.deepcopy(cache), use_cache=True).logits[0]
    steps = torch.log_softmax(logits.float(), dim=-1)
    return score + steps.gather(1, ids[0, 1:, None]).sum()
