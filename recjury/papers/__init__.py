"""The papers' tables beside one's own, FACE's optimiser, and trainings of judges."""

from recjury.papers.figures import draw
from recjury.papers.optimise import FaceTraining, Optimisation, optimise
from recjury.papers.recipes import Recipe, judge_file, show
from recjury.papers.trainers import TRAINERS, trained

__all__ = [
    "TRAINERS",
    "FaceTraining",
    "Optimisation",
    "Recipe",
    "draw",
    "judge_file",
    "optimise",
    "show",
    "trained",
]
