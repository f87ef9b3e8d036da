"""Corpora: dialogues with items, catalogues, and what names an item in a text."""

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Corpus, Domain
from recjury.corpora.opening import CORPORA, open_corpus
from recjury.corpora.titles import Title, TitleIndex, fold

__all__ = [
    "CORPORA",
    "Catalogue",
    "Corpus",
    "Domain",
    "Item",
    "Title",
    "TitleIndex",
    "fold",
    "open_corpus",
]
