"""BARCOR (Wang et al., 2022): one BART recommends, another writes replies. Import its
submodules."""

__all__: list[str] = []
