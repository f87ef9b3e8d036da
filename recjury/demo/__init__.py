"""The campaign of `recjury demo`: `demo.yaml`, and the own system that takes part in it."""

from recjury.demo.popular import Popular

__all__ = ["Popular"]
