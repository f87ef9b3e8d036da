"""The commands."""

from recjury.cli.app import main

__all__ = ["main"]
