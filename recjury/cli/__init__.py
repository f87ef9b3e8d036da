"""The commands."""

from recjury.cli import (
    aligning,
    annotating,
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
    viewing,
)
from recjury.cli.app import main

__all__ = [
    "aligning",
    "annotating",
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
    "viewing",
]
