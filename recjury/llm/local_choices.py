"""The log-probabilities of whole words or phrases as the reply of a model in this process."""

from collections.abc import Callable, Sequence

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
    `check_length` is called with the tokens of the longest text, and may raise.
    """
    forms = [_token_forms(tokenizer, choice) for choice in choices]
    length = prompt.shape[1]
    check_length(length + max(len(tokens) for each in forms for tokens in each))
    with torch.inference_mode():
        first = torch.log_softmax(model(prompt).logits[0, -1].float(), dim=-1)
        return [
            float(
                torch.logsumexp(
                    torch.stack([_score(model, prompt, first, tokens) for tokens in each]), dim=0
                )
            )
            for each in forms
        ]


def _token_forms(tokenizer: PreTrainedTokenizerBase, choice: str) -> list[tuple[int, ...]]:
    """The ways in which the choice may be written, as tokens; each once."""
    written = (tokenizer(before + choice, add_special_tokens=False) for before in _WRITTEN)
    return list(dict.fromkeys(tuple(each["input_ids"]) for each in written))


def _score(
    model: PreTrainedModel, prompt: Tensor, first: Tensor, tokens: tuple[int, ...]
) -> Tensor:
    score = first[tokens[0]]
    if len(tokens) == 1:
        return score
    ids = torch.tensor([tokens], device=prompt.device)
    logits = model(torch.cat((prompt, ids[:, :-1]), dim=1)).logits[0, prompt.shape[1] :]
    steps = torch.log_softmax(logits.float(), dim=-1)
    return score + steps.gather(1, ids[0, 1:, None]).sum()
