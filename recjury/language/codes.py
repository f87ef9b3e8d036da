"""The codes in which a title may be hidden in what somebody says.

A code reads letters in words that are not plain language. To know another one, add a line to
`CODES`, and a reading to `letters.py` if there is none.
"""

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from recjury.knowledge.folding import all_letters
from recjury.language import letters
from recjury.language.letters import LETTERS, Reading, plain_words, words_in

_TEXTS_KEPT = 64
_INITIALS = 2  # letters that stand for something else


class Code(NamedTuple):
    """One code: `read` reads the letters in a text, and a title is looked for as `write` has it.

    A title of fewer than `least` letters must be a word of what was read, or all of it; without
    `words`, all of it.
    """

    read: Reading
    write: Reading = str
    least: int = 5
    words: bool = True


class Decoded(NamedTuple):
    """What a code reads in a text: words in lower case, and their letters without spaces.

    What stands in the text as it is, is `plain`, and not hidden in it.
    """

    code: Code
    words: Collection[str]
    letters: str
    plain: str

    def has(self, title: str, written: str) -> bool:
        """Whether it has a title that is not in the text as it is.

        `written` are the letters of the title as the code writes it.
        """
        if len(written) >= self.code.least:
            hidden = written in self.letters
        elif self.code.words:
            hidden = len(written) > 1 and (written in self.words or written == self.letters)
        else:
            hidden = len(written) > _INITIALS and written == self.letters
        if not hidden:
            return False
        return f" {title} " not in self.plain and title.replace(" ", "") not in self.plain


@lru_cache(_TEXTS_KEPT)
def decoded(text: str, *, plain: bool) -> tuple[Decoded, ...]:
    """What the codes read in a text: those of `plain` language, or those of strange words."""
    found = ((code, code.read(text)) for code in (CARRIERS if plain else CODES))
    split = ((code, plain_words(read)) for code, read in found if read)
    as_it_is = f" {' '.join(words_in(text))} "
    return tuple(Decoded(code, words, "".join(words), as_it_is) for code, words in split if words)


CODES: tuple[Code, ...] = (
    Code(str),  # disguised letters
    *(Code(letters.alphabet(LETTERS[by:] + LETTERS[:by])) for by in range(1, 26)),  # Caesar's
    Code(letters.alphabet(LETTERS[::-1])),  # Atbash
    *(Code(letters.alphabet(name)) for name in ("braille", "runes")),
    Code(letters.turned_signs),
    Code(letters.turned),
    *(Code(letters.keys(by, strip=end)) for by in (1, -1) for end in ("", ",.?!")),
    Code(letters.morse),
    *(Code(letters.named(words)) for words in (letters.ROMAN, letters.NAMES)),
    *(Code(letters.numbers(2, width)) for width in (7, 8)),
    *(Code(letters.numbers(16, width)) for width in (2, 4)),
    *(Code(letters.numbers(base, 3)) for base in (8, 10)),
    *(Code(letters.numbers(10, 2, first)) for first in (ord("a"), 0, 1)),
    *(Code(read) for read in letters.BASES),
    Code(letters.escaped),
    Code(letters.tags),
    Code(letters.without_markup),
    Code(letters.backwards),
    Code(letters.each_word(letters.backwards)),
    *(Code(letters.every(step, first)) for step in (2, 3) for first in range(step)),
    *(Code(letters.columns(number)) for number in (2, 3, 4)),
    *(Code(letters.swapped(first)) for first in (0, 1)),
    Code(letters.each_word(letters.swapped(0))),
    Code(letters.ordered, letters.ordered),
    Code(letters.moved),
    Code(letters.without_ay, letters.pig_latin),
    Code(letters.without_syllables),
    Code(letters.capitals),
    Code(letters.taps),
    Code(letters.digits, letters.on_keypad),
    Code(letters.masked, all_letters),
    Code(letters.vowelless, letters.without_vowels),
    Code(letters.doubled, letters.once),
    Code(letters.transliterated, letters.sound),
    Code(lambda text: letters.transliterated(text.replace("ω", "w")), letters.sound),  # by its look
)
"""Codes of words that are not plain language."""

CARRIERS: tuple[Code, ...] = (
    Code(letters.named(letters.NAMES)),
    *(Code(letters.edges(at), words=False) for at in (0, -1)),
    *(Code(letters.edges_of_sentences(at), words=False) for at in (0, -1)),
    *(Code(letters.lone_letters(without), words=False) for without in ("", "a", "I", "aI")),
    Code(letters.backwards, least=6, words=False),
    Code(lambda text: " ".join(reversed(text.split())), least=10, words=False),
)
"""Codes that plain words may carry: they read the whole text."""

WRITINGS = frozenset(code.write for code in (*CODES, *CARRIERS))
"""All ways in which a title is looked for."""
