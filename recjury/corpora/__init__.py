"""Corpora: dialogues with items, catalogues, and what names an item in a text."""

from recjury.corpora.catalogue import Catalogue, Item, fact_of
from recjury.corpora.corpus import (
    DOMAINS,
    Context,
    Corpus,
    Domain,
    Expert,
    Part,
    known_domain,
)
from recjury.corpora.drawing import shuffled
from recjury.corpora.forms import FORMS
from recjury.corpora.graph import Fact, KnowledgeGraph
from recjury.corpora.opening import CORPORA, draw_corpus, name_and_folder, open_corpus
from recjury.corpora.recordings import Reading, Recording, Recordings, Skipped, read_recordings
from recjury.corpora.titles import Title, TitleIndex
from recjury.corpora.words import fold

__all__ = [
    "CORPORA",
    "DOMAINS",
    "FORMS",
    "Catalogue",
    "Context",
    "Corpus",
    "Domain",
    "Expert",
    "Fact",
    "Item",
    "KnowledgeGraph",
    "Part",
    "Reading",
    "Recording",
    "Recordings",
    "Skipped",
    "Title",
    "TitleIndex",
    "draw_corpus",
    "fact_of",
    "fold",
    "known_domain",
    "name_and_folder",
    "open_corpus",
    "read_recordings",
    "shuffled",
]
