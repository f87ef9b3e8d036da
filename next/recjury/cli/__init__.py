"""The commands."""

from recjury.cli import demo, judging, replaying, running, stores
from recjury.cli.app import main

__all__ = ["demo", "judging", "main", "replaying", "running", "stores"]
