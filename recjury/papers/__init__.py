"""The tables and figures of the four papers, as analyses, and their trainings."""

__all__: list[str] = []
