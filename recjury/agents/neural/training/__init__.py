"""Training of the neural systems on a corpus, into a folder in the published form."""

from collections.abc import Mapping

from recjury.agents.neural.training.settings import Learned, Schedule, Step, Training
from recjury.agents.neural.training.train import train

TRAINERS: Mapping[str, type[Training]] = dict.fromkeys(("kbrd", "barcor", "unicrs"), Training)
"""The trainings by the kind of system."""

__all__ = ["TRAINERS", "Learned", "Schedule", "Step", "Training", "train"]
