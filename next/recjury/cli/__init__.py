"""The commands."""

from recjury.cli import replaying, running, stores
from recjury.cli.app import main

__all__ = ["main", "replaying", "running", "stores"]
