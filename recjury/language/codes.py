"""The codes in which a title may be hidden: spelled, numbered, shifted, turned round and so on.

A code reads letters in words that are not plain language. To know another one, add a line to
`CODES`; alphabets are in `codes.yaml`.
"""

import base64
import binascii
import re
import string
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import yaml

from recjury.knowledge.folding import all_letters, fold_disguises

Reading = Callable[[str], str]

_ALPHABETS: Mapping[str, str] = yaml.safe_load(
    Path(__file__).with_name("codes.yaml").read_text("utf-8")
)
_LETTERS = string.ascii_lowercase
_VOWELS = frozenset("aeiou")
_WORDS = re.compile(r"[^\W_]+")
_ESCAPES = re.compile(r"(?:\\[ux]|U\+|&#x|[%=])\{?([0-9a-f]{2,6})\}?;?", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]*>")
_SYLLABLES = re.compile(r"(?:ub|op|ag)(?=[aeiouy])|(?<=([aeiou]))[bfpvg]\1")
_TEXTS_KEPT = 64
_INITIALS = 2  # letters that stand for something else
_SENTENCES = re.compile(r"[.!?…\n]+")


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

    What the text itself has as words is not hidden in it: it is `plain`.
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
    split = ((code, _words(read)) for code, read in found if read)
    as_it_is = f" {' '.join(_WORDS.findall(text.lower()))} "
    return tuple(Decoded(code, words, "".join(words), as_it_is) for code, words in split if words)


def _words(text: str) -> list[str]:
    return _WORDS.findall(fold_disguises(text).lower().replace("'", ""))


def _translated(table: Mapping[int, str], text: str) -> str:
    return text.translate(table)


def _table(signs: Iterable[str], letters: Iterable[str] = _LETTERS) -> Mapping[int, str]:
    return {ord(sign): letter for sign, letter in zip(signs, letters, strict=True)}


def _shift(by: int) -> Reading:
    turned = _LETTERS[by:] + _LETTERS[:by]
    return partial(_translated, _table(turned + turned.upper(), _LETTERS * 2))


def _keys(by: int, *, strip: str = "") -> Reading:
    """The keys that lie `by` places to the left; the signs in `strip` end a word."""
    rows = _ALPHABETS["keyboard"]
    pairs = {
        ord(row[at]): row[at - by]
        for row in rows
        for at in range(max(0, by), len(row) + min(0, by))
    }
    return _each_word(lambda word: word.lower().rstrip(strip).translate(pairs))


def _each_word(change: Reading) -> Reading:
    return lambda text: " ".join(map(change, text.split()))


def _named(words: Mapping[str, str], text: str) -> str:
    """The letters that words stand for; other words separate them."""
    plain = text.lower().replace("x-ray", "xray")
    return "".join(words.get(word, " ") for word in _WORDS.findall(plain))


def _morse(text: str) -> str:
    signs = dict(zip(_ALPHABETS["morse"].split(), _LETTERS + string.digits, strict=True))
    words = text.translate(str.maketrans("·•−–—_", "..----")).replace("/", " / ").split()
    return "".join(signs.get(word, signs.get(word.rstrip(","), " ")) for word in words)


def _pairs(name: str) -> Mapping[str, str]:
    return {
        sign: letters for sign, _, letters in (p.partition("=") for p in _ALPHABETS[name].split())
    }


# --- numbers and bytes -------------------------------------------------------------------------


def _numbers(base: int, first: int, width: int, text: str) -> str:
    """Numbers as letters, of which number `first` is "a"; long ones have `width` digits each."""
    found = []
    for word in _WORDS.findall(text.lower().replace("0x", " ")):
        chunks = [word[at : at + width] for at in range(0, len(word), width)]
        for chunk in chunks if len(word) % width == 0 else [word]:
            try:
                code = int(chunk, base) - first + ord("a")
            except ValueError:
                found.append(" ")
            else:
                found.append(chr(code) if 32 <= code < 0x3000 else " ")
    return "".join(found)


def _bytes(decode: Callable[[bytes], bytes], text: str) -> str:
    found = []
    for word in text.split():
        try:
            read = decode(word.strip(".,!?;:\"'()").encode()).decode()
        except (ValueError, binascii.Error):
            continue
        found += [read, read[::-1]]
    return " ".join(found)


def _padded(decode: Callable[[bytes], bytes], multiple: int, word: bytes) -> bytes:
    word = word.rstrip(b"=")
    return decode(word + b"=" * (-len(word) % multiple))


