"""Text as the leak guard sees it: without disguise, and cut into words.

Folding undoes what keeps a title readable for people and hides it from a string comparison:
accents, full-width and mathematical letters, look-alikes from other alphabets, characters of no
width, typographic quotes and dashes, and "&" for "and". Case is kept, for capitals are evidence.
"""

import html
import re
import unicodedata
from typing import NamedTuple
from urllib.parse import unquote

_LOOKALIKES = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХавеѕіјкмнорстухԁԛԝһӏɡɑıΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχγØøŁłĐđŦŧ",
        "ABESIJKMHOPCTYXabesijkmhopctyxdqwhlgaiABEZHIKMNOPTYXaeikvoptuxyOoLlDdTt",
        strict=True,
    )
)
_SPELLED = {
    "&": " and ",
    "ß": "ss",
    "æ": "ae",
    "Æ": "Ae",
    "œ": "oe",
    "Œ": "Oe",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "‘": "'",
    "’": "'",
    "‚": "'",
    "`": "'",
    "´": "'",
    "‐": "-",
    "‑": "-",
    "–": "-",
    "—": "-",
    "−": "-",
}
# Characters that pose as a letter inside a word. "l" reads as "i" in that view of a text.
_LEET = str.maketrans("0134578@$", "oieastbas")
_SIGNS = str.maketrans("!|", "ii")
_ONE_LETTER = str.maketrans("Ll", "Ii")
_POSING = re.compile(r"[A-Za-z0-9@$]+(?:[!|]+[A-Za-z0-9@$]+)*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_NUMBERS = {
    word: str(value)
    for words in (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty",
        "- ii iii iv - vi vii viii ix - xi xii xiii xiv xv xvi xvii xviii xix xx",
    )
    for value, word in enumerate(words.split(), start=1)
    if word != "-"
}


class _Folds(dict[int, str]):
    """What each character folds to; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _SPELLED:
        return _SPELLED[character]
    if unicodedata.category(character) in {"Cf", "Mn", "Me"}:
        return ""
    plain = "".join(
        _LOOKALIKES.get(part, part)
        for part in unicodedata.normalize("NFKD", _LOOKALIKES.get(character, character))
        if not unicodedata.combining(part)
    )
    return _SPELLED.get(plain, plain)


_FOLDS = _Folds()


class Word(NamedTuple):
    """A word of a folded text: where it stands, in lower case, and the run it belongs to.

    A run is what no space or punctuation divides; CamelCase and digits divide it into words.
    """

    start: int
    end: int
    text: str
    run: int


def fold(text: str) -> str:
    """`text` without accents, disguised letters and invisible characters; case stays.

    Character references ("&amp;", "%20") are read as what they stand for.
    """
    if "&" in text:
        text = html.unescape(text)
    if "%" in text:
        text = unquote(text)
    return text.translate(_FOLDS)


def unmask(folded: str) -> str:
    """A folded text with the digits and signs that stand with letters turned into letters.

    Positions stay as they are; "l" becomes "i", since a "1" stands for either.
    """
    return _POSING.sub(_as_letters, folded).translate(_ONE_LETTER)


def all_letters(text: str) -> str:
    """`text` with each digit as the letter it looks like, and "l" as "i"."""
    return text.translate(_LEET).translate(_ONE_LETTER)


def _as_letters(found: re.Match[str]) -> str:
    run = found.group()
    return run.translate(_LEET).translate(_SIGNS) if any(sign.isalpha() for sign in run) else run


def words_of(folded: str) -> list[Word]:
    """The words of a folded text, in order; linear in its length."""
    words: list[Word] = []
    run, end = -1, -1
    for found in _WORD.finditer(folded):
        if found.start() != end:
            run += 1
        end = found.end()
        words.append(Word(found.start(), end, found.group().lower(), run))
    return words


def as_digits(word: str) -> str:
    """A word of a text or title with number words and Roman numerals as digits.

    Single letters stay letters: an "i" or "v" is a as_digits in titles alone.
    """
    return _NUMBERS.get(word, word)
