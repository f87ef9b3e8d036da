"""The commands."""

from recjury.cli import (
    comparing,
    demo,
    doctor,
    judging,
    replaying,
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
    "running",
    "starting",
    "stores",
    "training",
]
