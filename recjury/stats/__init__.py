"""Statistics over arrays, without any state."""

from recjury.stats.comparison import MeanDifference, holm, paired, unpaired

__all__ = ["MeanDifference", "holm", "paired", "unpaired"]
