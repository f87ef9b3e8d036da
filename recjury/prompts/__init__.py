"""Prompt packs: versioned data, rendered strictly, with foreign text fenced."""

from recjury.prompts.answer_code import code_of, with_code
from recjury.prompts.fence import fence, fence_line, items_block, turns_block, wishes_block
from recjury.prompts.pack import Pack, load_pack, pack_names

__all__ = [
    "Pack",
    "code_of",
    "fence",
    "fence_line",
    "items_block",
    "load_pack",
    "pack_names",
    "turns_block",
    "wishes_block",
    "with_code",
]
