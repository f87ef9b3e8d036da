"""Knowledge about items: the catalogue, the knowledge graph, and the recognition of names."""

from recjury.knowledge.catalogue import Catalogue
from recjury.knowledge.folding import fold
from recjury.knowledge.graph import Edge, KnowledgeGraph, Triple
from recjury.knowledge.item_facts import CatalogueFacts
from recjury.knowledge.named_items import named_items
from recjury.knowledge.recogniser import (
    MatchKind,
    Mention,
    Name,
    TitleMention,
    TitleRecogniser,
)
from recjury.knowledge.tokenizer import TitleYear, split_year
from recjury.knowledge.unlisted import dated_titles

__all__ = [
    "Catalogue",
    "CatalogueFacts",
    "Edge",
    "KnowledgeGraph",
    "MatchKind",
    "Mention",
    "Name",
    "TitleMention",
    "TitleRecogniser",
    "TitleYear",
    "Triple",
    "dated_titles",
    "fold",
    "named_items",
    "split_year",
]
