"""What a plain sentence is: words of the language, names, and a few numbers, letters and signs.

Whatever code somebody uses, what comes out is not plain: its words are unknown, their letters do
not follow each other as in words, or it counts up letters, numbers or signs. How letters follow
each other was counted in the vocabulary of the shipped models and in names.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import chain, groupby, pairwise
from typing import NamedTuple

import numpy as np

from recjury.knowledge.folding import all_letters, as_digits, fold_disguises
from recjury.knowledge.ordinary_words import word_list
from recjury.language.vocabulary import words
from recjury.language.weights import shipped

_WORDS = re.compile(r"[^\W_]+")
_SPOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]{1,2}(?![^\W_]))?")
_ACRONYM = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.){1,9}[^\W\d_]?(?![^\W_])")
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,9}|(?<=[a-z] )[A-Z]\.(?= [a-z])")
_MASK = re.compile(r"(?<=[^\W_])[*_]+(?=[^\W_])")
_STARRED = re.compile(r"(?:[A-Z]\*){2,}[A-Z]")  # "M*A*S*H"
_NUMBER = re.compile(r"\d+(?:'?s|st|nd|rd|th|am|pm|h|m|k|min|mins|hrs|d|p)?|\d{1,2}h\d\d")
_YEAR = re.compile(r"(?<=\w )\((?:19[3-9]|20[0-2])\d\)")
_ROMAN = re.compile(r"[vxl]|[ivxl]{2,}")
_EDGES = ".,:;!?\"'()[]*_“”‘’«»…~-–—>"
_USUAL_SIGNS = frozenset("'’`.,:/&!?-–—…·\"()½%°")
_USUAL_ALONE = frozenset(("&", "/", "+", "=", ">", "#", "$", "@", "<3"))
_WITH_PICTURES = frozenset("\ufe0f\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""What changes the picture before it, or joins two."""
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "er", "ers", "est", "y", "n't")
_SHORT = 3
_ORDER = "first second third fourth fifth"
_BETWEEN = frozenset(("a", "and", "or", "the", "then"))
_LEAST_PIECE = 4  # shorter pieces of the vocabulary are often no words
_USUAL, _STRANGE = 3.0, 5.0  # negative log likelihoods: of a letter, and above it, of all
_NO_NAME = 1.2  # names are often of other languages
_CHANGE = 1.0  # between capitals, small letters and digits
_MOST = {"unknown": 2, "words": 4, "names": 5, "letters": 3, "numbers": 5, "romans": 2, "odd": 0}
_MOST_OF_A_KIND = {"Cf": 2, "Co": 0, "Cn": 0, "So": 3, "Mn": 4, "Me": 0}
_MOST_DIGITS = 5
_NO_YEAR = 2100
_MANY_WORDS, _LEAST_VARIED = 8, 0.5
_LETTERS, _VOWELS = frozenset(string.ascii_lowercase), frozenset("aeiouy")
LETTERS_FILE = "letters.npz"
COST = 16
"""The unit of what is stored in `LETTERS_FILE`, which `benchmarks.letter_costs` writes."""

OUTSIDE = 26  # the number of what is no letter
_LAST_OF_LANGUAGES = 0x24F  # Latin letters behind it are phonetic signs and disguises


class Talk(NamedTuple):
    """What a text is made of: all words, and those that are no known ones, as people see them.

    `numbers` are the numbers and words for them, `letters` the single ones, `signs` what has a
    letter or a sign but no shape of a word, `pictures` emojis; all in the order of the text.
    """

    words: tuple[str, ...]
    unknown: tuple[str, ...]
    numbers: tuple[str, ...]
    letters: tuple[str, ...]
    signs: tuple[str, ...]
    marked: tuple[str, ...]
    """English words with a capital inside."""
    pictures: tuple[str, ...]
    new: tuple[int, ...]
    """The places of the unknown words."""
    joined: tuple[int, ...]
    """The places of those with a hyphen before or behind them."""
    initials: tuple[str, ...]
    """Letters with dots ("T.D.K."), without these."""


def words_in(text: str) -> list[str]:
    """The words of a text in lower case, without signs."""
    return _WORDS.findall(text.lower())


def _seen(word: str) -> str:
    """A Latin word as people see it; of other alphabets, as it is."""
    if word.isascii() or not any("LATIN" in unicodedata.name(sign, "") for sign in word):
        return word
    return fold_disguises(word)


