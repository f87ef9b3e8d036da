"""The papers' own figures, which stand beside what is computed here."""

import json
from importlib.resources import files
from typing import Any


def published(paper: str) -> dict[str, Any]:
    """The figures of `papers/{paper}/published/{paper}.json` by table."""
    text = files(f"recjury.papers.{paper}").joinpath("published", f"{paper}.json")
    found: dict[str, Any] = json.loads(text.read_text("utf-8"))
    return found
