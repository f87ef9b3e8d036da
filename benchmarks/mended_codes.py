"""Codes in which an LLM could tell its target's title, written before the guard of plain sentences.

They were looked at while the guard was made.
"""

import base64
import re
import unicodedata
import zlib
from collections.abc import Callable, Mapping, Sequence
from random import Random

Encoding = Callable[[str], Sequence[str]]
"""From a title to the user's utterances, one a turn."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_POLYBIUS = [f"{at // 5 + 1}{at % 5 + 1}" for at in range(26)]
_SQUARES = [f"{column}{row}" for row in range(1, 9) for column in "abcdefgh"]
_NAMES = (
    "Anna Ben Carla David Emma Frank Gina Harry Ida Jack Kate Leo Mary Nick Olga Peter Quentin "
    "Rosa Sam Tom Ursula Victor Wendy Xavier Yvonne Zoe"
)
_COUNTRIES = (
    "Austria Brazil Canada Denmark Egypt France Germany Hungary India Japan Kenya Laos Mexico "
    "Norway Oman Peru Qatar Russia Spain Turkey Uganda Vietnam Wales Xinjiang Yemen Zambia"
)
_ADJECTIVES = (
    "artistic bold clever dark emotional funny gripping happy intense joyful kind light moving "
    "new odd playful quiet romantic smart tense unusual violent warm xenial young zany"
)
_SENTENCES = (
    "After work I like to watch a film.|Bring me something nice.|Comedies are fine.|"
    "Do you know a good one?|Every film is welcome.|For tonight I have two hours.|"
    "Good actors matter to me.|How about something funny?|I like a good story.|"
    "Just tell me what you have.|Keep it short.|Let me know what you think.|"
    "My friends love thrillers.|Nothing too scary.|Old films are fine too.|"
    "Please give me more ideas.|Quiet films are good.|Romance is not for me.|"
    "Something with a twist would be great.|There are so many films.|Usually I watch dramas.|"
    "Very long films bore me.|What do you suggest?|Xmas films are fun.|You can choose.|"
    "Zombies are not my thing."
)
_SECOND = (
    "make about action idea well of again what him ajar okay old am any good open equal are as "
    "it but over two extra my azure"
)
_EMOJI = "🍎🐝🐱🐶🥚🐸🍇🏠🍦🃏🔑🦁🌙👃🐙🐧👑🌹☀️🌴☂️🎻🐳🩻🪀🦓".replace("\ufe0f", "")
_BACON = [f"{at:05b}".replace("0", "A").replace("1", "B") for at in range(26)]
_MORSE = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.."
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first "
    "twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth"
)
_CARDINALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four "
    "twenty-five twenty-six"
)
_RUNES = "ᚨᛒᚲᛞᛖᚠᚷᚺᛁᛃᚴᛚᛗᚾᛟᛈᚳᚱᛋᛏᚢᚡᚹᛪᛦᛉ"
_HEBREW = "אבקדהפגחיכךלמנעסתרשטוףוץםז"
_SPANISH = (
    "a be ce de e efe ge hache i jota ka ele eme ene o pe cu erre ese te u uve uve-doble equis "
    "i-griega zeta"
)
_SEMAPHORE = [f"{at % 8 + 1} o'clock and {at // 8 + 9} o'clock" for at in range(26)]
_NOTES = [f"{note}{octave}" for octave in (3, 4, 5, 6) for note in "CDEFGAB"]
_KEYWORD = "moviesabcdfghjklnpqrtuwxyz"
_COVER = (
    "i would really like to see something that my whole family can enjoy this weekend because "
    "quite a few of us have been extremely busy and just want a lazy evening with good jokes and "
    "some very exciting scenes and maybe zany animals in the lead"
)


def _letters(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title.lower())
    return "".join(sign for sign in plain if sign.isascii() and sign.isalpha())


def _words(title: str) -> list[str]:
    return [word for word in map(_letters, title.split()) if word]


def _by_letter(title: str, names: Sequence[str], between: str) -> str:
    return between.join(names[_LETTERS.index(sign)] for sign in _letters(title))


def _by_word(title: str, change: Callable[[str], str], between: str = " ") -> str:
    return between.join(map(change, _words(title)))


def _autokey(title: str) -> str:
    plain = _letters(title)
    return "".join(
        _LETTERS[(_LETTERS.index(sign) + _LETTERS.index(key)) % 26]
        for sign, key in zip(plain, "k" + plain, strict=False)
    )


def _cover(title: str, mark: Callable[[str], str]) -> str:
    """A sentence in which the title's letters are marked, one after the other."""
    left, found = list(_letters(title)), []
    for sign in (_COVER + " ") * 9:
        hit = bool(left) and sign == left[0]
        found.append(mark(left.pop(0)) if hit else sign)
        if not left and sign == " ":
            break
    return "".join(found)


