"""Searches for an input that breaks a property, for a fixed time.

The seeds are the same in every run, so a build fails where the one before failed. Another search
is begun with RECJURY_SEED, and a longer one with RECJURY_SECONDS (for each property). What a search
finds is kept as an `@example` of its property.
"""

import itertools
import os
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, seed, settings

_SECONDS = float(os.environ.get("RECJURY_SECONDS", "6"))
_SEED = int(os.environ.get("RECJURY_SEED", "0"))
_A_ROUND = settings(
    max_examples=50,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def for_a_while(holds: Callable[..., None]) -> Callable[[], None]:
    """A slow test of `holds`, a function with `@given` and `@example`, in rounds of 50 inputs."""
    a_round = _A_ROUND(holds)

    def search() -> None:
        end = time.monotonic() + _SECONDS
        for number in itertools.count(_SEED):
            seed(number)(a_round)()
            if time.monotonic() > end:
                return

    search.__name__, search.__doc__ = holds.__name__, holds.__doc__
    slow: Callable[[], None] = pytest.mark.slow(search)
    return slow
