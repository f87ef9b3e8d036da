"""Corpora: dialogues with items, catalogues, and what names an item in a text."""

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Corpus, Domain, open_corpus
from recjury.corpora.titles import Title, fold

__all__ = ["Catalogue", "Corpus", "Domain", "Item", "Title", "fold", "open_corpus"]
