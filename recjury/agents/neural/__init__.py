"""Code that the neural systems share: weights, tokens, BART. Import its submodules."""

__all__: list[str] = []
