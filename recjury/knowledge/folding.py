"""Folding: the forms in which texts and names are compared.

`fold` removes case and accents; entity linking, search and the comparison of people's names use
it. `fold_disguises` keeps case and also undoes what keeps a title readable for people but hides it
from a string comparison: full-width and mathematical letters, look-alikes from other alphabets,
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
# Characters that pose as a letter inside a word. "l" reads as "i" in that view of a text.
_LEET = str.maketrans("0134578@$", "oieastbas")
_SIGNS = str.maketrans("!|", "ii")
_ONE_LETTER = str.maketrans("Ll", "Ii")
_POSING = re.compile(r"[A-Za-z0-9@$]+(?:[!|]+[A-Za-z0-9@$]+)*")
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
    """What each character folds to; filled when a character is first met."""

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


def fold(text: str) -> str:
    """`text` in lower case and without accents; everything else stays."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def fold_disguises(text: str) -> str:
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


def as_digits(word: str) -> str:
    """A word of a text or title with number words and Roman numerals as digits.

    Single letters stay letters: an "i" or "v" is a as_digits in titles alone.
    """
    return _NUMBERS.get(word, word)
