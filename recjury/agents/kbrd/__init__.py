"""KBRD (Chen et al. 2019): recommending over a knowledge graph. Import the submodules: torch."""

__all__: list[str] = []
