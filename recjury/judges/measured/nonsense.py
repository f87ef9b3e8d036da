"""Sentences that no one means: descriptions that go in circles, and two sentences run into one.

Found in the development fifth of the recordings (docs/measured-judges.md). Each pattern has only
bounded gaps, so that a search takes linear time.
"""

import re
from functools import lru_cache

from recjury.judges.measured.text import TITLE, Sentence

Error = tuple[int, str]

_WHO = r"(?: who(?:'s| is| was| becomes)| that(?:'s| is| was)) "
_MAN, _WOMAN = r"(?:man|guy|boy|father|husband)", r"(?:woman|girl|wife|mother|daughter)"
_ONE = rf"(?:{_MAN}|{_WOMAN})"
_LIKES = (
    r"(?:like|liked|love|loved|recommend|recommending|suggest|enjoyed|have seen|like the movie|"
    r"love the movie)"
)
_PRAISE = r"(?:both |all |also |really |pretty )*(?:great|good|awesome|classics?|very)"
_CIRCLES = (
    # "a girl who is a girl", "a man that's a man", "a man who is a woman"
    rf"\b(\w{{3,20}}){_WHO}(?:a|an|the) (?:young |little )?\1\b",
    rf"\b{_MAN}{_WHO}an? (?:young )?{_WOMAN}\b|\b{_WOMAN}{_WHO}an? (?:young )?{_MAN}\b",
    rf"\b(?:is|are|was|who's|{_ONE}) in an? (?:young )?{_ONE}\b",
    rf"\b{_WOMAN} and his (?:wife|life|daughter|girlfriend)\b",
    rf"\bgets (?:an?|his|the) (?:young )?(?:{_ONE}|house|life|world)\b",
    r"\bwho(?:'s| is| was) about (?:a|an|the|to an?)\b|\b(?:daughter|son|wife)'s about\b",
    rf"\b{_ONE} that(?:'s| is) about an?\b",
    # "a girl who loves a girl who is a girl"
    r"\b(girl|boy|man|woman|guy) (?:[a-z' ]{1,60} )\1 (?:[a-z' ]{1,60} )\1\b",
    # "is a great movie and a great action movie", "one that is also a great one"
    r"\bis an? (?:[a-z]+ ){0,2}(movie|film) and an? (?:[a-z]+ ){0,3}\1\b",
    r"\bone that is (?:also )?an? (?:[a-z]+ )?one\b",
    r"\bheard of (?:that|this)(?: one)? was\b",
    r"\ba (?:bit|lot|little)(?: more)? (?:of|than) a (?:bit|lot|little)\b",
    r"\bget(?:s|ting)? to get\b|\bto get to (?:be|see) a\b",
    r"\b(?:it has|it's|that's|think it's|has) a lot of people (?:people|like|have|who|get|to)\b",
    r"\b(?!over\b|again\b|more\b|years\b)(\w{4,20})(?<!er) and (?:a bit more |a great )?\1"
    r"(?: [a-z]+)?$",
    r"^(?:i think )?(?:it's|that's|it is|that is) (?:so much|a lot)$",
    r"\b(?:not|isn't) as well$|\bnot as the original\b",
    r"\bthe movie (?:called|is a movie called) (?:the )?(?:bit|lot)\b",
)
_FUSED = (
    # "I love X and Y are great movies", "I have seen X are both good"
    rf"^(?:well |yes |ok |okay )?i (?:also |really |would |can |think i would )*{_LIKES}"
    rf" (?:the |movie )*x(?: part [0-9ivx]+)?(?: \d{{4}})? and (?:the )?x (?:are|is) {_PRAISE}\b",
    r"\bi can't go wrong with\b",
    r"\bnot sure if (?:i|you) have(?:n't| not)\b|\b(?:i'm|i am) not sure if i have not\b",
    r"\b(?:haven't|have not) (?:seen|watched) [^,;]{1,30} but i(?:'ve| have) (?:seen|watched) "
    r"(?:it|that)\b",
    r"\bi(?:'ve| have) seen (?:it|that) but i have(?:n't| not)? ?(?:seen|watched) (?:it|that)\b",
    r"\bi haven (?:wasn't|isn't|haven't)\b",
)
_REMEMBERED = 4096
_ALL = tuple(re.compile(pattern) for pattern in (*_CIRCLES, *_FUSED))


@lru_cache(_REMEMBERED)  # judges of grammar, style and answers read each sentence
def nonsense(sentence: Sentence) -> tuple[Error, ...]:
    """The first such place in a sentence, with the index of its first word, or nothing."""
    said = " ".join("x" if word == TITLE else word for word in sentence.words)
    for pattern in _ALL:
        found = pattern.search(said)
        if found is not None:
            start = said.count(" ", 0, found.start())
            return ((start, f"makes no sense: {found.group().strip()!r}"),)
    return ()