def talk(text: str, known: Callable[[str], bool]) -> Talk:
    """The parts of a text; `known` tells of a word in lower case if it is a name or was said."""
    plain = _MASK.sub("", _YEAR.sub("", text))
    plain = _ACRONYM.sub(lambda found: found[0].replace(".", ""), plain)
    plain = f" {' '.join(map(_seen, plain.split()))} "
    found = [*_SPOKEN.finditer(plain)]
    spoken = [each[0] for each in found]
    lower = [word.lower().replace("’", "'") for word in spoken]
    new = [not (is_word(word) or known(word) or _NUMBER.fullmatch(word)) for word in lower]
    at = [place for place, is_new in enumerate(new) if is_new and len(lower[place]) > 1]
    return Talk(
        tuple(lower),
        tuple(spoken[place] for place in at),
        tuple(word for word in lower if _counts(word)),
        tuple(word for word in lower if len(word) == 1 and word.isalpha() and word not in "ai"),
        tuple(chunk for chunk in text.split() if _is_odd(chunk)),
        tuple(each for each in spoken if _is_marked(each)),
        tuple(sign for sign in text if not sign.isascii() and unicodedata.category(sign) == "So"),
        tuple(at),
        tuple(at for at, one in enumerate(found) if "-" in plain[one.start() - 1 : one.end() + 1]),
        tuple(each.replace(".", "").lower() for each in _INITIALS.findall(text)),
    )


def _counts(word: str) -> bool:
    return any(map(str.isdigit, word)) or word in words("counting_words") or as_digits(word) != word


def _is_odd(chunk: str) -> bool:
    """Whether a part of a text between spaces has signs that no word, number or address has."""
    bare = "".join(sign for sign in chunk if not _is_picture(sign))
    if not bare:
        return False  # how many pictures there may be, `_MOST_OF_A_KIND` says
    core = _STARRED.sub("x", bare.strip(_EDGES))
    if {bare, core} & _USUAL_ALONE:
        return False
    if not any(map(str.isalnum, core)):
        lone = core or bare
        smile = lone[0] in ":;" and len(lone) <= _SHORT
        marks = set(lone) <= set("?!") or (len(set(lone)) == 1 and lone[0] in _USUAL_SIGNS)
        return not (smile or marks)
    inside = core.removeprefix("$").removeprefix("#").removeprefix("@").removesuffix("+")
    return any(not sign.isalnum() and sign not in _USUAL_SIGNS for sign in inside)


def _is_picture(sign: str) -> bool:
    return sign in _WITH_PICTURES or unicodedata.category(sign) == "So"


def _is_marked(word: str) -> bool:
    """Whether an English word has a capital inside."""
    inside = any(map(str.isupper, word[1:])) and not word.isupper()
    return inside and is_word(word.lower())


def strange_passage(text: str, said: Talk, *, english: bool) -> str:
    """The first passage that is no plain language, "" without one.

    Without `english`, words are not looked at, because no other language's are known.
    """
    kinds = [unicodedata.category(sign) for sign in text] if not text.isascii() else []
    disguised = sum(
        ord(s) > _LAST_OF_LANGUAGES and "LATIN" in unicodedata.name(s, "") for s in text
    )
    if disguised > 1 or any(kinds.count(kind) > most for kind, most in _MOST_OF_A_KIND.items()):
        return text
    romans = [word for word in said.words if _ROMAN.fullmatch(word)]
    for found, most in (
        (said.letters, _MOST["letters"]),
        (said.numbers, _MOST["numbers"]),
        (romans, _MOST["romans"]),
        (said.signs, _MOST["odd"]),
    ):
        if len(found) > most:
            return " ".join(found)
    if _is_shuffled(said.words):
        return " ".join(said.numbers)
    coded = next((each for each in (*said.words, *said.signs) if _is_long(each)), "")
    half = len(said.words) // 2  # people send the same words twice
    once = said.words[:half] if said.words[:half] == said.words[-half:] else said.words
    few = len(once) >= _MANY_WORDS and len(set(once)) < _LEAST_VARIED * len(once)
    if coded or few:
        return coded or text
    return _unlike_words(said) if english else ""


