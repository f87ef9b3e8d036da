"""Kinds of common words, each as one letter: words of one kind, as far as English has them.

Adjectives that are also verbs, adverbs or nouns have a kind of their own ("a"). A word that is not
listed, or that is of several other kinds ("cold", "light", "short"), is OTHER, and no rule asks for
that kind.
"""

from collections.abc import Iterator

from recjury.judges.measured.text import TITLE, Sentence

OTHER, ITEM, PAUSE = "?", "X", ","
KINDS = {
    "D": "a an",
    "T": "the my your its their our",
    "R": "very so quite extremely",
    "d": "really rather fairly too",  # "really better" is English, "very better" is not
    "r": "not also never always just only still even often",
    "A": (
        "good great bad nice wonderful beautiful strange sad funny happy unhappy angry lonely "
        "clever silly crazy poor rich famous serious simple honest gentle quick "
        "loud dark bright scary violent dangerous terrible lovely cheerful "
        "hopeful young old new big small large huge tiny strong weird "
        "boring interesting exciting amazing awesome fantastic brilliant charming "
        "cruel bittersweet touching moving gripping entertaining hilarious creepy sweet "
        "tender tragic ugly easy difficult hard modern recent popular unusual "
        "similar different colourful colorful thoughtful uplifting afraid alive wild silent "
        "true"
    ),
    "a": "slow warm cool calm quiet empty brave tense busy long bloody",
    "c": (
        "better worse darker funnier older newer quieter sadder warmer longer shorter faster "
        "slower lighter calmer smaller bigger younger louder scarier happier "
        "stronger easier"
    ),
    "H": (
        "man woman boy girl person friend brother sister mother father daughter wife husband "
        "actor actress director teacher writer doctor soldier detective singer student widow "
        "king queen princess prince gangster lawyer thief killer dancer musician "
        "child"
    ),
    "N": "film movie story comedy drama thriller book novel song musical documentary",
    "n": (
        "music action humour humor violence magic war crime life time ending family "
        "house city town friendship horror part"
    ),
    "P": (
        "people men women boys girls friends brothers sisters children kids actors parents "
        "teenagers soldiers strangers daughters sons peoples"
    ),
    "p": (
        "films movies stories comedies dramas thrillers books novels songs colours colors "
        "pictures scenes jokes"
    ),
    "V": "is was",
    "W": "are were aren't weren't",
    "h": "has",
    "v": "have",
    "u": "had",
    "3": (
        "wants makes takes gets goes knows says becomes finds tells keeps gives learns tries meets"
    ),
    "B": "make take find get go bring tell keep give",
    "l": "love",
    "b": "talk live work play want need learn try meet fall lose become fight look know think",
    "M": "will would should could can might may must cannot can't won't wouldn't couldn't",
    "C": "and or but",
    "I": "of from in on at for by into through between under over",
    "j": "about with without",
    "s": "he she they we i",
    "t": "it",
    "y": "you",
    "Z": "it's he's she's that's there's i'm you're we're they're",
    "Q": "who which",
    "e": "there",
    "q": "that what how why when where if because than as like whether",
    "#": "two three four five six seven eight nine ten several many these those",
}
_KIND_OF = {word: kind for kind, words in KINDS.items() for word in words.split()}


def kinds_of(sentence: Sentence) -> tuple[str, list[int]]:
    """One letter for each word, and one for each pause, with the index of the word.

    A word in capitals inside a sentence is taken for a name.
    """
    letters: list[str] = []
    places: list[int] = []
    for kind, at in _letters(sentence):
        letters.append(kind)
        places.append(at)
    return "".join(letters), places


def _letters(sentence: Sentence) -> Iterator[tuple[str, int]]:
    for at, word in enumerate(sentence.words):
        if at and sentence.breaks[at]:
            yield PAUSE, at
        is_name = at > 0 and sentence.raw[at][0].isupper() and word != "i"
        if word == TITLE or is_name:
            yield ITEM, at
        else:
            yield _KIND_OF.get(word, OTHER), at
