"""Prompt packs: versioned data, rendered strictly, with foreign text fenced."""

from recjury.prompts.answer_code import answer_code, asks_for_code, prompt_bytes, with_code
from recjury.prompts.fence import (
    ItemFacts,
    fence,
    fence_line,
    items_block,
    list_block,
    places_of,
    turns_block,
    wishes_block,
)
from recjury.prompts.pack import CODE, Lists, Pack, load_pack, pack_names

__all__ = [
    "CODE",
    "ItemFacts",
    "Lists",
    "Pack",
    "answer_code",
    "asks_for_code",
    "fence",
    "fence_line",
    "items_block",
    "list_block",
    "load_pack",
    "pack_names",
    "places_of",
    "prompt_bytes",
    "turns_block",
    "wishes_block",
    "with_code",
]