def _escaped(text: str) -> str:
    return _ESCAPES.sub(lambda found: chr(min(int(found[1], 16), 0x10FFFF)), text)


# --- places of letters -------------------------------------------------------------------------


def _every(step: int, first: int, text: str) -> str:
    return " ".join(word[first::step] for word in _WORDS.findall(text))


def _columns(number: int, text: str) -> str:
    """Letters that were written in columns and read by column; two columns are rails."""
    letters = "".join(_WORDS.findall(text))
    starts = sorted(range(len(letters)), key=lambda place: place % number)
    return "".join(sign for _, sign in sorted(zip(starts, letters, strict=True)))


def _swapped(first: int, text: str) -> str:
    """Each two letters exchanged, from the letter `first` on."""
    pairs = (text[at : at + 2][::-1] for at in range(first, len(text), 2))
    return text[:first] + "".join(pairs)


def _ordered(text: str) -> str:
    """The letters of each word in alphabetical order."""
    return " ".join("".join(sorted(word)) for word in _words(text))


def _moved(text: str) -> str:
    """Words whose first letter was moved behind."""
    return " ".join(word[-1] + word[:-1] for word in _words(text))


def _pig_latin(text: str) -> str:
    return " ".join(
        next((word[at:] + word[:at] for at, s in enumerate(word) if s in _VOWELS), word)
        for word in text.split()
    )


def _without_ay(text: str) -> str:
    """Words of Pig Latin without what follows them: "ay", "way", "yay" or "hay"."""
    return " ".join(word[:-2] for word in _words(text) if word.endswith("ay"))


def _without_w(text: str) -> str:
    return " ".join(word.rstrip("wyh") for word in text.split())


def _joined(text: str) -> list[str]:
    """The words between spaces, without signs."""
    words = ("".join(_WORDS.findall(word)) for word in text.split())
    return [word for word in words if word]


def _edges(at: int, text: str) -> str:
    """The first or last letters of the words, by sentence."""
    sentences = (_joined(part) for part in _SENTENCES.split(text))
    return " ".join("".join(word[at] for word in words) for words in sentences if words)


def _edges_of_sentences(at: int, text: str) -> str:
    parts = ("".join(_WORDS.findall(part)) for part in _SENTENCES.split(text))
    return "".join(part[at] for part in parts if part)


def _lone_letters(text: str, *, without: str = "") -> str:
    """The single letters, but those that are the words "a" and "I"."""
    return "".join(word for word in _WORDS.findall(text) if len(word) == 1 and word not in without)


def _capitals(text: str) -> str:
    return "".join(sign for sign in text if sign.isupper())


# --- readings that lose something: the title loses it, too --------------------------------------


def _without_vowels(text: str) -> str:
    return "".join(sign for sign in text if sign not in _VOWELS)


def _vowelless(text: str) -> str:
    """The words without any vowel; signs may stand in their places."""
    bare = ("".join(_words(word)) for word in text.replace("_", "*").split())
    return " ".join(word for word in bare if _VOWELS.isdisjoint(word))


def _on_keypad(word: str) -> str:
    return word.translate(_table(_LETTERS, _ALPHABETS["keypad"]))


def _taps(text: str) -> str:
    """Keys of a telephone that are pressed several times."""
    keys, found = _ALPHABETS["keypad"], []
    for word in _WORDS.findall(text):
        at = keys.find(word[0]) + len(word) - 1
        same = set(word) == {word[0]} and at < len(keys) and keys[at] == word[0]
        found.append(_LETTERS[at] if same else " ")
    return "".join(found)


def _sound(word: str) -> str:
    for letters, sound in (("x", "ks"), ("ph", "f"), ("c", "k"), ("q", "k"), ("oo", "u")):
        word = word.replace(letters, sound)
    return word.translate(str.maketrans("bijuwy", "vvvvvv"))


def _foreign(text: str) -> str:
    sounds = _pairs("sounds")
    words = (w.lower() for w in _WORDS.findall(text))
    spelled = ("".join(sounds.get(s, s) for s in w) for w in words if sounds.keys() & set(w))
    return _sound(" ".join(spelled))


def _once(text: str) -> str:
    """Doubled letters as one."""
    return "".join(sign for at, sign in enumerate(text) if text[at - 1 : at] != sign)


def _doubled(text: str) -> str:
    """The words in which every letter stands twice or more."""
    words = (word.lower() for word in _WORDS.findall(text))
    return " ".join(_once(w) for w in words if len(_once(w)) * 2 <= len(w) and len(w) > 3)


