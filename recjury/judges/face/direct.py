"""LLM-Direct (FACE, section 4): the score, without reasons."""

from recjury.judges.face.whole import WholeRater


class DirectRater(WholeRater):
    """Asks for the score at once."""

    kind = "llm-direct"
