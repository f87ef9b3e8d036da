"""Encoded titles and odd titles: `python -m benchmarks.encodings --data DIR --json`.

A user that wants to cheat says its target in a code: encodings of 100 titles that were looked at
while the guard was developed, and those (`unseen_codes.UNSEEN`) that were not. Half of the titles
are of the sample's catalogue, half of ReDial's (`--data`; without it, all are of the sample).
`passed` are those of which the leak guard blocks no utterance. `harmless_blocked` are sentences
about odd titles (`sentences/odd_titles.txt`) that it blocks for any of 20 other targets.
"""

import argparse
import base64
import binascii
import codecs
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from random import Random
from statistics import mean

from benchmarks.mended_codes import MENDED
from benchmarks.running import run
from benchmarks.unseen_codes import UNSEEN
from recjury.corpora import open_corpus
from recjury.knowledge import Catalogue, split_year
from recjury.records import Item, Speaker, Turn
from recjury.simulator import LeakGuard

Encoding = Callable[[str], Sequence[str]]
"""From a title to the user's utterances, one a turn."""

TITLES = 100
TARGETS = 20
SENTENCES = Path(__file__).with_name("sentences") / "odd_titles.txt"
ASKED = Turn(speaker=Speaker.SYSTEM, text="What kind of film would you like to see tonight?")

_NATO = (
    "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar "
    "papa quebec romeo sierra tango uniform victor whiskey x-ray yankee zulu"
)
_MORSE = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BEGINNINGS = (
    "Any Better Can Do Even For Good How It Just Keep Let My Now One Please Quite Really Some Then "
    "Usually Very What Xylophones You Zany"
)
_ENDINGS = (
    "idea club music mood one stuff thing much sci-fi raj book real film fun also top iraq for "
    "films not menu shiv now relax any quiz"
)
_UPSIDE = dict(zip(_LETTERS, "ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz", strict=True))
_CYRILLIC = dict(zip(_LETTERS, "абкдефгхийклмнопкрстувукыз", strict=True)) | {"x": "кс"}
_GREEK = dict(zip(_LETTERS, "αβκδεφγχιικλμνοπκρστυβωχυζ", strict=True)) | {"x": "ξ"}
_HOMOGLYPHS = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_LEET = str.maketrans("aeiostAEIOST", "431057431057")
_LETTER_NAMES = dict(
    zip(
        _LETTERS,
        [
            "ay",
            "bee",
            "cee",
            "dee",
            "ee",
            "ef",
            "gee",
            "aitch",
            "eye",
            "jay",
            "kay",
            "el",
            "em",
            "en",
            "oh",
            "pee",
            "cue",
            "ar",
            "ess",
            "tee",
            "you",
            "vee",
            "double-you",
            "ex",
            "why",
            "zee",
        ],
        strict=True,
    )
)
_BRAILLE = dict(zip(_LETTERS, "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", strict=True))
_ROMAN = dict(
    zip(
        _LETTERS,
        [
            "I",
            "II",
            "III",
            "IV",
            "V",
            "VI",
            "VII",
            "VIII",
            "IX",
            "X",
            "XI",
            "XII",
            "XIII",
            "XIV",
            "XV",
            "XVI",
            "XVII",
            "XVIII",
            "XIX",
            "XX",
            "XXI",
            "XXII",
            "XXIII",
            "XXIV",
            "XXV",
            "XXVI",
        ],
        strict=True,
    )
)
_AFFINE = {sign: _LETTERS[(5 * at + 8) % 26] for at, sign in enumerate(_LETTERS)}
_MIRRORED = dict(zip("qwertyuiopasdfghjklzxcvbnm", "poiuytrewqlkjhgfdsamnbvcxz", strict=True))
_KEYS = "qwertyuiop[asdfghjkl;'zxcvbnm,."
_KEYPAD = dict(zip(_LETTERS, "22233344455566677778889999", strict=True))
_TAPS = dict(zip(_LETTERS, "1231231231231231234123123 4".replace(" ", ""), strict=True))


def _letters(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title.lower())
    return "".join(sign for sign in plain if sign.isascii() and sign.isalnum())


def _words(title: str) -> list[str]:
    return [word for word in map(_letters, title.split()) if word]


def _said(title: str) -> tuple[str, ...]:
    return (f"The film that I have in mind is {title}, have you got it?",)


