"""A cache by text that does not keep long texts alive."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

Ts = TypeVarTuple("Ts")
R = TypeVar("R")

_LONGEST = 4000  # characters; turns are shorter, but for those that are not meant to be read


def cached_by_text(texts: int) -> Callable[[Callable[[*Ts], R]], Callable[[*Ts], R]]:
    """Remember the results of a function for the last `texts` arguments, unless one is long."""

    def cached(function: Callable[[*Ts], R]) -> Callable[[*Ts], R]:
        remembered = lru_cache(texts)(function)

        @wraps(function)
        def call(*given: *Ts) -> R:
            is_long = any(isinstance(each, str) and len(each) > _LONGEST for each in given)
            return (function if is_long else remembered)(*given)

        return call

    return cached
