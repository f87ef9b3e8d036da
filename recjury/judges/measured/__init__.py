"""Judges without a model: each counts what its factor's rubric counts, and lists what it found."""

from recjury.judges.measured.panel import MEASURED, RUBRIC, MeasuredPanel

__all__ = ["MEASURED", "RUBRIC", "MeasuredPanel"]
