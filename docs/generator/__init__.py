"""Writes docs/reference from the code: `python -m docs.generator`, as `make docs` does."""

from docs.generator.commands import helps
from docs.generator.pages import HELP, pages, write

__all__ = ["HELP", "helps", "pages", "write"]
