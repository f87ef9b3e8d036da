"""Verb forms that are wrong after modals, do, have, to and be."""

from collections.abc import Iterator

from recjury.judges.measured.text import Sentence, word_set
from recjury.judges.measured.verbs import BASE, BE, PAST, PAST_ONLY, THIRD

Error = tuple[int, str]

_MODALS = word_set(
    "can could will would should must might may can't couldn't won't wouldn't shouldn't i'll "
    "you'll he'll she'll we'll they'll it'll cannot"
)
_ADVERBS = frozenset({"also", "probably", "definitely", "really", "always", "never", "not", "just"})
_NEGATED_DO = frozenset({"don't", "doesn't", "didn't"})
_DO = frozenset({"do", "does", "did"})
_HAVE = frozenset({"have", "has", "had", "i've", "you've", "we've", "they've", "haven't", "hasn't"})
_PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they"})
_NOUN_BEFORE = word_set(
    "the a an his her its my your our their free last good strong of in by with trash tin"
)
_WANTS_TO = frozenset({"want", "wants", "wanted", "going", "able", "tries", "glad", "happy"})
# Past and third-person forms that can only be verbs.
_FORMS_AFTER_MODAL = (THIRD | {"did", "went", "took", "knew", "gave", "wrote", "had"}) - BE
_FORMS_AFTER_DO = (THIRD | PAST) - BE
_NOT_AFTER_HAVE_YOU = (BASE | PAST_ONLY | {"saw"}) - {"become", "come", "be"}


def forms(sentence: Sentence) -> Iterator[Error]:
    """The errors of this kind in a sentence, each with the index of its first word."""
    for index, word in enumerate(sentence.words):
        if word in _MODALS:
            yield from _modal(sentence, index)
        elif word in _NEGATED_DO or word in _DO:
            yield from _do(sentence, index)
        elif word in _HAVE:
            yield from _have(sentence, index)
        elif word in _WANTS_TO:
            yield from _to(sentence, index)
        elif word in BE:
            yield from _passive(sentence, index)
        elif word in _PRONOUNS:
            yield from _statement(sentence, index)


def _error(sentence: Sentence, start: int, length: int) -> Error:
    return start, f"wrong form {sentence.phrase(start, start + length)!r}"


def _modal(sentence: Sentence, index: int) -> Iterator[Error]:
    word, before = sentence.words[index], sentence.before(index)
    if before in _NOUN_BEFORE or (not sentence.raw[index].islower() and "'" not in word and index):
        return
    run = sentence.run(index, 3)
    verb = 2 if len(run) > 2 and run[1] in _ADVERBS else 1
    if len(run) > verb and run[verb] in _FORMS_AFTER_MODAL:
        yield _error(sentence, index, verb + 1)
    elif run[1:2] == ("of",) and word in {"could", "would", "should"} and run[2:] != ("course",):
        yield _error(sentence, index, 2)


def _do(sentence: Sentence, index: int) -> Iterator[Error]:
    run = sentence.run(index, 3)
    if len(run) > 1 and run[0] in _NEGATED_DO and run[1] in _FORMS_AFTER_DO:
        yield _error(sentence, index, 2)
    elif len(run) > 2 and run[0] in _DO and run[2] in _FORMS_AFTER_DO:
        asks = sentence.breaks[index] and run[1] in _PRONOUNS
        if asks or run[1] == "not":
            yield _error(sentence, index, 3)


def _have(sentence: Sentence, index: int) -> Iterator[Error]:
    run = sentence.run(index, 3)
    asks = sentence.breaks[index] and run[0] in {"have", "has"} and len(run) > 2
    if len(run) > 1 and run[1] in PAST_ONLY:
        yield _error(sentence, index, 2)
    elif asks and run[1] in _PRONOUNS and run[2] in _NOT_AFTER_HAVE_YOU:
        yield _error(sentence, index, 3)


def _to(sentence: Sentence, index: int) -> Iterator[Error]:
    run = sentence.run(index, 3)
    if len(run) > 2 and run[1] == "to" and run[2] in (_FORMS_AFTER_MODAL | PAST) - BE:
        yield _error(sentence, index, 3)


def _passive(sentence: Sentence, index: int) -> Iterator[Error]:
    run = sentence.run(index, 3)
    if len(run) > 2 and run[1] in {"direct", "write", "wrote", "produce"} and run[2] == "by":
        yield _error(sentence, index, 3)


def _statement(sentence: Sentence, index: int) -> Iterator[Error]:
    """ "I seen", only at the beginning of a clause."""
    if sentence.breaks[index] and sentence.after(index) == "seen":
        yield _error(sentence, index, 2)
