"""Kinds of common words, each as one letter: only words of one kind, as far as English has them.

A word that is not listed, or that is of several kinds ("cold", "light", "watch"), is OTHER, and no
rule about kinds sees it.
"""

from collections.abc import Iterator

from recjury.judges.measured.text import TITLE, Sentence

OTHER, ITEM, PAUSE = "?", "X", ","
_KINDS = {
    "D": "a an",
    "T": "the my your its their our",
    "R": "very so quite really rather fairly extremely too",
    "r": "not also never always just only still even often",
    "A": (
        "good great bad nice wonderful beautiful strange sad funny happy unhappy angry lonely "
        "brave clever silly crazy poor rich famous serious simple honest gentle calm quiet "
        "slow quick loud dark bright scary tense violent dangerous terrible lovely cheerful "
        "hopeful warm cool young old new big small large huge tiny long short strong weird "
        "boring interesting exciting amazing awesome fantastic brilliant charming bloody "
        "cruel bittersweet touching moving gripping entertaining hilarious creepy sweet "
        "tender tragic istic pretty ugly easy difficult hard modern recent popular unusual "
        "similar different colourful colorful thoughtful uplifting afraid alive wild silent "
        "empty busy true"
    ),
    "c": (
        "better worse darker funnier older newer quieter sadder warmer longer shorter faster "
        "slower lighter calmer smaller bigger younger louder scarier stranger happier "
        "stronger easier"
    ),
    "H": (
        "man woman boy girl person friend brother sister mother father daughter wife husband "
        "actor actress director teacher writer doctor soldier detective singer student widow "
        "king queen princess prince gangster stranger lawyer thief killer dancer musician "
        "child"
    ),
    "N": "film movie story comedy drama thriller book novel song musical documentary",
    "n": (
        "music action humour humor violence magic war crime life time ending family "
        "house city town friendship horror"
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
    "B": "make take find get know go bring tell keep give",
    "l": "love",
    "b": "talk live work play want need learn try meet fall lose become fight look",
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
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}


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
