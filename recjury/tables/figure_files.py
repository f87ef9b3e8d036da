"""Figures as files: SVG, and PNG and PDF with the extra `plots`."""

import re
from pathlib import Path

from recjury.errors import ConfigError, DataError

_FORMS = (".svg", ".png", ".pdf")
_START = re.compile(r"<svg (.*?)>")
_ALONE = r"""<svg font-family="sans-serif" \1>
<rect width="100%" height="100%" fill="#ffffff"/>"""
"""The start of a figure outside a page: black on white, where viewers may be dark."""


def save(svg: str, path: Path) -> Path:
    """Write a drawn figure as SVG, PNG or PDF by the ending, black on white.

    The folder is made if it is missing. Raises ConfigError for other endings and without the extra
    `plots`, DataError if the file cannot be written.
    """
    content = _content(_START.sub(_ALONE, svg, count=1), path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=path) from None
    return path


def _content(svg: str, path: Path) -> bytes:
    form = path.suffix.lower()
    if form not in _FORMS:
        raise ConfigError(f"{path.name}: a figure's name ends in {', '.join(_FORMS)}")
    if form == ".svg":
        return f"{svg}\n".encode()
    try:
        import vl_convert
    except ImportError:
        raise ConfigError(f"{path.name} needs vl-convert: pip install 'recjury[plots]'") from None
    return bytes(vl_convert.svg_to_pdf(svg) if form == ".pdf" else vl_convert.svg_to_png(svg, 3))
