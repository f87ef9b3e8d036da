"""Detects English texts, as precisely as the rules for English require."""

from recjury.judges.measured.text import TITLE, MaskedText, word_set

_FUNCTION_WORDS = word_set(
    "a about also am an and any are as at be but by can did do does for from good great had has "
    "have he hello her hi his how i i'm if in is it it's its like me more movie movies my no not "
    "of oh ok on one or seen she so some sure thanks that that's the then there they this to was "
    "we well what which who will with would yes you your film watch enjoy recommend hey"
)
_ENOUGH_WORDS = 6
_ENOUGH_LETTERS = 0.7


def is_english(utterance: MaskedText) -> bool:
    """Whether the text may be English.

    It consists mostly of letters without accents. If it has six words or more besides its titles,
    at least one of them is a very common English word.
    """
    if not utterance.text.isascii():
        letters = [c for c in utterance.masked if c.isalpha() and c != TITLE]
        if sum(c.isascii() for c in letters) < _ENOUGH_LETTERS * len(letters):
            return False
    words = [word for word in utterance.words if word != TITLE and word[0].isalpha()]
    return len(words) < _ENOUGH_WORDS or any(word in _FUNCTION_WORDS for word in words)