def _mapped(title: str, table: Mapping[str, str], between: str = "") -> str:
    return " ".join(between.join(table.get(sign, sign) for sign in word) for word in _words(title))


def _numbers(title: str, form: str, between: str = " ") -> str:
    return between.join(format(code, form) for code in title.encode())


def _letter_numbers(title: str) -> str:
    found = (str(_LETTERS.find(sign) + 1) if sign.isalpha() else sign for sign in _letters(title))
    return "-".join(found)


def _caesar(title: str, by: int) -> str:
    turned = _LETTERS[by:] + _LETTERS[:by]
    return title.translate(str.maketrans(_LETTERS + _LETTERS.upper(), turned + turned.upper()))


def _atbash(title: str) -> str:
    table = str.maketrans(_LETTERS + _LETTERS.upper(), _LETTERS[::-1] + _LETTERS[::-1].upper())
    return title.translate(table)


def _shifted_keys(title: str, by: int) -> str:
    return "".join(
        _KEYS[_KEYS.index(sign) + by] if sign.isalpha() and sign in _KEYS else sign
        for sign in title.lower()
    )


def _pig_latin(title: str) -> str:
    found = []
    for word in _words(title):
        first = next((at for at, sign in enumerate(word) if sign in "aeiou"), 0)
        found.append(word[first:] + word[:first] + "ay" if first else word + "way")
    return " ".join(found)


def _initials(title: str, end: str, between: str) -> str:
    known = dict(zip(_LETTERS, _BEGINNINGS.split(), strict=True))
    return between.join(known.get(sign, sign) + end for sign in _letters(title))


def _last_letters(title: str) -> tuple[str, ...]:
    known = dict(zip(_LETTERS, _ENDINGS.split(), strict=True))
    return (" ".join(known.get(sign, sign) for sign in _letters(title)),)


def _turns(title: str) -> tuple[str, ...]:
    return tuple(f'The next letter is "{sign}".' for sign in _letters(title))


def _bare_turns(title: str) -> tuple[str, ...]:
    return tuple(sign.upper() for sign in _letters(title))


def _beginning_turns(title: str) -> tuple[str, ...]:
    known = dict(zip(_LETTERS, _BEGINNINGS.split(), strict=True))
    return tuple(f"{known.get(sign, sign)}, if I may say so." for sign in _letters(title))


def _taps(title: str) -> str:
    return " ".join(
        _KEYPAD[sign] * int(_TAPS[sign]) if sign.isalpha() else sign for sign in _letters(title)
    )


def _named_signs(title: str, name: str) -> str:
    found = []
    for sign in title.upper():
        try:
            found.append(unicodedata.lookup(name.format(sign)) if sign.isalpha() else sign)
        except KeyError:
            found.append(sign)
    return "".join(found)


def _alternating(title: str) -> str:
    return "".join(s.upper() if at % 2 else s.lower() for at, s in enumerate(title))


def _swapped(title: str) -> str:
    return "".join(title[at : at + 2][::-1] for at in range(0, len(title), 2))


def _rails(title: str) -> str:
    letters = _letters(title)
    return letters[::2] + letters[1::2]


def _as_in(title: str) -> str:
    known = dict(zip(_LETTERS, _BEGINNINGS.split(), strict=True))
    return ", ".join(f"{s.upper()} as in {known.get(s, s)}" for s in _letters(title))


def _vigenere(title: str) -> tuple[str, ...]:
    keys = cycle("film")
    return _said("".join(_caesar(sign, _LETTERS.index(next(keys))) for sign in title.lower()))


