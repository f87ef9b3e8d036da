"""Orders of words that no English sentence has, by the kinds of words (`word_kinds`).

A rule searches a sentence's kinds, one letter a word; none asks for a word of no
known kind. Each pattern takes linear time: how often a part of it is repeated is bounded.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from recjury.judges.measured.text import Sentence
from recjury.judges.measured.word_kinds import kinds_of

Error = tuple[int, str]

# "young", "very young", "small and very strange", "small, strange"
_SOME = r"[Rdr]{0,2}"
_ADJECTIVE = "[Aac]"
_ADJECTIVES = rf"{_SOME}{_ADJECTIVE}(?:,?C?{_SOME}{_ADJECTIVE}){{0,3}}"
_MAYBE_ADJECTIVES = rf"(?:{_SOME}{_ADJECTIVE},?C?){{0,3}}"
# What begins a new clause after "and", and what cannot follow an adjective that lacks its noun.
_CLAUSE = r"[styTDZejQ]"
_NO_NOUN = rf"(?=$|[VWhvuMQsyZ3Ij]|C{_CLAUSE}|C?$|,C?{_CLAUSE}|,C?$)"
_ENDS_HERE = r"(?=$|[,CVWhvuQIjMZsty3])"
_PLURAL_ENDS = r"(?=$|[CVWhvuQIjMZsty3]|,[Csty])"  # "a girls' school" has a pause, too

# "and.", "a.", "two people who."
_OPEN_END = re.compile(r"(?:[CD]|[HPNp]Q)$")
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
    # "a small and strange, but it is", "in a serious", "an old who"; but "a calm in the storm"
    _rule("no noun", rf"D{_ADJECTIVES}(?<!Da){_NO_NOUN}"),
    # "about a young people who"
    _rule("one of many", rf"D{_MAYBE_ADJECTIVES}[Pp]{_PLURAL_ENDS}", is_slip=True),
    # "two brother and", "many old man"
    _rule("no plural", rf"#{_MAYBE_ADJECTIVES}[HN]{_ENDS_HERE}"),
    # "two men who wants"
    _rule("wrong verb after who", r"PQ[Vh3]"),
    # "a man who are", "an old man who talk"
    _rule("wrong verb after who", rf"(?<![CI])D{_MAYBE_ADJECTIVES}HQr?[WvBbl]"),
    # "it also a", "and it never slow"
    _rule("no verb", r"(?:^|[,C])(?:[st][Rdr]{0,3}[ADT]|t[Rdr]{0,3}a(?=$|[,C]))"),
    # "you funny at"; but "you poor thing"
    _rule("no verb", r"(?:^|[,C])y[Rdr]{0,3}(?:[DT]|A(?=$|[,CIjQ]))"),
    # "it might good", "you will a", "it would very sad"; but "it may slow a bit"
    _rule("no verb", r"(?:^|[,C])(?:[styX])M[Rdr]{0,2}[ADTjVW]"),
    # "it has wonderful", "has very funny, and it"
    _rule("no noun", rf"[hvu](?:{_SOME}[Aa](?=$|C[styZe]|,C?[styZeQ])|[Rd]{{1,2}}[Aa][Ij])"),
    # "there is very tense, X"; but "there is good, and there is evil"
    _rule("no noun", rf"e[VW](?=[Rdr]){_ADJECTIVES}(?=$|,[XCstyZ]|C[styZe])"),
    # "It is a wild film is a strange one"
    _rule("two verbs", rf"(?:^|[,C])[styX]V[DT]{_MAYBE_ADJECTIVES}[NHnl][Vh]"),
    # "it has strange part is warm", "it is great film has"; but "it is sad life is short"
    _rule("two verbs", rf"(?:^|[,C])t(?:V{_SOME}[Aa][NHPp]|h{_SOME}[Aa][nlNHPp])[Vh]"),
    # "one is not so lonely man"
    _rule("no article", rf"Vr[Rd][Aa][NH]{_ENDS_HERE}", is_slip=True),
    # "the brothers is", "two people has"
    _rule("wrong verb", rf"(?:^|,)(?:T#?|#){_MAYBE_ADJECTIVES}P[Vh]"),
    # "both are tense crime story"
    _rule("no plural", rf"W{_MAYBE_ADJECTIVES}{_ADJECTIVE}n?[NH]{_ENDS_HERE}"),
    # "about love and beautiful and it"
    _rule("no noun", rf"j[NHnl]C{_SOME}[Aa](?=$|C[styZe]|,C?[styZe])"),
    # "it has funny and dark very tense"
    _rule("no noun", r"[hvu][Aa]C[Aa](?=R|C[styZe])"),
    # "about a mother and brave"
    _rule("no noun", rf"jD{_MAYBE_ADJECTIVES}HC{_SOME}[Aa](?=$|C|,)"),
    # "and it are", "it tell"
    _rule("wrong verb", r"(?:^|[,C])t[WvBb]"),
    # "I would he does it", "I could you find"
    _rule("no verb", r"(?:^|[,C])(?:[sy]Ms|sMy)(?![Mb])"),
    # "but it and sad"
    _rule("no verb", r"CtCt?[Aa]"),
    # "a man have"
    _rule("wrong verb", rf"(?:^|,)[DT]{_MAYBE_ADJECTIVES}H[Wv]"),
    # "about a lonely" is above; "with sad and it", "about very slow"; but "how about funny?"
    _rule("no noun", rf"(?<!q)j{_SOME}[Aa](?=$|C[styZe]|,C?[styZeQ]|[VhWQ])"),
    # "it is make", "is has"
    _rule("two verbs", r"[sty]VB|[styXHN]V[hv]|Z[hv]"),
    # "a is", "a who"; but "a has-been"
    _rule("article before a verb", r"D[VWhv3Q](?!,)"),
    # "very darker"; but "so better luck"
    _rule("double degree", r"(?<=[^,])Rc"),
    # "It is in it is"
    _rule("two verbs", r"(?:^|[,C])tV[Ij]?tV"),
    # "it is quiet film about"
    _rule("no article", rf"[styX]V{_SOME}[Aa]{{1,2}}N{_ENDS_HERE}", is_slip=True),
    # "about old man", "about young woman who"
    _rule("no article", rf"j[Aa]{{1,2}}[HN]{_ENDS_HERE}", is_slip=True),
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
    if len(places) >= _FEW and sentence.ending == "." and _OPEN_END.search(kinds):
        yield (places[-1], f"ends with {sentence.raw[-1]!r}"), False
    for what, pattern, is_slip in _RULES:
        found = pattern.search(kinds)
        if found is not None:
            start, end = places[found.start()], places[found.end() - 1] + 1
            yield (start, f"{what}: {sentence.phrase(start, end)!r}"), is_slip
