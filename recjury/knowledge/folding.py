"""Folding: the forms in which texts and names are compared.

`fold` removes case and accents. Entity linking, search and the comparison of people's names use
it. `fold_disguises` keeps case, and replaces characters that people can read but that a string
comparison does not match: full-width and mathematical letters, look-alikes from other alphabets,
invisible characters, typographic quotes and dashes, and "&" for "and". The leak guard uses it.
"""

import html
import re
import unicodedata
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
# Letters in circles and boxes, turned ones, flags: "NEGATIVE SQUARED LATIN CAPITAL LETTER A".
_LETTER_NAME = re.compile(r"(?:LATIN|REGIONAL INDICATOR)\b.*\b([A-Z])(?: WITH .*)?$")
# Characters that replace a letter inside a word. Here "l" is treated as "i".
_LEET = str.maketrans("0134578@$", "oieastbas")
_ONE_LETTER = str.maketrans("Ll", "Ii")
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
    """The folded form of each character; filled when a character first occurs."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _SPELLED:
        return _SPELLED[character]
    if unicodedata.category(character) in {"Cf", "Mn", "Me"}:
        return ""
    named = _LETTER_NAME.search(unicodedata.name(character, ""))
    if named and not character.isascii():
        return named[1].lower() if "SMALL" in named[0] else named[1]
    plain = "".join(
        _LOOKALIKES.get(part, part)
        for part in unicodedata.normalize("NFKD", _LOOKALIKES.get(character, character))
        if not unicodedata.combining(part)
    )
    return _SPELLED.get(plain, plain)


_FOLDS = _Folds()


def fold(text: str) -> str:
    """`text` in lower case and without accents; other characters are unchanged."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def fold_disguises(text: str) -> str:
    """`text` without accents, disguised letters and invisible characters; case is kept.

    Character references ("&amp;", "%20") are decoded.
    """
    if "&" in text:
        text = html.unescape(text)
    if "%" in text:
        text = unquote(text)
    return text.translate(_FOLDS)


def all_letters(text: str) -> str:
    """`text` with each digit replaced by the letter it looks like, and "l" by "i"."""
    return text.translate(_LEET).translate(_ONE_LETTER)


def as_digits(word: str) -> str:
    """The digits for a number word or a Roman numeral; any other word is returned unchanged.

    Single letters are unchanged: "i" and "v" are numerals only in titles.
    """
    return _NUMBERS.get(word, word)
