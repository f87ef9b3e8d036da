"""The commands."""

from recjury.cli import (
    comparing,
    demo,
    doctor,
    judging,
    replaying,
    reporting,
    running,
    starting,
    stores,
    training,
)
from recjury.cli.app import main

__all__ = [
    "comparing",
    "demo",
    "doctor",
    "judging",
    "main",
    "replaying",
    "reporting",
    "running",
    "starting",
    "stores",
    "training",
]
