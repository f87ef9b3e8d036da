"""Readings of letters that somebody spelled, numbered, shifted or turned round.

Each is a function from a text to a text, or makes one. Alphabets are in `codes.yaml`.
"""

import base64
import re
import string
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import yaml

from recjury.knowledge.folding import all_letters, fold_disguises

Reading = Callable[[str], str]

LETTERS = string.ascii_lowercase
_ALPHABETS: Mapping[str, str] = yaml.safe_load(
    Path(__file__).with_name("codes.yaml").read_text("utf-8")
)
_VOWELS = frozenset("aeiou")
_WORDS = re.compile(r"[^\W_]+")
_SENTENCES = re.compile(r"[.!?…\n]+")
_MARKUP = re.compile(r"<[^<>]*>")
_ESCAPES = re.compile(r"(?:\\[ux]|U\+|&#x|[%=])\{?([0-9a-f]{2,6})\}?;?", re.IGNORECASE)
_SYLLABLES = re.compile(r"(?:ub|op|ag)(?=[aeiouy])|(?<=([aeiou]))[bfpvg]\1")
_FIRST_SIGN, _SIGNS = ord("!"), 94  # the printable signs of ASCII
_TAGS = 0xE0000  # where invisible copies of ASCII begin
_LAST_CODE = 0x3000  # no numbers above it are taken for letters


def words_in(text: str) -> list[str]:
    """The words of a text in lower case, without signs."""
    return _WORDS.findall(text.lower())


def plain_words(text: str) -> list[str]:
    """The words of a text as people see them, in lower case and without signs."""
    return _WORDS.findall(fold_disguises(text).lower().replace("'", ""))


def _table(signs: Iterable[str], letters: Iterable[str] = LETTERS) -> dict[int, str]:
    return {ord(sign): letter for sign, letter in zip(signs, letters, strict=True)}


def _pairs(name: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in _ALPHABETS[name].split())
    return {sign: letters for sign, _, letters in pairs}


def each_word(change: Reading) -> Reading:
    """Change each word."""
    return lambda text: " ".join(map(change, text.split()))


def backwards(text: str) -> str:
    """The text from its end."""
    return text[::-1]


# --- other letters -------------------------------------------------------------------------------


def alphabet(signs: str) -> Reading:
    """An alphabet of 26 signs: one that is named in the file, or `signs`, in either case."""
    letters = _ALPHABETS.get(signs, signs)
    table = _table(letters) | _table(letters.upper())
    return lambda text: text.translate(table)


def turned(text: str) -> str:
    """Letters that stand on their heads."""
    table = _table(_ALPHABETS["turned"]) | _table(_ALPHABETS["turned_capitals"])
    return text[::-1].translate(table)


