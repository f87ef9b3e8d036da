"""Text of any origin made safe to show: without control characters, and cut to fit a page."""

import re
from typing import NamedTuple

# Control characters, lone surrogates, non-characters, and marks that change the direction of the
# text after them. They cannot be shown; some would break the page or misrepresent a text.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n")
_LINES = 40


class Excerpt(NamedTuple):
    """The beginning of a text; `whole` is its length in characters if it was cut, else None."""

    text: str
    whole: int | None


def excerpt(text: str, limit: int) -> Excerpt:
    """`text`, cut after `limit` characters or forty lines, with these characters replaced by �."""
    head = _BLANK_LINES.sub("\n\n", _UNFIT.sub("�", text[:limit].replace("\r", "\n")))
    lines = head.split("\n")
    was_cut = len(text) > limit or len(lines) > _LINES
    return Excerpt("\n".join(lines[:_LINES]), len(text) if was_cut else None)


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters, ending in … if it was cut."""
    flat = " ".join(_UNFIT.sub("�", text[: 2 * limit]).split())
    was_cut = len(flat) > limit or len(text) > 2 * limit
    return flat[: limit - 1] + "…" if was_cut else flat
