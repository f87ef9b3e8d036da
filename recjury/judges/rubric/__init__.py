"""Criteria of one's own, from a YAML file, judged like the twelve."""
