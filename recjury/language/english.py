"""Whether a text is English, the only language that is read."""

import re
from functools import cache

from recjury.knowledge.ordinary_words import word_list
from recjury.knowledge.text_cache import cached_by_text
from recjury.language.defects import other_letters
from recjury.language.tokens import shortened
from recjury.language.vocabulary import words

_REMEMBERED = 16_384
_LEAST = 1 / 3
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


@cached_by_text(_REMEMBERED)
def is_english(text: str) -> bool:
    """Whether a text may be English, by its words in lower case: names and titles say nothing.

    More than a third of them are ordinary words of English, and more than are ones of another
    language. A single word is English unless it is known to be another language's.
    """
    plain = shortened(text)
    if 2 * other_letters(plain) > sum(map(str.isalpha, plain)):
        return False
    spoken = _WORD.findall(plain.lower() if plain.isupper() else plain)
    said = [word for word in spoken if word[0].islower()]
    others = {word for word in said if word in words("other_language_words")}
    english = sum(_is_ordinary(word) and word not in others for word in said)
    elsewhere = sum(word in others for word in said)
    return not elsewhere if len(said) < 2 else english > max(elsewhere, _LEAST * len(said))


def _is_ordinary(word: str) -> bool:
    return "'" in word or not _ordinary().isdisjoint({word, word.removesuffix("s")})


@cache
def _ordinary() -> frozenset[str]:
    return word_list("talk") | word_list("common") | words("function_words")
