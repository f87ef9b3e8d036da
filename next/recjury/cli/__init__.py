"""The commands."""

from recjury.cli import comparing, demo, judging, replaying, running, stores
from recjury.cli.app import main

__all__ = ["comparing", "demo", "judging", "main", "replaying", "running", "stores"]