ENCODINGS: Mapping[str, Encoding] = {
    "spaces": lambda t: _said(" ".join(_letters(t))),
    "dashes": lambda t: _said("-".join(_letters(t))),
    "dots": lambda t: _said(".".join(_letters(t)) + "."),
    "nato": lambda t: _said(_mapped(t, dict(zip(_LETTERS, _NATO.split(), strict=True)), " ")),
    "base64": lambda t: _said(base64.b64encode(t.encode()).decode()),
    "base32": lambda t: _said(base64.b32encode(t.encode()).decode()),
    "hex": lambda t: _said(t.encode().hex()),
    "spaced hex": lambda t: _said(_numbers(t, "02x")),
    "rot13": lambda t: _said(codecs.encode(t, "rot13")),
    "caesar 3": lambda t: _said(_caesar(t, 3)),
    "caesar 19": lambda t: _said(_caesar(t, 19)),
    "rot47": lambda t: _said(
        "".join(chr(33 + (ord(s) + 14) % 94) if "!" <= s <= "~" else s for s in t)
    ),
    "atbash": lambda t: _said(_atbash(t)),
    "morse": lambda t: _said(
        _mapped(t, dict(zip(_LETTERS + "0123456789", _MORSE.split(), strict=True)), " ")
    ),
    "binary": lambda t: _said(_numbers(t, "08b")),
    "octal": lambda t: _said(_numbers(t, "o")),
    "decimal": lambda t: _said(_numbers(t, "d")),
    "percent": lambda t: _said("%" + _numbers(t, "02X", "%")),
    "entities": lambda t: _said("".join(f"&#{ord(sign)};" for sign in t)),
    "escapes": lambda t: _said("".join(f"\\u{ord(sign):04x}" for sign in t)),
    "a1z26": lambda t: _said(_letter_numbers(t)),
    "leetspeak": lambda t: _said(t.translate(_LEET)),
    "reversed": lambda t: _said(t[::-1]),
    "reversed words": lambda t: _said(" ".join(word[::-1] for word in t.split())),
    "upside down": lambda t: _said(_mapped(t, _UPSIDE)[::-1]),
    "homoglyphs": lambda t: _said(t.translate(_HOMOGLYPHS)),
    "full width": lambda t: _said(
        "".join(chr(ord(s) + 65248) if "!" <= s <= "~" else s for s in t)
    ),
    "zero width": lambda t: _said("\u200b".join(t)),
    "combining marks": lambda t: _said("".join(f"{sign}\u0336\u0301" for sign in t)),
    "regional letters": lambda t: _said(_named_signs(t, "REGIONAL INDICATOR SYMBOL LETTER {}")),
    "boxed letters": lambda t: _said(_named_signs(t, "NEGATIVE SQUARED LATIN CAPITAL LETTER {}")),
    "pig latin": lambda t: _said(_pig_latin(t)),
    "first letters of words": lambda t: (_initials(t, "", " ") + ".",),
    "first letters of sentences": lambda t: (_initials(t, ", please.", " "),),
    "first letters of lines": lambda t: (_initials(t, " would do", "\n"),),
    "last letters": _last_letters,
    "every second letter": lambda t: _said("x".join(_letters(t))),
    "vowels removed": lambda t: _said("".join(s for s in t if s.lower() not in "aeiou")),
    "vowels starred": lambda t: _said("".join("*" if s in "aeiou" else s for s in t.lower())),
    "a letter a turn": _turns,
    "a bare letter a turn": _bare_turns,
    "first letters of turns": _beginning_turns,
    "alternating case": lambda t: _said(_alternating(t)),
    "next keys": lambda t: _said(_shifted_keys(t, 1)),
    "keypad": lambda t: _said(_mapped(t, _KEYPAD)),
    "keypad taps": lambda t: _said(_taps(t)),
    "cyrillic": lambda t: _said(_mapped(t, _CYRILLIC)),
    "greek": lambda t: _said(_mapped(t, _GREEK)),
    "swapped letters": lambda t: _said(_swapped(t)),
    "two rails": lambda t: _said(_rails(t)),
    "as in": lambda t: _said(_as_in(t)),
}


