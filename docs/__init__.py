"""The documentation, and what writes the reference."""
