"""What the neural systems share: weights, tokens, BART, greedy search. Import the submodules."""

__all__: list[str] = []
