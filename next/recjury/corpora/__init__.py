"""Corpora: dialogues with items, catalogues, and what names an item in a text."""

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Corpus, Domain
from recjury.corpora.forms import FORMS
from recjury.corpora.opening import CORPORA, open_corpus
from recjury.corpora.recordings import Recording, Recordings, Skipped, read_recordings
from recjury.corpora.titles import Title, TitleIndex, fold

__all__ = [
    "CORPORA",
    "FORMS",
    "Catalogue",
    "Corpus",
    "Domain",
    "Item",
    "Recording",
    "Recordings",
    "Skipped",
    "Title",
    "TitleIndex",
    "fold",
    "open_corpus",
    "read_recordings",
]
