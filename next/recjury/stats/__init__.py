"""Statistics that the whole house uses."""

from recjury.stats.draws import Array, Draws, interval
from recjury.stats.tests import holm, sign_flips

__all__ = ["Array", "Draws", "holm", "interval", "sign_flips"]