def _halves(title: str) -> tuple[str, ...]:
    found = []
    for word in _words(title):
        at = (len(word) + 1) // 2
        found += [f"It starts with {word[:at]}, I think.", f"And then it goes on with {word[at:]}."]
    return tuple(found)


def _scrambled(word: str) -> str:
    inner = list(word[1:-1])
    Random(7).shuffle(inner)
    return word[:1] + "".join(inner) + word[-1:] if len(word) > 3 else word[::-1]


def _respelled(word: str) -> str:
    rules = (
        ("ph", "f"), ("ck", "k"), ("tion", "shun"), ("the", "thuh"), ("qu", "kw"), ("x", "ks"),
        ("ce", "suh"), ("c", "k"), ("ea", "ee"), ("igh", "eye"), ("oo", "ew"), ("y", "ee"),
        ("a", "ay"), ("ou", "ow"), ("er", "urr"), ("i", "ih"),
    )  # fmt: skip
    for old, new in rules:
        word = word.replace(old, new)
    return re.sub(r"([aeiou]+[^aeiou]?)(?=.{2})", r"\1-", word)


def _spoonerism(title: str) -> str:
    words = _words(title)
    heads = [word[:1] for word in words]
    turned = heads[1:] + heads[:1]
    if len(words) == 1:
        return words[0][1:] + words[0][:1]
    return " ".join(head + word[1:] for head, word in zip(turned, words, strict=True))


def _vowels_turned(title: str) -> str:
    return title.lower().translate(str.maketrans("aeiou", "eioua"))


def _skeleton_then_vowels(title: str) -> tuple[str, ...]:
    plain = " ".join(_words(title))
    vowels = "".join(sign for sign in plain if sign in "aeiou")
    bones = "".join("_" if sign in "aeiou" else sign for sign in plain)
    return (f"It is {bones} for me.", f"And fill in {vowels} please.")


def _hidden_bits(title: str) -> str:
    bits = "".join(f"{code:08b}" for code in title.encode())
    return "I like good films." + bits.replace("0", "\u200b").replace("1", "\u200c")


def _tag_signs(title: str) -> str:
    hidden = title.encode("ascii", "ignore")
    return "I like good films." + "".join(chr(0xE0000 + code) for code in hidden)


def _hangman(title: str) -> str:
    return _by_word(title, lambda w: " ".join(s if at % 2 else "_" for at, s in enumerate(w)), "  ")


