"""Errors in adjacent words: repeats, articles, comparatives, negation."""

from collections.abc import Iterator

from recjury.judges.measured.text import TITLE, Sentence, word_set

Error = tuple[int, str]

# Words that are repeated in correct English.
_TWICE = word_set(
    "had that very really so no yes ha haha bye knock bang blah yeah long far way much many too "
    "you it her boo hey tut choo pretty please now there win super"
)
_PAIR_GLUE = frozenset({"and", "by", "after", "on", "to", "or", "upon"})
_DETERMINERS = frozenset({"a", "an", "the"})
_AFTER_DETERMINER = frozenset(
    {"a", "an", "the", "my", "your", "his", "their", "our", "these", "those"}
)
_SILENT_H = ("hour", "honest", "honor", "honour", "heir", "herb")
_EITHER_H = ("histor", "hotel", "habit", "hero", "hilar", "hallucin", "horrific", "hyster")
_VOWEL_U = ("un", "up", "ug", "ult", "umb", "ush", "utt", "urb", "urg")
_YOU_SOUND = ("uni", "us", "ut", "eu", "ew", "one", "once", "ouija", "ub", "ura", "ure", "uri")
_NOT_NOUNS = word_set(
    "and or is are in as at of if on it am an a i all also our even only us up any"
)
_SHORT_COMPARATIVES = word_set(
    "better worse bigger smaller older newer funnier scarier darker easier happier faster slower "
    "longer shorter nicer cooler weirder sadder higher bestest"
)
_SHORT_SUPERLATIVES = word_set(
    "best worst biggest smallest oldest newest funniest scariest darkest easiest happiest fastest "
    "nicest coolest weirdest saddest highest greatest"
)
_NEGATED = word_set(
    "don't doesn't didn't can't won't haven't hasn't hadn't wouldn't couldn't ain't cannot"
)
_NEGATIVES = frozenset({"nothing", "nobody", "nowhere", "none"})
_NO_WORDS = frozenset({"alot", "hisself", "theirselves", "irregardless", "bestest", "gooder"})
_BARE = frozenset({"good", "great", "bad", "nice", "funny", "very", "really"})


def words(sentence: Sentence) -> Iterator[Error]:
    """The errors of this kind in a sentence, each with the index of its first word."""
    for index, phrase in _doubled(sentence):
        yield index, f"repeated {phrase!r}"
    for index, word in enumerate(sentence.words):
        if word == "a" or word == "an":
            yield from _article(sentence, index)
            yield from _one_of_many(sentence, index)
        if word in _DETERMINERS:
            yield from _two_determiners(sentence, index)
        elif word == "more" or word == "most":
            yield from _double_degree(sentence, index)
        elif word in _NEGATED:
            yield from _double_negative(sentence, index)
        elif word in _NO_WORDS:
            yield index, f"no word {word!r}"
    yield from _loose_end(sentence)


def doubled_places(sentence: Sentence) -> list[str]:
    """The words and pairs of words that a sentence repeats by mistake, as written."""
    return [phrase for _, phrase in _doubled(sentence)]


def _doubled(sentence: Sentence) -> Iterator[tuple[int, str]]:
    index = 0
    words = sentence.words
    while index < len(words):
        end = index + 1
        while end < len(words) and words[end] == words[index] and not sentence.breaks[end]:
            end += 1
        if end - index > 1 and _never_repeated(words[index], end - index):
            yield index, sentence.phrase(index, end)
        elif _pair_again(sentence, index):
            end = index + 4
            yield index, sentence.phrase(index, end)
        index = end


def _never_repeated(word: str, times: int) -> bool:
    if word == TITLE or word.isdigit() or (len(word) == 1 and word not in {"a", "i"}):
        return False
    return word not in _TWICE or times > 3


def _pair_again(sentence: Sentence, index: int) -> bool:
    run = sentence.run(index, 4)
    if len(run) < 4 or run[:2] != run[2:] or run[0] == run[1]:
        return False
    return not any(word in _PAIR_GLUE or word in _TWICE or word.isdigit() for word in run[:2])


def _article(sentence: Sentence, index: int) -> Iterator[Error]:
    following = sentence.after(index)
    if len(following) < 2 or not sentence.raw[index + 1].islower() or following in _NOT_NOUNS:
        return
    wrong = _wants_an(following) if sentence.words[index] == "a" else _wants_a(following)
    if wrong:
        yield index, repr(sentence.phrase(index, index + 2))


def _wants_an(word: str) -> bool:
    if word.startswith(_SILENT_H[:4]):
        return True
    if word[0] == "u":
        return word.startswith(_VOWEL_U) and (
            not word.startswith("uni") or word.startswith(("unim", "unin"))
        )
    return word[0] in "aeio" and not word.startswith(_YOU_SOUND)


def _wants_a(word: str) -> bool:
    if word[0] in "aeio":
        return word.startswith(("eu", "one-")) or word in {"one", "once"}
    if word[0] == "u":
        return word in {"unique", "universal", "useful", "usual", "user", "university", "union"}
    if word[0] == "h":
        return not word.startswith(_SILENT_H + _EITHER_H)
    return word[0] in "bcdfgjklmnpqrstvwyz" and any(letter in "aeiouy" for letter in word)


def _one_of_many(sentence: Sentence, index: int) -> Iterator[Error]:
    """An article, adjectives and a plural: "a good ones"."""
    run = sentence.run(index, 4)
    end = 1
    while end < len(run) and run[end] in _BARE:
        end += 1
    if 1 < end < len(run) and run[end] in {"ones", "movies", "films", "books"}:
        yield index, repr(sentence.phrase(index, index + end + 1))


def _two_determiners(sentence: Sentence, index: int) -> Iterator[Error]:
    following = sentence.after(index)
    repeated = following == sentence.words[index]
    if following in _AFTER_DETERMINER and not repeated and sentence.raw[index + 1].islower():
        yield index, repr(sentence.phrase(index, index + 2))


def _double_degree(sentence: Sentence, index: int) -> Iterator[Error]:
    degree, following = sentence.words[index], sentence.after(index)
    if following in (_SHORT_COMPARATIVES if degree == "more" else _SHORT_SUPERLATIVES):
        yield index, f"double degree {sentence.phrase(index, index + 2)!r}"


def _double_negative(sentence: Sentence, index: int) -> Iterator[Error]:
    for offset, word in enumerate(sentence.run(index, 4)[1:], start=1):
        if word in _NEGATIVES and sentence.words[index + offset - 1] not in {"but", "for", "mind"}:
            end = index + offset + 1
            yield index, f"double negative {sentence.phrase(index, end)!r}"
            return


def _loose_end(sentence: Sentence) -> Iterator[Error]:
    """A complete sentence that ends with an article, or with an article and an adjective."""
    last = len(sentence.words) - 1
    if last < 1 or sentence.ending[:2] not in {".", "!", "?"}:
        return
    if sentence.raw[last] in {"a", "an", "the"}:
        yield last, f"no noun after {sentence.raw[last]!r}"
        return
    start = last
    while start > 0 and sentence.words[start] in _BARE and not sentence.breaks[start]:
        start -= 1
    if start < last and sentence.raw[start] in {"a", "an"}:
        yield start, f"no noun after {sentence.phrase(start, last + 1)!r}"
