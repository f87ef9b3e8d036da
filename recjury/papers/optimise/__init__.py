"""FACE's optimiser: instructions that agree with people's labels (section 2.3, algorithms 1, 2)."""

from recjury.papers.optimise.search import FaceTraining
from recjury.papers.optimise.train import Optimisation, optimise

__all__ = ["FaceTraining", "Optimisation", "optimise"]
