"""What is known of items: the catalogue, the knowledge graph, and the linking of names in text."""

from recjury.knowledge.catalogue import Catalogue
from recjury.knowledge.graph import Edge, KnowledgeGraph, Triple
from recjury.knowledge.linking import Mention, Name, NameIndex
from recjury.knowledge.names import TitleYear, split_year

__all__ = [
    "Catalogue",
    "Edge",
    "KnowledgeGraph",
    "Mention",
    "Name",
    "NameIndex",
    "TitleYear",
    "Triple",
    "split_year",
]
