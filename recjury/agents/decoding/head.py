"""From states to the scores of all tokens."""

import torch
from torch import Tensor
from torch.nn import functional

# So many tokens at a time stay in the processor's cache while several rows are scored against
# them, which takes a third less time than all 50,000 at once.
_PIECE = 1024


class Head:
    """The weights that score tokens: [vocabulary, width]."""

    def __init__(self, weight: Tensor):
        """Take the weights; nothing is copied."""
        self.weight = weight
        self._pieces = torch.split(weight, _PIECE)

    def __call__(self, states: Tensor, bias: Tensor | None = None) -> Tensor:
        """[rows, width] to new scores [rows, vocabulary], plus `bias` [rows or 1, vocabulary]."""
        if len(states) == 1 or states.is_cuda:
            scores = functional.linear(states, self.weight)
        else:
            scores = torch.cat([functional.linear(states, each) for each in self._pieces], 1)
        return scores if bias is None else scores.add_(bias)
