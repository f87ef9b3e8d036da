"""Training of the neural systems on a corpus, into a folder in the published form."""

from recjury.agents.neural.training.settings import Learned, Schedule, Step, Training
from recjury.agents.neural.training.train import train

__all__ = ["Learned", "Schedule", "Step", "Training", "train"]