def turned_signs(text: str) -> str:
    """ROT47: each sign is the one 47 places on."""
    return "".join(
        chr(_FIRST_SIGN + (ord(sign) - _FIRST_SIGN + _SIGNS // 2) % _SIGNS)
        if "!" <= sign <= "~"
        else sign
        for sign in text
    )


def keys(by: int, *, strip: str = "") -> Reading:
    """The keys that lie `by` places to the left; the signs in `strip` end a word."""
    table = {
        ord(row[at]): row[at - by]
        for row in _ALPHABETS["keyboard"]
        for at in range(max(0, by), len(row) + min(0, by))
    }
    return each_word(lambda word: word.lower().rstrip(strip).translate(table))


def named(words: Mapping[str, str]) -> Reading:
    """The letters that words stand for; other words separate them."""

    def read(text: str) -> str:
        plain = text.lower().replace("x-ray", "xray")
        return "".join(words.get(word, " ") for word in _WORDS.findall(plain))

    return read


NAMES = dict(zip(_ALPHABETS["nato"].split(), LETTERS, strict=True)) | _pairs("letter_names")
ROMAN = dict(zip(_ALPHABETS["roman"].split(), LETTERS, strict=True))
_MORSE = dict(zip(_ALPHABETS["morse"].split(), LETTERS + string.digits, strict=True))


def morse(text: str) -> str:
    """Letters in dots and dashes."""
    words = text.translate(str.maketrans("·•−–—_", "..----")).split()
    return "".join(_MORSE.get(word, _MORSE.get(word.rstrip(","), " ")) for word in words)


# --- numbers and bytes ---------------------------------------------------------------------------


def numbers(base: int, width: int, first: int = ord("a")) -> Reading:
    """Numbers of characters, where `first` is "a"; long ones have `width` digits for each."""

    def letter(digits: str) -> str:
        try:
            code = int(digits, base) - first + ord("a")
        except ValueError:
            return " "
        return chr(code) if ord(" ") <= code < _LAST_CODE else " "

    def read(text: str) -> str:
        words = _WORDS.findall(text.lower().replace("0x", " "))
        return "".join(
            letter(word[at : at + step])
            for word in words
            for step in [width if len(word) % width == 0 else len(word)]
            for at in range(0, len(word), step)
        )

    return read


def in_bytes(decode: Callable[[bytes], bytes], multiple: int = 0) -> Reading:
    """Words that encode bytes, filled up with "=" to a `multiple`; forwards and backwards."""

    def read(text: str) -> str:
        found = []
        for word in text.split():
            code = word.strip(".,!?;:\"'()=" if multiple else ".,").encode()
            filled = code + b"=" * (-len(code) % multiple) if multiple else code
            try:
                plain = decode(filled).decode()
            except ValueError:
                continue
            found += [plain, plain[::-1]]
        return " ".join(found)

    return read


BASES = (
    in_bytes(base64.b64decode, 4),
    in_bytes(base64.b32decode, 8),
    in_bytes(base64.b85decode),
    in_bytes(base64.a85decode),
)


def escaped(text: str) -> str:
    """Characters by their numbers, as in program texts."""
    return _ESCAPES.sub(lambda found: chr(min(int(found[1], 16), 0x10FFFF)), text)


def tags(text: str) -> str:
    """Invisible characters that repeat ASCII."""
    codes = (ord(sign) - _TAGS for sign in text)
    return "".join(chr(code) for code in codes if ord(" ") <= code <= ord("~"))


def without_markup(text: str) -> str:
    """The text between tags such as "<b>"."""
    return _MARKUP.sub("", text)


# --- places of letters ---------------------------------------------------------------------------


def every(step: int, first: int) -> Reading:
    """Every `step`th letter of each word, from the letter `first` on."""
    return lambda text: " ".join(word[first::step] for word in _WORDS.findall(text))


def columns(number: int) -> Reading:
    """Letters that were written in rows and read by column; two columns are a rail fence."""

    def read(text: str) -> str:
        letters = "".join(_WORDS.findall(text))
        places = sorted(range(len(letters)), key=lambda place: place % number)
        return "".join(sign for _, sign in sorted(zip(places, letters, strict=True)))

    return read


def swapped(first: int) -> Reading:
    """Each two letters exchanged, from the letter `first` on."""

    def read(text: str) -> str:
        pairs = (text[at : at + 2][::-1] for at in range(first, len(text), 2))
        return text[:first] + "".join(pairs)

    return read


def ordered(text: str) -> str:
    """The letters of each word in alphabetical order: those of an anagram are the same."""
    return " ".join("".join(sorted(word)) for word in plain_words(text))


def moved(text: str) -> str:
    """Words whose first letter was moved behind."""
    return " ".join(word[-1] + word[:-1] for word in plain_words(text))


def pig_latin(title: str) -> str:
    """A title as Pig Latin has it, without "ay" and without the letters that may precede it."""
    vowels = (
        (word, next((at for at, s in enumerate(word) if s in _VOWELS), 0)) for word in title.split()
    )
    return " ".join((word[at:] + word[:at]).rstrip("wyh") for word, at in vowels)


def without_ay(text: str) -> str:
    """Words of Pig Latin without what follows them: "ay", "way", "yay" or "hay"."""
    return " ".join(word[:-2].rstrip("wyh") for word in plain_words(text) if word.endswith("ay"))


def without_syllables(text: str) -> str:
    """Words without the syllables that Ubbi Dubbi and the like put into them."""
    return _SYLLABLES.sub("", text.lower())


def edges(at: int) -> Reading:
    """The first (0) or last (-1) letters of the words, by sentence."""

    def read(text: str) -> str:
        sentences = (_between_spaces(part) for part in _SENTENCES.split(text))
        return " ".join("".join(word[at] for word in words) for words in sentences)

    return read


def edges_of_sentences(at: int) -> Reading:
    """The first (0) or last (-1) letters of the sentences."""

    def read(text: str) -> str:
        parts = ("".join(_WORDS.findall(part)) for part in _SENTENCES.split(text))
        return "".join(part[at] for part in parts if part)

    return read


def _between_spaces(text: str) -> list[str]:
    words = ("".join(_WORDS.findall(word)) for word in text.split())
    return [word for word in words if word]


def lone_letters(without: str = "") -> Reading:
    """The single letters, but those in `without`: "a" and "I" are words."""
    return lambda text: "".join(
        word for word in _WORDS.findall(text) if len(word) == 1 and word not in without
    )


def capitals(text: str) -> str:
    """The capital letters."""
    return "".join(sign for sign in text if sign.isupper())


# --- readings that lose something: a title loses it, too ----------------------------------------


def without_vowels(title: str) -> str:
    """The consonants of a title."""
    return "".join(sign for sign in title if sign not in _VOWELS)


def vowelless(text: str) -> str:
    """The words without any vowel; signs may stand in their places."""
    bare = ("".join(plain_words(word)) for word in text.replace("_", "*").split())
    return " ".join(word for word in bare if _VOWELS.isdisjoint(word))


_KEYPAD: str = _ALPHABETS["keypad"]


def on_keypad(title: str) -> str:
    """The keys of a telephone that have the letters of a title."""
    return title.translate(_table(LETTERS, _KEYPAD))


def digits(text: str) -> str:
    """The numbers in a text."""
    return " ".join(word for word in _WORDS.findall(text) if word.isdigit())


def taps(text: str) -> str:
    """Keys of a telephone that are pressed several times: "777" is r."""
    places = (_KEYPAD.find(word[0]) + len(word) - 1 for word in _WORDS.findall(text))
    return "".join(
        LETTERS[at] if len(set(word)) == 1 and _KEYPAD[at : at + 1] == word[0] else " "
        for word, at in zip(_WORDS.findall(text), places, strict=True)
    )


_SOUNDS = _pairs("sounds")
_SPELLINGS = _pairs("spellings")
_ALIKE = str.maketrans("bijuwy", "vvvvvv")


def sound(title: str) -> str:
    """How a title sounds, roughly: letters that alphabets exchange are the same."""
    for letters, as_heard in _SPELLINGS.items():
        title = title.replace(letters, as_heard)
    return title.translate(_ALIKE)


def transliterated(text: str) -> str:
    """How the words sound that are written in Cyrillic or Greek."""
    words = (word.lower() for word in _WORDS.findall(text))
    spelled = ("".join(_SOUNDS.get(s, s) for s in w) for w in words if _SOUNDS.keys() & set(w))
    return sound(" ".join(spelled))


def once(title: str) -> str:
    """A title whose doubled letters stand once."""
    return "".join(sign for at, sign in enumerate(title) if title[at - 1 : at] != sign)


def doubled(text: str) -> str:
    """The words in which every letter stands twice or more, with each once."""
    words = (word.lower() for word in _WORDS.findall(text))
    return " ".join(once(word) for word in words if len(once(word)) * 2 <= len(word))


def masked(text: str) -> str:
    """The words with letters for digits and signs."""
    words = " ".join(word.strip(".,?;:\"'()*_~") for word in text.lower().split())
    return all_letters(words).replace("!", "i").replace("|", "i").replace("7", "t")
