"""Training of neural systems: one loop for all of them, and their reports. Import its
submodules."""

__all__: list[str] = []
