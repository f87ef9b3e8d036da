"""Writes docs/reference from the code: `python -m docs.generator`, as `make docs` does."""

from docs.generator.pages import pages, write

__all__ = ["pages", "write"]
