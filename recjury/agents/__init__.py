"""The systems under test. `recjury.agents.kbrd` is not imported here, because it imports torch."""

from recjury.agents.chatcrs import ChatCRS
from recjury.agents.embedding import (
    Embedder,
    EndpointEmbedder,
    MiniLmEmbedder,
    TfidfEmbedder,
    make_embedder,
)
from recjury.agents.item_vectors import ItemVectors
from recjury.agents.retrieval import Retrieval
from recjury.agents.system_config import SystemContext
from recjury.agents.system_registry import known_kinds, load_recommender

__all__ = [
    "ChatCRS",
    "Embedder",
    "EndpointEmbedder",
    "ItemVectors",
    "MiniLmEmbedder",
    "Retrieval",
    "SystemContext",
    "TfidfEmbedder",
    "known_kinds",
    "load_recommender",
    "make_embedder",
]
