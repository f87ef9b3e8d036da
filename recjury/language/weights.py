"""The weights of the models in one file: small integers with scales, read once."""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = "weights.npz"

Floats = NDArray[np.float32]


class ModelWeights:
    """Arrays by name. An array "x" of int8 has its scales, one a column, in "x.scale"."""

    def __init__(self, arrays: Mapping[str, NDArray[np.generic]]):
        """`arrays` as `packed` returns them."""
        self._arrays = dict(arrays)
        self._plain: dict[str, Floats] = {}

    def __getitem__(self, name: str) -> Floats:
        """An array as floats."""
        if name not in self._plain:
            self._plain[name] = self._arrays[name].astype(np.float32)
        return self._plain[name]

    def rows(self, name: str, places: Sequence[int] | NDArray[np.int64]) -> Floats:
        """Some rows of a table of small integers, as floats."""
        picked = self._arrays[name][np.asarray(places, np.int64)]
        return np.asarray(picked.astype(np.float32) * self[f"{name}.scale"])

    def table(self, name: str) -> bytes:
        """A table of counts as bytes, which are indexed several times as fast as arrays."""
        return self._arrays[name].tobytes()

    @cached_property
    def pieces(self) -> list[str]:
        """The vocabulary of the token vectors, in order."""
        return self._arrays["pieces"].tobytes().decode().split("\n")


def read_weights(path: Path) -> ModelWeights:
    """The weights of a file."""
    with np.load(path) as arrays:
        return ModelWeights({name: arrays[name] for name in arrays.files})


@cache
def shipped() -> ModelWeights:
    """The weights of the package."""
    with resources.as_file(resources.files("recjury.language") / FILE) as path:
        return read_weights(path)
