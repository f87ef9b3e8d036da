"""The systems under test. KBRD is in `recjury.agents.kbrd`, imported late for torch's sake."""

from recjury.agents.chatcrs import ChatCRS
from recjury.agents.embedding import (
    Embedder,
    EndpointEmbedder,
    MiniLmEmbedder,
    TfidfEmbedder,
    make_embedder,
)
from recjury.agents.registry import SystemContext, known_kinds, load_recommender
from recjury.agents.retrieval import Retrieval

__all__ = [
    "ChatCRS",
    "Embedder",
    "EndpointEmbedder",
    "MiniLmEmbedder",
    "Retrieval",
    "SystemContext",
    "TfidfEmbedder",
    "known_kinds",
    "load_recommender",
    "make_embedder",
]
