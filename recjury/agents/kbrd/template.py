"""The set sentences of a KBRD whose checkpoint has no generator."""

from collections.abc import Collection, Sequence

from recjury.records import ItemRef

_NAMED = 3
_QUESTIONS = (
    "What kind of films do you like? A title, an actor or a genre would help me.",
    "Could you name a film or an actor you enjoyed?",
    "Which genre or director are you in the mood for?",
)
_SENTENCES = (
    "From what you have told me, you could try {items}.",
    "You might enjoy {items}.",
    "How about {items}?",
    "Have you thought of {items}?",
)


def question(turn: int) -> str:
    """A question to a user of whom nothing is known; `turn` varies it."""
    return _QUESTIONS[turn // 2 % len(_QUESTIONS)]


def recommendation(items: Sequence[ItemRef], named: Collection[str], turn: int) -> str:
    """A sentence with the first items of the list whose ids nobody has `named` yet.

    The list's first item is named again when all of it was named before.
    """
    fresh = [item.name for item in items if item.id not in named][:_NAMED] or [items[0].name]
    joined = fresh[0] if len(fresh) == 1 else f"{', '.join(fresh[:-1])} or {fresh[-1]}"
    return _SENTENCES[turn // 2 % len(_SENTENCES)].format(items=joined)
