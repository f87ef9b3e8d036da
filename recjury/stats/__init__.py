"""Statistics: the cluster bootstrap, correlations, tests of differences, agreement of raters."""

from recjury.stats.correlations import (
    Coefficient,
    Correlations,
    coefficients,
    correlations,
    rounded,
)
from recjury.stats.draws import FEWEST_CLUSTERS, Array, Draws, interval
from recjury.stats.people import krippendorff_alpha, one_against_the_rest
from recjury.stats.tests import holm, sign_flips

__all__ = [
    "FEWEST_CLUSTERS",
    "Array",
    "Coefficient",
    "Correlations",
    "Draws",
    "coefficients",
    "correlations",
    "holm",
    "interval",
    "krippendorff_alpha",
    "one_against_the_rest",
    "rounded",
    "sign_flips",
]
