"""How work grows with its input: for inputs made to be hard, never for performance targets."""

import gc
import time
from collections.abc import Callable


def grows_linearly(work: Callable[[int], object], times: int = 4) -> bool:
    """Whether `times` the input takes about `times` as long; `work` is called with 1 and `times`.

    The best of two to five runs of each, in processor time and without garbage collection, so that
    a busy machine does not matter; quadratic work would take `times` squared.
    """
    small, large = _seconds(work, 1), _seconds(work, times)
    for _ in range(4):
        small, large = min(small, _seconds(work, 1)), min(large, _seconds(work, times))
        if large < small * times * (1 + times) / 2 + 0.05:
            return True
    return False


def _seconds(work: Callable[[int], object], size: int) -> float:
    gc.disable()
    try:
        start = time.process_time()
        work(size)
        return time.process_time() - start
    finally:
        gc.enable()
