"""Training neural systems: one loop for all of them, what it reports. Import the submodules."""

__all__: list[str] = []
