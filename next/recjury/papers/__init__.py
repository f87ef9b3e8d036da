"""The papers' tables beside one's own, FACE's optimiser, and trainings of judges."""

from recjury.papers.optimise import FaceTraining, Optimised, optimise
from recjury.papers.recipes import Data, Recipe, judge_file, listed, shown
from recjury.papers.trainers import TRAINERS, trained

__all__ = [
    "TRAINERS",
    "Data",
    "FaceTraining",
    "Optimised",
    "Recipe",
    "judge_file",
    "listed",
    "optimise",
    "shown",
    "trained",
]
