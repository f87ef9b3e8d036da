"""The variants of a title that give it away."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recjury.knowledge.folding import as_digits, fold_disguises
from recjury.knowledge.ordinary_words import is_ordinary_word
from recjury.knowledge.tokenizer import tokenize_parts
from recjury.language import vocabulary

_YEAR = re.compile(r"\s*\(?\b(1[89]\d\d|20\d\d)\)?\s*$")
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]?")
_PARTS = re.compile(r"\s*:\s+|\s+[-/]\s+|:(?=\S)")
_REVERSED = re.compile(r"^(.*),\s*(the|a|an)$", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_SEQUEL = re.compile(
    r"[\s,:-]+(?:(?:part|chapter|episode|vol(?:ume)?\.?)\s+)?"
    r"(?:[2-8]|ii|iii|iv|v|vi|vii|viii|ix|two|three)$",
    re.IGNORECASE,
)
_PARTED = re.compile(r"[\s,:-]+(?:part|chapter|episode|vol(?:ume)?\.?)\s+\w+$", re.IGNORECASE)
_DIGIT_INSIDE = re.compile(r"(?<=[A-Za-z])\d(?=[A-Za-z])")
_TITLE_DIGITS = (str.maketrans("013457", "oieasv"), str.maketrans("013457", "oieast"))
_TITLE_NUMERALS = {"i": "1", "v": "5", "x": "10"}
_SMALL_WORDS = frozenset(["a", "an", "the", "of", "and", "in", "on", "to"])


class TitleVariant(NamedTuple):
    """One way to write a title.

    `words` are its words in lower case. `letters` joins them without spaces; `key` does too, with
    number words as digits. A `strong` form always gives the title away; another form only if it is
    marked as a title. `typos` is the number of edits after which it is still recognisable. `spoken`
    are its words as people count them: "wall-e" has two, "millers" is one.
    """

    key: str
    letters: str
    words: tuple[str, ...]
    strong: bool
    typos: int
    spoken: tuple[str, ...]


class Title(NamedTuple):
    """What gives one target away: its forms, its unambiguous initialisms, its years, its name."""

    forms: tuple[TitleVariant, ...]
    initialisms: frozenset[str]
    years: frozenset[str]
    name: tuple[str, ...]
    """The words of its name with the article, as people count them."""


def title_of(name: str, year: int | None) -> Title:
    """Everything that gives away the item with this catalogue name and year."""
    years = {str(year)} if year else set()
    in_name = _YEAR.search(name)
    if in_name and in_name.start() > 0:
        years.add(in_name.group(1))
        name = name[: in_name.start()]
    folded = fold_disguises(name).strip()
    forms: dict[str, TitleVariant] = {}
    for spelling in (
        *_spellings(folded),
        *_with_variants(fold_disguises(name.replace("&", " ")).strip()),
    ):
        form = _form(spelling.text, derived=spelling.derived)
        if form is not None and (form.key not in forms or form.strong):
            forms[form.key] = form
    whole = _run_words(_BRACKETS.sub(" ", folded).replace("'", ""))
    return Title(tuple(forms.values()), frozenset(_initialisms(folded)), frozenset(years), whole)


class _Spelling(NamedTuple):
    text: str
    derived: bool = False


def _spellings(folded: str) -> Iterator[_Spelling]:
    """A title as written, then shortened in the ways in which people shorten titles."""
    turned = _REVERSED.match(folded)
    whole = f"{turned[2]} {turned[1]}" if turned else folded
    bare = _BRACKETS.sub(" ", whole).strip() or whole
    yield from _with_variants(whole)
    yield from _with_variants(bare)
    for inside in _BRACKETS.findall(whole):
        if len(inside.split()) > 1:
            yield _Spelling(inside, derived=True)
    parts = [part for part in _PARTS.split(bare) if part and tokenize_parts(part)]
    for count in range(1, len(parts)):
        yield from _with_variants(" ".join(parts[:count]))
        if not _is_generic(last := " ".join(parts[count:])):
            yield _Spelling(_ARTICLE.sub("", last), derived=True)
    content = [word.key for word in tokenize_parts(bare) if word.key not in _SMALL_WORDS]
    if len(content) >= 3:
        yield _Spelling(" ".join(content))


def _with_variants(text: str) -> Iterator[_Spelling]:
    bare = _ARTICLE.sub("", text)
    yield _Spelling(bare)
    for shortened in (_SEQUEL.sub("", bare), _PARTED.sub("", bare)):
        if shortened != bare and tokenize_parts(shortened):
            yield _Spelling(shortened)
    if " and " in bare:
        yield _Spelling(bare.replace(" and ", " "))
    found = [word.key for word in tokenize_parts(bare)]
    if len(found) > 1 and any(word in _TITLE_NUMERALS for word in found[1:]):
        numbered = [found[0], *(_TITLE_NUMERALS.get(word, word) for word in found[1:])]
        yield _Spelling(" ".join(numbered))
    for letters in _TITLE_DIGITS if _DIGIT_INSIDE.search(bare) else ():
        inside = {found.start() for found in _DIGIT_INSIDE.finditer(bare)}
        spelled = (
            sign.translate(letters) if at in inside else sign for at, sign in enumerate(bare)
        )
        yield _Spelling("".join(spelled).lower())


def _is_generic(part: str) -> bool:
    return all(word.key in vocabulary.words("generic_title_parts") for word in tokenize_parts(part))


def _form(text: str, *, derived: bool) -> TitleVariant | None:
    words = tuple(word.key for word in tokenize_parts(text))
    if not words:
        return None
    key = "".join(as_digits(word) for word in words)
    runs = _run_words(text)
    strong = _is_strong(runs, derived=derived)
    letters = "".join(words)
    spoken = _run_words(text.replace("'", ""))
    return TitleVariant(key, letters, words, strong, _typos(letters, len(runs)), spoken)


def _run_words(text: str) -> tuple[str, ...]:
    """The words as people count them: "WALL-E" has two, "xXx" and "RoboCop" have one."""
    runs: list[str] = []
    last = -1
    for word in tokenize_parts(text):
        if word.run == last:
            runs[-1] += word.key
        else:
            runs.append(word.key)
        last = word.run
    return tuple(runs)


def _is_strong(words: tuple[str, ...], *, derived: bool) -> bool:
    ordinary = all(is_ordinary_word(word) for word in words)
    if len(words) == 1 or (derived and len(words) <= 2):
        return not ordinary
    if len(words) > 2 and all(len(word) == 1 for word in words):
        return True  # "M*A*S*H"
    spoken = " ".join(words)
    return not (
        spoken in vocabulary.phrases("everyday_titles")
        or all(
            word in vocabulary.words("never_titles_alone") or word.isdigit() or len(word) == 1
            for word in words
        )
    )


def _typos(letters: str, words: int) -> int:
    """How many edits leave a title recognisable: 0 below 5 letters; for long ones an eighth."""
    if len(letters) < 5 or letters.isdigit():
        return 0
    if words == 1:
        return 1 if len(letters) < 12 else 2
    return 1 if len(letters) < 10 else 2 if len(letters) < 14 else max(3, len(letters) // 8)


def _initialisms(folded: str) -> Iterator[str]:
    """The initials of a title, and of the part before its colon, with at least four letters.

    Shorter initials, and initials that are known for something else, are ambiguous and left out.
    """
    bare = _BRACKETS.sub(" ", folded)
    for text in (bare, _PARTS.split(bare)[0]):
        words = _run_words(_ARTICLE.sub("", text))
        letters = "".join(word[0] for word in words if word[0].isalpha()).upper()
        known = letters in vocabulary.words("known_initialisms") or is_ordinary_word(
            letters.lower()
        )
        if len(letters) >= 4 and len(set(letters)) > 1 and not known:
            yield letters
