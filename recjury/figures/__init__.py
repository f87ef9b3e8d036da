"""Figures as SVG, for pages and for files; what they show is up to the rooms above."""

from recjury.figures.svg import INK, PALETTE, draw, save

__all__ = ["INK", "PALETTE", "draw", "save"]
