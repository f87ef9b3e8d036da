"""Statistics that the whole house uses."""

from recjury.stats.draws import Draws, interval

__all__ = ["Draws", "interval"]
