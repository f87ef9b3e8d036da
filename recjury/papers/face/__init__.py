"""FACE: scores of particles, compared with people, explained, and optimised."""
