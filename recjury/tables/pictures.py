"""Figures as files: SVG, and PNG and PDF with the extra `plots`."""

from importlib.util import find_spec

from recjury.errors import ConfigError
from recjury.tables.figure import Figure
from recjury.tables.svg import svg

PICTURES = (".svg", ".png", ".pdf")
"""The endings of pictures."""


def check_ending(ending: str) -> None:
    """Raise ConfigError for an ending of no picture, or that needs the extra `plots`."""
    if ending not in PICTURES:
        raise ConfigError(f"a picture ends in {', '.join(PICTURES)}, got {ending}")
    if ending != ".svg" and find_spec("vl_convert") is None:
        raise ConfigError(f"pictures that end in {ending} need pip install 'recjury[plots]'")


def picture(figure: Figure, ending: str = ".svg") -> bytes:
    """The figure as a file's content, black on white. Raises ConfigError like `check_ending`."""
    check_ending(ending)
    start, more = svg(figure).split("\n", 1)
    start = start.replace("<svg ", '<svg font-family="sans-serif" ', 1)
    source = f'{start}\n<rect width="100%" height="100%" fill="#ffffff"/>\n{more}\n'
    if ending == ".svg":
        return source.encode()
    import vl_convert

    draw = vl_convert.svg_to_pdf if ending == ".pdf" else vl_convert.svg_to_png
    return bytes(draw(source, scale=1 if ending == ".pdf" else 3))
