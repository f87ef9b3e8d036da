"""Corpora that provide scenarios, and readers of recorded conversations."""

from recjury.corpora.corpus import (
    Corpus,
    ScenarioSet,
    TrainingExample,
    Unresolved,
    WithoutSplits,
)
from recjury.corpora.opening import (
    corpus_name,
    data_beside,
    data_folder,
    known_corpus,
    open_corpus,
)
from recjury.corpora.recordings import (
    Recording,
    conversation_row,
    linked_recordings,
    read_recordings,
)

__all__ = [
    "Corpus",
    "Recording",
    "ScenarioSet",
    "TrainingExample",
    "Unresolved",
    "WithoutSplits",
    "conversation_row",
    "corpus_name",
    "data_beside",
    "data_folder",
    "known_corpus",
    "linked_recordings",
    "open_corpus",
    "read_recordings",
]
