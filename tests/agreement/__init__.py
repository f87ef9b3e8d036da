"""Tests of scores beside people."""
