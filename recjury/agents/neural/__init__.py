"""What the neural systems share: weights, tokens, BART. Import the submodules."""

__all__: list[str] = []
