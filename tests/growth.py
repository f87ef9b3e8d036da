"""How work grows with its input: for inputs made to be hard, never for performance targets."""

import gc
import time
from collections.abc import Callable


def grows_linearly(work: Callable[[int], object], times: int = 4) -> bool:
    """Whether `times` the input takes about `times` as long; `work` is called with 1 and `times`.

    The best of five of each, in processor time and without garbage collection, so that a busy
    machine does not matter; quadratic work would take `times` squared.
    """
    gc.disable()
    try:
        small, large = (min(_seconds(work, size) for _ in range(5)) for size in (1, times))
    finally:
        gc.enable()
    return large < small * times * (1 + times) / 2 + 0.05


def _seconds(work: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    work(size)
    return time.process_time() - start