def _masked(text: str) -> str:
    """The words with letters for digits and signs."""
    words = " ".join(word.strip(".,?;:\"'()*_~") for word in text.lower().split())
    return all_letters(words).replace("!", "i").replace("|", "i").replace("7", "t")


def _letters_of(alphabet: str) -> Reading:
    return partial(_translated, _table(_ALPHABETS[alphabet]))


def _turned(text: str) -> str:
    table = _table(_ALPHABETS["turned"]) | _table(_ALPHABETS["turned_capitals"])
    return text[::-1].translate(table)


_NAMES = dict(zip(_ALPHABETS["nato"].split(), _LETTERS, strict=True)) | _pairs("letter_names")
_ROMAN = dict(zip(_ALPHABETS["roman"].split(), _LETTERS, strict=True))

CODES: tuple[Code, ...] = (
    Code(str),  # disguised letters
    *(Code(_shift(by)) for by in range(1, 26)),
    Code(partial(_translated, _table((_LETTERS + _LETTERS.upper())[::-1], _LETTERS[::1] * 2))),
    Code(
        lambda text: "".join(chr(33 + (ord(s) + 14) % 94) if "!" <= s <= "~" else s for s in text)
    ),
    *(Code(_keys(by)) for by in (1, -1)),
    *(Code(_keys(by, strip=",.?!")) for by in (1, -1)),
    *(Code(_letters_of(alphabet)) for alphabet in ("braille", "runes")),
    Code(_morse),
    Code(partial(_named, _ROMAN)),
    Code(partial(_named, _NAMES)),
    *(
        Code(partial(_numbers, base, ord("a"), width))
        for base, width in ((2, 8), (2, 7), (8, 3), (10, 3), (10, 2), (16, 2), (16, 4))
    ),
    *(Code(partial(_numbers, base, first, 2)) for base in (10,) for first in (0, 1)),
    Code(lambda text: _numbers(10, 1, 2, text).translate(_table(_LETTERS[::-1]))),
    Code(_escaped),
    Code(partial(_bytes, partial(_padded, base64.b64decode, 4))),
    Code(partial(_bytes, partial(_padded, base64.urlsafe_b64decode, 4))),
    Code(partial(_bytes, partial(_padded, base64.b32decode, 8))),
    Code(partial(_bytes, base64.b85decode)),
    Code(partial(_bytes, base64.a85decode)),
    Code(lambda text: _MARKUP.sub("", text)),
    Code(lambda text: "".join(chr(ord(s) - 0xE0000) for s in text if 0xE0020 < ord(s) < 0xE007F)),
    Code(lambda text: text[::-1]),
    Code(_each_word(lambda word: word[::-1])),
    Code(_turned),
    *(Code(partial(_every, step, first)) for step in (2, 3) for first in range(step)),
    *(Code(partial(_columns, number)) for number in (2, 3, 4)),
    *(Code(partial(_swapped, first)) for first in (0, 1)),
    Code(_each_word(partial(_swapped, 0))),
    Code(_ordered, _ordered),
    Code(_moved),
    Code(lambda text: _without_w(_without_ay(text)), lambda title: _without_w(_pig_latin(title))),
    Code(lambda text: _SYLLABLES.sub("", text.lower())),
    Code(_capitals),
    Code(_taps),
    Code(_masked, all_letters),
    Code(_vowelless, _without_vowels),
    Code(lambda text: " ".join(w for w in _WORDS.findall(text) if w.isdigit()), _on_keypad),
    Code(_foreign, _sound),
    Code(lambda text: _foreign(text.replace("ω", "w")), _sound),
    Code(_doubled, _once),
)
"""Codes of words that are not plain language."""

CARRIERS: tuple[Code, ...] = (
    Code(partial(_named, _NAMES)),
    *(Code(partial(_edges, at), words=False) for at in (0, -1)),
    *(Code(partial(_edges_of_sentences, at), words=False) for at in (0, -1)),
    Code(_lone_letters, words=False),
    *(Code(partial(_lone_letters, without=words), words=False) for words in ("a", "I", "aI")),
    Code(lambda text: text[::-1], least=6, words=False),
    Code(lambda text: " ".join(reversed(text.split())), least=10, words=False),
)
"""Codes that plain words may carry: they read the whole text."""

WRITINGS = frozenset(code.write for code in (*CODES, *CARRIERS))
"""All ways in which a title is looked for."""
