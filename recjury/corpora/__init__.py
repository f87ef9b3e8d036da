"""The world's data: corpora to take scenarios from, and recorded conversations to judge."""

from recjury.corpora.corpus import Corpus, Example, ScenarioSet, Unresolved
from recjury.corpora.opening import data_folder, open_corpus

__all__ = ["Corpus", "Example", "ScenarioSet", "Unresolved", "data_folder", "open_corpus"]
