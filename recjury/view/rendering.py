"""Templates into pages: one environment, in which every text stays text."""

import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from recjury.results.sentences import advice, interval, p_text, shown, signed
from recjury.view.axes import step_of

STATIC = Path(__file__).parent / "static"
"""The folder of the style sheet and the script."""


class Page(NamedTuple):
    """What a page shows: the name of its template, and the template's values."""

    template: str
    values: dict[str, Any]


def render(page: Page) -> str:
    """The page as HTML."""
    return _environment().get_template(page.template).render(page.values)


def encoded(html: str) -> bytes:
    """A page as UTF-8; a lone surrogate, which has no UTF-8, is shown as a question mark."""
    return html.encode("utf-8", "replace")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "advice": advice,
        "g": "{:g}".format,
        "interval": interval,
        "p": lambda p: "" if math.isnan(p) else p_text(p),
        "score": shown,
        "short": lambda score: f"{round(score, 2):g}",
        "signed": signed,
        "step": step_of,
    }
    return environment
