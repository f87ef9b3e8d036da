"""An own system in five lines; own_system.yaml compares it with the most popular films."""

from recjury.records import Conversation


def recommend(conversation: Conversation) -> str:
    said = " ".join(turn.text for turn in conversation.turns)
    return "Try Ran (1985)." if "Heat" in said else "Have you seen Heat (1995)?"
