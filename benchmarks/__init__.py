"""Measurements, as ratios from one run: `python -m benchmarks.harness`."""