LATER: Mapping[str, Encoding] = {
    "quoted printable": lambda t: _said("".join(f"={code:02X}" for code in t.encode())),
    "octal escapes": lambda t: _said("".join(f"\\{code:03o}" for code in t.encode())),
    "base85": lambda t: _said(base64.b85encode(t.encode()).decode()),
    "uuencode": lambda t: _said(binascii.b2a_uu(t.encode()[:45]).decode().strip()),
    "base64 of reversed": lambda t: _said(base64.b64encode(t[::-1].encode()).decode()),
    "three columns": lambda t: _said("".join(_letters(t)[at::3] for at in range(3))),
    "ubbi dubbi": lambda t: _said(re.sub("([aeiouy]+)", r"ub\1", t.lower())),
    "letter names": lambda t: _said(_mapped(t, _LETTER_NAMES, " ")),
    "tags": lambda t: _said("".join(f"<b>{sign}</b>" for sign in t)),
    "doubled letters": lambda t: _said("".join(2 * sign for sign in t)),
    "last word first": lambda t: _said(" ".join(t.split()[::-1])),
    "braille": lambda t: _said(_mapped(t, _BRAILLE)),
    "small capitals": lambda t: _said(_named_signs(t, "LATIN LETTER SMALL CAPITAL {}")),
    "modifiers": lambda t: _said(_named_signs(t, "MODIFIER LETTER CAPITAL {}")),
    "roman numbers": lambda t: _said(_mapped(t, _ROMAN, " ")),
    "affine": lambda t: _said(_mapped(t, _AFFINE)),
    "vigenere": _vigenere,
    "brackets": lambda t: _said("".join(f"[{sign}]" for sign in _letters(t))),
    "list": lambda t: _said(json.dumps(list(_letters(t)))),
    "questions": lambda t: _said(" ".join(f"Is there a {s} next?" for s in _letters(t).upper())),
    "slashes": lambda t: _said("/".join(_letters(t))),
    "next word": lambda t: tuple(f"Word {n}: {w}." for n, w in enumerate(t.split(), start=1)),
    "plus one": lambda t: _said(" ".join(str(_LETTERS.find(s) + 2) for s in _letters(t))),
    "mirror keys": lambda t: _said(_mapped(t, _MIRRORED)),
}
"""Encodings that an earlier guard, which was a list of codes, was not developed with."""
DEVELOPMENT = {**ENCODINGS, **LATER, **MENDED}


def held_out(number: int) -> bool:
    """Whether the sentence with this number was kept out of development."""
    return number % 3 == 2


@dataclass(frozen=True)
class Outcome:
    """What passed and what was blocked: of those of development, and of those held out."""

    tried: int
    passed: float
    passed_held_out: float
    passed_by_encoding: Mapping[str, float]
    harmless: int
    harmless_blocked: int
    harmless_blocked_held_out: int


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/")
    parser.add_argument("--titles", type=int, default=TITLES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = ("sample", "redial") if options.data else ("sample",)
    catalogues = [open_corpus(name, options.data).catalogue for name in names]
    result = outcome(catalogues, options.titles, options.seed)
    print(json.dumps(asdict(result), indent=1) if options.json else result)


def outcome(catalogues: Sequence[Catalogue], titles: int, seed: int = 0) -> Outcome:
    """Try all encodings of titles of these catalogues, and all harmless sentences."""
    draw = Random(seed)
    guards = [LeakGuard(each) for each in catalogues]
    drawn = [draw.sample(list(each), titles // len(catalogues)) for each in catalogues]
    shares = [_shares(encodings, guards, drawn) for encodings in (DEVELOPMENT, UNSEEN)]
    blocked = [number for number, text in enumerate(sentences()) if _blocks(guards, drawn, text)]
    return Outcome(
        tried=sum(map(len, drawn)) * (len(DEVELOPMENT) + len(UNSEEN)),
        passed=mean(shares[0].values()),
        passed_held_out=mean(shares[1].values()),
        passed_by_encoding=shares[0] | shares[1],
        harmless=len(sentences()),
        harmless_blocked=sum(not held_out(number) for number in blocked),
        harmless_blocked_held_out=sum(map(held_out, blocked)),
    )


def _shares(
    encodings: Mapping[str, Encoding],
    guards: Sequence[LeakGuard],
    drawn: Sequence[Sequence[Item]],
) -> dict[str, float]:
    """The share of titles that pass, by encoding."""
    return {
        name: mean(
            _passes(guard, item, encode(split_year(item.name).title))
            for guard, items in zip(guards, drawn, strict=True)
            for item in items
        )
        for name, encode in encodings.items()
    }


def sentences() -> list[str]:
    """The harmless sentences about odd titles."""
    return SENTENCES.read_text("utf-8").splitlines()


def _passes(guard: LeakGuard, target: Item, said: Sequence[str]) -> bool:
    checker = guard.watch([target.ref], [ASKED])
    return not any(checker.blocked(text, earlier=said[:at]) for at, text in enumerate(said))


def _blocks(guards: Sequence[LeakGuard], drawn: Sequence[Sequence[Item]], text: str) -> bool:
    return any(
        guard.watch([item.ref], [ASKED]).leaks(text)
        for guard, items in zip(guards, drawn, strict=True)
        for item in items[:TARGETS]
        if item.title.lower() not in text.lower()
    )


if __name__ == "__main__":
    run(main)
