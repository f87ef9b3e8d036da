"""Orders of words that no English sentence has, by the kinds of words (`word_kinds`).

A rule searches a sentence's kinds, one letter a word; what is of no known kind never matches. Each
pattern takes linear time: its repeated parts have no letter in common with what follows them.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from recjury.judges.measured.text import Sentence
from recjury.judges.measured.word_kinds import kinds_of

Error = tuple[int, str]

# "young", "very young", "small and very strange", "small, strange"
_SOME = r"[Rr]{0,2}"
_ADJECTIVES = rf"{_SOME}[Ac](?:,?C?{_SOME}[Ac]){{0,3}}"
_MAYBE_ADJECTIVES = rf"(?:{_SOME}[Ac],?C?){{0,3}}"
# What begins a new clause after "and", and what cannot follow an adjective that lacks its noun.
_CLAUSE = r"[styTDZeIjQ]"
_NO_NOUN = rf"(?=$|[VWhvuMQsyZ3Ij]|C{_CLAUSE}|C?$|,C?{_CLAUSE}|,C?$)"
_ENDS_HERE = r"(?=$|[,CVWhvuQIjMZsty3])"
_PLURAL_ENDS = r"(?=$|[CVWhvuQIjMZsty3]|,[Csty])"  # "a girls' school" has a pause, too

_OPEN_ENDS = frozenset("CD")
_FEW = 4
_REMEMBERED = 4096


class _Rule(NamedTuple):
    """A pattern of kinds. A slip is what a learner of English writes who means something."""

    what: str
    pattern: re.Pattern[str]
    is_slip: bool = False


def _rule(what: str, pattern: str, *, is_slip: bool = False) -> _Rule:
    return _Rule(what, re.compile(pattern), is_slip)


_RULES = (
    # "a small and strange, but it is", "in a serious", "an old who"
    _rule("no noun", rf"D{_ADJECTIVES}{_NO_NOUN}"),
    # "about a young people who"
    _rule("one of many", rf"D{_MAYBE_ADJECTIVES}[Pp]{_PLURAL_ENDS}", is_slip=True),
    # "two brother and", "many old man"
    _rule("no plural", rf"#{_MAYBE_ADJECTIVES}[HN]{_ENDS_HERE}"),
    # "two men who wants"
    _rule("wrong verb after who", r"PQ[Vh3]"),
    # "a man who are", "an old man who talk"
    _rule("wrong verb after who", rf"(?<![CI])D{_MAYBE_ADJECTIVES}HQr?[WvBbl]"),
    # "it also a", "you funny at", "and it never slow"
    _rule("no verb", r"(?:^|[,C])[sty][Rr]{0,3}[ADT]"),
    # "it might good", "you will a", "it would very slow"
    _rule("no verb", r"(?:^|[,C])(?:[styX])M[Rr]{0,2}[ADTjVW]"),
    # "it has wonderful", "has very funny, and it"
    _rule("no noun", rf"[hvu](?:{_SOME}A(?=$|C[styZe]|,C?[styZeQ])|RR?A[Ij])"),
    # "there is very tense, X"
    _rule("no noun", rf"e[VW]{_ADJECTIVES}(?=$|,[XCstyZ]|C[styZe])"),
    # "It is a wild film is a strange one"
    _rule("two verbs", rf"(?:^|[,C])[styX]V[DT]{_MAYBE_ADJECTIVES}[NHnl][Vh]"),
    # "it has strange part is warm", "it is great music looks"
    _rule("two verbs", rf"(?:^|[,C])t[Vh]{_SOME}A[?nlNHPp][Vh]"),
    # "one is not so lonely man"
    _rule("no article", rf"VrRA[NH]{_ENDS_HERE}", is_slip=True),
    # "the brothers is", "two people has"
    _rule("wrong verb", rf"(?:^|[,C])T?#?{_MAYBE_ADJECTIVES}P[Vh]"),
    # "both are tense crime story"
    _rule("no plural", rf"W{_MAYBE_ADJECTIVES}[Ac]n?[NH]{_ENDS_HERE}"),
    # "about love and beautiful and it"
    _rule("no noun", rf"j[NHnl]C{_SOME}A(?=$|C[styZe]|,C?[styZe])"),
    # "it has funny and dark very tense"
    _rule("no noun", r"[hvu]ACA(?=[CR])"),
    # "about a mother and brave"
    _rule("no noun", rf"jD{_MAYBE_ADJECTIVES}HC{_SOME}A(?=$|C|,)"),
    # "and it are", "it tell"
    _rule("wrong verb", r"(?:^|[,C])t[WvBb]"),
    # "I would he does it", "I could you find"
    _rule("no verb", r"(?:^|[,C])(?:[sy]Ms|sMy)(?!M)"),
    # "about two people who."
    _rule("breaks off", r"[HPNp]Q$"),
    # "but it and white"
    _rule("no verb", r"CtCt?A"),
    # "a man have"
    _rule("wrong verb", rf"(?:^|,)[DT]{_MAYBE_ADJECTIVES}H[Wv]"),
    # "about a lonely" is above; "with sad and it", "about very slow"
    _rule("no noun", rf"j{_SOME}A(?=$|C[styZe]|,C?[styZeQ]|[VhWQ])"),
    # "it is make", "is has"
    _rule("two verbs", r"[sty]VB|[styXHN]V[hv]|Z[hv]"),
    # "a is", "a who"
    _rule("article before a verb", r"D[VWhv3Q]"),
    # "very darker"
    _rule("double degree", r"Rc"),
    # "It is in it is"
    _rule("two verbs", r"(?:^|[,C])tV[Ij]?tV"),
    # "it is quiet film about"
    _rule("no article", rf"[styX]V{_SOME}A{{1,2}}N{_ENDS_HERE}", is_slip=True),
    # "about old man", "about young woman who"
    _rule("no article", rf"jA{{1,2}}[HN]{_ENDS_HERE}", is_slip=True),
)


def syntax(sentence: Sentence, *, slips: bool = True) -> tuple[Error, ...]:
    """The first such place of a sentence, with the index of its first word, or nothing.

    Without `slips`, what a learner of English writes who means something is left out.
    """
    first = _first_places(sentence)
    return tuple(error for error, is_slip in first if slips or not is_slip)[:1]


@lru_cache(_REMEMBERED)  # a judge of grammar, one of style and one of answers read each sentence
def _first_places(sentence: Sentence) -> tuple[tuple[Error, bool], ...]:
    """The places that are found, up to the first that is no slip."""
    found: list[tuple[Error, bool]] = []
    for error, is_slip in _places(sentence):
        found.append((error, is_slip))
        if not is_slip:
            break
    return tuple(found)


def _places(sentence: Sentence) -> Iterator[tuple[Error, bool]]:
    kinds, places = kinds_of(sentence)
    if len(places) >= _FEW and sentence.ending == "." and kinds[-1] in _OPEN_ENDS:
        yield (places[-1], f"ends with {sentence.raw[-1]!r}"), False
    for what, pattern, is_slip in _RULES:
        found = pattern.search(kinds)
        if found is not None:
            start, end = places[found.start()], places[found.end() - 1] + 1
            yield (start, f"{what}: {sentence.phrase(start, end)!r}"), is_slip