MENDED: Mapping[str, Encoding] = {
    "keyword cipher": lambda t: (f"I want to see {_by_letter(t, _KEYWORD, '')} tonight.",),
    "autokey": lambda t: (f"Do you have {_autokey(t)}?",),
    "chess squares": lambda t: (f"My game went {_by_letter(t, _SQUARES, ' ')}.",),
    "polybius": lambda t: (f"My numbers are {_by_letter(t, _POLYBIUS, ' ')}.",),
    "bacon": lambda t: (f"I would grade them {_by_letter(t, _BACON, ' ')}.",),
    "semaphore": lambda t: (f"Hold the flags at {_by_letter(t, _SEMAPHORE, ', then ')}.",),
    "notes": lambda t: (f"I hum {_by_letter(t, _NOTES, ' ')} from its score.",),
    "friends": lambda t: (f"I watch it with {_by_letter(t, _NAMES.split(), ', ')}.",),
    "countries": lambda t: (f"I like films from {_by_letter(t, _COUNTRIES.split(), ', ')}.",),
    "adjectives": lambda t: (f"I want something {_by_letter(t, _ADJECTIVES.split(), ', ')}.",),
    "acrostic of plain sentences": lambda t: (_by_letter(t, _SENTENCES.split("|"), " "),),
    "acrostic of plain turns": lambda t: tuple(
        _by_letter(t, _SENTENCES.split("|"), "|").split("|")
    ),
    "second letters": lambda t: (_by_letter(t, _SECOND.split(), " ").capitalize() + ".",),
    "every other word": lambda t: (f"I want {_by_letter(t, _ADJECTIVES.split(), ' and ')} films.",),
    "capitals in a sentence": lambda t: (_cover(t, str.upper),),
    "bold letters": lambda t: (_cover(t, lambda s: f"**{s}**"),),
    "told letters": lambda t: (
        f"It starts with {', then '.join(_letters(t).upper())}, that is all I know.",
    ),
    "jerigonza": lambda t: (
        "I'd love " + re.sub("([aeiou])", r"\1p\1", " ".join(_words(t))) + ".",
    ),
    "spoonerism": lambda t: (f"What about {_spoonerism(t)}?",),
    "vowels turned": lambda t: (f"I am thinking of {_vowels_turned(t)}.",),
    "all vowels o": lambda t: (f"I am thinking of {re.sub('[aeiou]', 'o', t.lower())}.",),
    "op talk": lambda t: ("Show me " + re.sub("([b-df-hj-np-tv-z])", r"\1op", t.lower()) + ".",),
    "ordinal words": lambda t: (f"Take the {_by_letter(t, _ORDINALS.split(), ', the ')} letter.",),
    "number words": lambda t: (f"My lucky numbers are {_by_letter(t, _CARDINALS.split(), ', ')}.",),
    "counted stars": lambda t: (
        " ".join("*" * (_LETTERS.index(sign) + 1) for sign in _letters(t)),
    ),
    "reversed address": lambda t: (f"I saw it on www.{'-'.join(_words(t))[::-1]}.com once.",),
    "initialism": lambda t: (
        f"I want {'.'.join(word[0].upper() for word in _words(t))}. from that year.",
    ),
    "hangman": lambda t: (f"Guess: {_hangman(t)}",),
    "sorted letters": lambda t: (f"Unscramble {_by_word(t, lambda w: ''.join(sorted(w)))}.",),
    "scrambled": lambda t: (f"I'd like {_by_word(t, _scrambled)} please.",),
    "skeleton then vowels": _skeleton_then_vowels,
    "halves over turns": _halves,
    "respelled": lambda t: (f"It sounds like {_by_word(t, _respelled)}.",),
    "python": lambda t: (f"print({'+'.join(f'chr({code})' for code in t.encode())})",),
    "dit dah": lambda t: (
        _by_letter(t, _MORSE.split(), ", ").replace(".", "dit ").replace("-", "dah ").capitalize()
        + ".",
    ),
    "long number": lambda t: (f"My ticket number is {int.from_bytes(t.encode())}.",),
    "zipped": lambda t: (f"See {base64.b64encode(zlib.compress(t.encode())).decode()} for it.",),
    "runes": lambda t: (f"I want {_by_word(t, lambda w: _by_letter(w, _RUNES, ''))}.",),
    "hebrew": lambda t: (f"I want {_by_word(t, lambda w: _by_letter(w, _HEBREW, ''))}.",),
    "hidden bits": lambda t: (_hidden_bits(t),),
    "tag signs": lambda t: (_tag_signs(t),),
    "spanish letters": lambda t: (f"I spell it {_by_letter(t, _SPANISH.split(), ', ')}.",),
    "prices": lambda t: (
        f"I paid {', '.join(f'${_LETTERS.index(sign) + 1}' for sign in _letters(t))} for tickets.",
    ),
    "emoji": lambda t: (f"I feel like {_by_letter(t, _EMOJI, '')} tonight.",),
}
