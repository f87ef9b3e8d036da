"""The papers' tables beside one's own, FACE's optimiser, and trainings of judges."""
