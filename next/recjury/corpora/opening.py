"""Corpora by name."""

from collections.abc import Callable, Mapping

from recjury.corpora.corpus import Corpus
from recjury.corpora.sample import sample
from recjury.errors import UserError
from recjury.files import nearest

CORPORA: Mapping[str, Callable[[], Corpus]] = {"sample": sample}
"""The corpora that ship."""


def open_corpus(name: str) -> Corpus:
    """The corpus with that name. Raises UserError if there is none."""
    if name not in CORPORA:
        raise UserError(
            f"there is no corpus {name!r}{nearest(name, CORPORA)}: corpora are {', '.join(CORPORA)}"
        )
    return CORPORA[name]()
