"""Ratings as one frame, and what is made of it."""

from recjury.results.conversations import (
    conversation_list,
    debate_data,
    debate_text,
    replay,
    replay_file,
)
from recjury.results.findings import Findings
from recjury.results.progress import status
from recjury.results.ratings import means, ratings, scores
from recjury.results.summary import summary

__all__ = [
    "Findings",
    "conversation_list",
    "debate_data",
    "debate_text",
    "means",
    "ratings",
    "replay",
    "replay_file",
    "scores",
    "status",
    "summary",
]
