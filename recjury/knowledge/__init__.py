"""Knowledge about items: the catalogue, the knowledge graph, and the recognition of names."""

from recjury.knowledge.attributes import AttributeIndex, attributes_of, plain_value
from recjury.knowledge.catalogue import Catalogue
from recjury.knowledge.domains import (
    BOOK,
    FILM,
    domain_names,
    expert_of,
    known_domain,
    read_domain,
)
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
    "BOOK",
    "FILM",
    "AttributeIndex",
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
    "attributes_of",
    "dated_titles",
    "domain_names",
    "expert_of",
    "fold",
    "known_domain",
    "named_items",
    "plain_value",
    "read_domain",
    "split_year",
]
