"""FACE: particles, instructions, and scores that can be traced (paper 000)."""
