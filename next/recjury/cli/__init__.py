"""The commands."""

from recjury.cli import demo, replaying, running, stores
from recjury.cli.app import main

__all__ = ["demo", "main", "replaying", "running", "stores"]
