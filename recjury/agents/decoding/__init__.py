"""Greedy generation for several rows at once, and the models that take the steps.

Import the submodules.
"""

__all__: list[str] = []
