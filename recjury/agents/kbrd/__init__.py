"""KBRD (Chen et al., 2019): recommendation with a knowledge graph. Import its submodules
(torch)."""

__all__: list[str] = []
