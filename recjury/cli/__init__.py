"""The front door: `recjury COMMAND`."""

from recjury.cli.main import main

__all__ = ["main"]
