"""Training of the neural systems on a corpus, into a folder in the published form."""

from recjury.agents.neural.training.settings import Learned, Step, Training

__all__ = ["Learned", "Step", "Training"]
