"""Contexts in which tests prepare systems."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from recjury.agents import SystemContext
from recjury.knowledge import Catalogue
from recjury.llm import Gateway
from recjury.records import LIST_LENGTH


def around(
    catalogue: Catalogue,
    gateway: Gateway | None = None,
    *,
    list_length: int = LIST_LENGTH,
    cache: Path | None = None,
) -> SystemContext:
    """The context of systems that need a corpus's name and items alone."""
    corpus: Any = SimpleNamespace(name=catalogue.name, catalogue=catalogue)
    return SystemContext(corpus, gateway, list_length, cache)
