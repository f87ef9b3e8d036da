"""G-Eval: a model writes its own steps, and fills in a form (Liu et al. 2023)."""
