"""A checker of its own for leaks: it shares no code and no rule with the leak guard.

It reads a text as carelessly as a person would: without spaces, punctuation, accents, case, and
with digits and foreign letters taken for the letters they look like. A title that stands in a
sent text more often than in what the user may say is a leak.
"""

import unicodedata

_FOREIGN = str.maketrans("аесоріѕхувкмнтоαοερτυικ", "aecopisxybkmhtoaoeptuik")
_DIGITS = str.maketrans("0134578", "oieastb")


def squeezed(text: str) -> str:
    """Letters alone, as they look."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = plain.translate(_FOREIGN).translate(_DIGITS)
    return "".join(sign for sign in plain if sign.isalnum())


def spellings(title: str) -> set[str]:
    """The title, the title without its article, and each long part before a colon."""
    parts = {title, title.split(":")[0]}
    for article in ("The ", "A ", "An "):
        parts |= {part.removeprefix(article) for part in parts}
    whole = squeezed(title.removeprefix("The ").removeprefix("A ").removeprefix("An "))
    found = {whole} | {squeezed(part) for part in parts if len(squeezed(part)) > 6}
    return {spelling for spelling in found if spelling}


def leaks(title: str, sent: str, allowed: str) -> bool:
    """Whether `title` stands in `sent` more often than in the harmless text `allowed`."""
    return any(
        squeezed(sent).count(spelling) > squeezed(allowed).count(spelling)
        for spelling in spellings(title)
    )
