"""Tests of recjury from Python."""
