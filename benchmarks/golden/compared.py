"""What a comparison with golden vectors has found so far."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.golden.files import Golden

TOLERANCE = 1e-4
_LIST = 50


@dataclass
class Compared:
    """Differences from the reference: the largest error, lists, and texts."""

    golden: Golden
    max_abs_error: float = 0.0
    top50_equal: bool = True
    texts_equal: int = 0
    texts: int = 0

    @property
    def passed(self) -> bool:
        """Whether this is the reference's model: close numbers, equal lists and texts."""
        return (
            self.max_abs_error <= TOLERANCE
            and self.top50_equal
            and self.texts_equal == self.texts > 0
        )

    def array(self, name: str, ours: NDArray[np.float32]) -> None:
        """Compare with the reference's array of that name, if it has one."""
        expected = self.golden.arrays.get(name)
        if expected is None:
            return
        if expected.shape != ours.shape:
            self.max_abs_error = np.inf
        elif expected.size:
            error = np.abs(ours - expected).max()
            # A maximum with a NaN would keep the other number.
            self.max_abs_error = max(self.max_abs_error, np.inf if np.isnan(error) else error)

    def scores(self, case: int, ours: NDArray[np.float32], items: NDArray[np.int64]) -> None:
        """Compare the scores of all entities, and the best items by them.

        Where the reference gives all items one score, its order means nothing.
        """
        name = f"c{case}_rec_logits_all"
        self.array(name, ours)
        expected = self.golden.arrays[name][items]
        if np.ptp(expected) > 0:
            best = items[np.argsort(-ours[items], kind="stable")[:_LIST]]
            self.top50_equal &= best.tolist() == self.golden.cases[case]["top50"]

    def text(self, case: int, ours: str) -> None:
        """Compare what is said."""
        self.texts += 1
        self.texts_equal += ours == self.golden.cases[case]["text"]

    def report(self) -> dict[str, object]:
        """For JSON; an error that is not finite is null."""
        finite = bool(np.isfinite(self.max_abs_error))
        return {
            "max_abs_error": float(self.max_abs_error) if finite else None,
            "top50_equal": self.top50_equal,
            "texts_equal": [self.texts_equal, self.texts],
        }
