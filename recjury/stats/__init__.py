"""Pure statistics over arrays."""

from recjury.stats.comparison import Difference, holm, paired, unpaired
from recjury.stats.summary import Summary, summarise

__all__ = ["Difference", "Summary", "holm", "paired", "summarise", "unpaired"]