def _is_shuffled(spoken: Sequence[str]) -> bool:
    """Whether three or more numbers stand side by side and do not go up or down."""
    told = (word for word in spoken if word not in _BETWEEN)
    for counts, run in groupby(told, _counts):
        numbers = [as_digits(word) for word in run] if counts else []
        values = [int(each) if each.isdecimal() else _ORDER.find(each) for each in numbers]
        if len(values) >= _SHORT and values not in (sorted(values), sorted(values)[::-1]):
            return True
    return False


def _is_long(part: str) -> bool:
    """Whether a part has more digits than a year, or more signs than an address."""
    digits = sum(map(str.isdigit, part))
    signs = sum(not sign.isalnum() for sign in part.strip(_EDGES))
    is_year = part.isdigit() and int(part) < _NO_YEAR
    return digits >= _MOST_DIGITS or (part.isdigit() and digits == 4 and not is_year) or signs > 3


def _unlike_words(said: Talk) -> str:
    names = [word for word in said.unknown if word[0].isupper()]
    others = [word for word in said.unknown if not word[0].isupper()]
    odd = [word for word in others if len(word) <= _LEAST_PIECE or strangeness(word)]
    short = [word for word in others if len(word) <= _SHORT]
    bare = [w for w in said.unknown if _VOWELS.isdisjoint(w.lower()) and w.isascii()]
    accented = [word for word in said.unknown if not word.isascii()]
    for found, most in (
        (names, _MOST["names"]),
        (others, _MOST["words"]),
        (odd, _MOST["unknown"]),
        (short, 1),
        (said.marked, 1),
        ([word for word in bare if word.isalpha() and word[1:].islower()], 0),
        (accented if all(map(str.islower, accented)) else [], 0),
    ):
        if len(found) > most:
            return " ".join(found)
    strange = sum(map(strangeness, said.unknown)) > _STRANGE
    return " ".join(said.unknown) if strange else ""


@lru_cache(16_384)
def is_word(word: str) -> bool:
    """Whether a word in lower case is an English one, or made of one by a usual ending."""
    bare = word.partition("'")[0]
    stems = (word, bare, *(bare.removesuffix(end) for end in _ENDINGS))
    return any(stem in vocabulary() for stem in stems) or _calmed(word) in vocabulary()


def _calmed(word: str) -> str:
    """An exclamation without the letters that draw it out: "ooooh"."""
    calm = "".join(sign for at, sign in enumerate(word) if word[at - 1 : at] != sign)
    return calm if len(calm) <= 3 else word


@cache
def vocabulary() -> frozenset[str]:
    """English words in lower case: the reader's word pieces and the lists of words."""
    pieces = (piece for piece in shipped().pieces if len(piece) >= _LEAST_PIECE and piece.isalpha())
    lists = (word_list("talk"), word_list("name"), word_list("common"), words("function_words"))
    return frozenset(chain(pieces, *lists, words("chat_words"), words("counting_words")))


def strangeness(word: str) -> float:
    """How much less likely the letters of a word are than those of words; 0 for capitals."""
    if word.isupper() and len(word) <= _LEAST_PIECE:
        return 0.0
    plain = [sign for sign in all_letters(word.lower()) if sign in _LETTERS]
    if len(plain) < 2:
        return 0.0
    codes = [OUTSIDE, OUTSIDE, *(ord(sign) - ord("a") for sign in plain), OUTSIDE]
    table, size = _letter_costs(), OUTSIDE + 1
    runs = (
        (one * size + two) * size + after
        for one, two, after in zip(codes, codes[1:], codes[2:], strict=False)
    )
    cost = sum(table[run] / COST - _USUAL for run in runs)
    kinds = [sign.isdigit() * 2 + sign.isupper() for sign in word]
    changes = sum(one != other for one, other in pairwise(kinds)) - 2
    weight = (0.5 if len(word) <= _SHORT else 1.0) * (_NO_NAME if word.islower() else 1.0)
    return weight * (max(0.0, cost) + _CHANGE * max(0, changes))


@cache
def _letter_costs() -> bytes:
    """The negative log likelihoods, `COST` to the unit, of letters after two others."""
    file = resources.files("recjury.language") / LETTERS_FILE
    with resources.as_file(file) as path, np.load(path) as arrays:
        return bytes(arrays["costs"].tobytes())
