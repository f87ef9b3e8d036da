"""BARCOR (Wang et al. 2022): one BART to recommend, one to speak. Import the submodules."""

__all__: list[str] = []
