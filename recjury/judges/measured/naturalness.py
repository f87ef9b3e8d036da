"""Naturalness: the share of system turns that no native speaker would write.

It counts turns, not errors: a single grammatical error does not make a turn unnatural (CoRE,
appendix A.1.5).
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    from_share,
    join_first,
    not_applicable,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedTurn
from recjury.judges.measured.english import is_english
from recjury.judges.measured.fluency import learned_errors
from recjury.judges.measured.frames import Frames, bare_facts
from recjury.judges.measured.grammar_words import doubled_places
from recjury.judges.measured.nonsense import nonsense
from recjury.judges.measured.salad import salad
from recjury.judges.measured.syntax import syntax
from recjury.judges.measured.text import TITLE, MaskedText, Sentence, word_set

_RESIDUES = re.compile(
    r"<(?:/?[a-z_]{1,20}/?|\|[a-z_]{1,20}\|)>|\{\{?\w{0,30}\}?\}|\[(?:MASK|PAD|UNK|END|SEP|CLS)\]"
    r"|\[/?INST\]|__\w{1,20}__|@\d{4,9}\b|%s\b|&(?:amp|quot|lt|gt|nbsp);|\\[nt]"
    r"|\b(?:System|Assistant|User|Seeker|Recommender): ?",
)
_BROKEN_PUNCTUATION = re.compile(r"[,;:]\s{0,3}[,;:.]|\s\.\s?[,.]|^\s{0,3}[)\],;](?!\s*\()")
_NO_SPACE = re.compile(r"[^\W\d_][.!?][A-Z][a-z]")
# A single letter that is not a word, an initial or part of a title.
_LONE_LETTER = re.compile(r"(?<![\w.'’&-])[b-hjlmnpqstvwyz](?![\w.'’&-])", re.IGNORECASE)
# "Ann Lee wrote it; Ann Lee wrote it, as well as Heat"
_SAID_AGAIN = re.compile(r"\b([^.;:!?]{8,80}); \1\b")
_STUTTER = re.compile(r"([a-z]{1,4})\1{3,}", re.IGNORECASE)
_NO_VOWELS_ALLOWED = word_set(
    "hmm hm mr mrs ms dr tv dvd vs nth shh brr pfft psst phd cgi btw lmk pg st th nd rd by my fbi "
    "sf bbc rpg hbo wwii wwi ww nyc cd mcu dc sci fi vfx imdb kgb mgm xd jr sr pls thx tbh grr np "
    "ty kk gt bff ptsd crm pm tvs dvds mph"
)
_CUT_OFF_AFTER = word_set(
    "a an the of and or by to with is are was for in from as my your his her their its than "
    "because if which who whose"
)
_COMMON = word_set(
    "the and you that this with for have was are it's i'm not but they like movie film has its "
    "his her him she who all can would will there about what one more very really also"
)
_LONGEST_WORD = 30
_MUCH, _NEARLY_ALL = 0.25, 0.8
_RECITED = 3
_AGAIN_BROKEN = 2
_FACT_VERBS = frozenset({"counts as", "came out in", "was released in", "star in", "stars in"})


def unnatural(utterance: MaskedText) -> str | None:
    """Why no native speaker would write this text; None without such evidence."""
    return next(chain(_reasons(utterance), _broken_sentences(utterance)), None)


def _reasons(utterance: MaskedText) -> Iterator[str]:
    text = utterance.masked
    if not any(len(word) > 1 or word == TITLE for word in utterance.words):
        yield "says nothing"
    elif "\ufffd" in text:
        yield "broken characters"
    elif residue := _RESIDUES.search(text):
        yield f"residue {residue.group().strip()!r}"
    elif not is_english(utterance):
        yield "not English"
    elif _BROKEN_PUNCTUATION.search(text):
        yield "broken punctuation"
    elif len(_NO_SPACE.findall(text)) > 1 or len(_LONE_LETTER.findall(text)) > 2:
        yield "words run together or into letters"
    elif word := _broken_word(utterance):
        yield f"broken word {word[:20]!r}"
    elif loop := _loop(utterance):
        yield f"loop {loop[:40]!r}"
    elif word := _cut_off(utterance):
        yield f"cut off after {word!r}"


def _broken_sentences(utterance: MaskedText) -> Iterator[str]:
    for sentence in utterance.sentences:
        yield from broken_sentences(sentence)


def broken_sentences(sentence: Sentence) -> Iterator[str]:
    """Why a sentence makes no sense to a reader."""
    found = chain(nonsense(sentence), salad(sentence, slips=False), syntax(sentence, slips=False))
    yield from (what for _, what in chain(found, learned_errors(sentence)))


def _broken_word(utterance: MaskedText) -> str | None:
    for sentence in utterance.sentences:
        for word, raw in zip(sentence.words, sentence.raw, strict=True):
            if len(word) > _LONGEST_WORD or (len(word) > 3 and _stutters(word)):
                return raw
            if len(word) > 2 and raw.islower() and raw.isascii() and _unpronounceable(word):
                return raw
    return None


def _stutters(word: str) -> bool:
    """Whether two to four letters are repeated four times. People do write "sooooo"."""
    match = _STUTTER.search(word)
    return match is not None and len(set(match.group())) > 1


def _unpronounceable(word: str) -> bool:
    return not any(c in "aeiouy'" for c in word) and word not in _NO_VOWELS_ALLOWED


def _loop(utterance: MaskedText) -> str | None:
    """The words that are repeated unnaturally, or None.

    These are a clause that begins with the clause before, a word three times in a row, two
    repetitions in one text, a repeated sentence, or a
    word that is used throughout the text.
    """
    again = _SAID_AGAIN.search(utterance.masked)
    if again is not None:
        return again[1].replace(TITLE, "[title]")
    places = [place for sentence in utterance.sentences for place in doubled_places(sentence)]
    long_ones = [place for place in places if len(place.split()) > 2]
    if long_ones or len(places) > 1:
        return (long_ones or places)[0]
    said = [" ".join(s.words) for s in utterance.sentences if len(s.words) > 2]
    for sentence, times in Counter(said).items():
        if times > 1:
            return sentence
    return _overused(utterance)


def _overused(utterance: MaskedText) -> str | None:
    content = [w for w in utterance.words if len(w) > 2 and w not in _COMMON and w != TITLE]
    if not content:
        return None
    word, times = Counter(content).most_common(1)[0]
    return word if times > 3 and times * 6 >= len(utterance.words) else None


def _cut_off(utterance: MaskedText) -> str | None:
    if not utterance.sentences:
        return None
    last = utterance.sentences[-1]
    stops = last.ending == "" and utterance.masked.rstrip()[-1:].isalpha()
    return last.raw[-1] if stops and last.raw[-1] in _CUT_OFF_AFTER else None


def naturalness(annotated: AnnotatedLog) -> Outcome:
    """All turns natural 4, most 3, about half 2, a few 1, none 0.

    A turn that no one would write counts as unnatural, and so does a turn that comes again word for
    word, or for the third time with another item. Half a turn each: the second time, a turn full of
    one phrase, and one that recites facts. One turn with a broken sentence may be a slip; where
    two or more are found, as many again are taken to be broken, since about half are found.
    """
    if not annotated.spoken:
        return not_applicable("the system said nothing")
    found: list[Occurrence] = []
    said: set[str] = set()
    frames, verbs = Frames(), _fact_verbs(annotated)
    halves = broken = 0
    for turn in annotated.spoken:
        plain = next(_reasons(turn.utterance), None)
        senseless = None if plain else next(_broken_sentences(turn.utterance), None)
        reason = plain or senseless or _said_before(turn, said, frames)
        if reason is not None:
            halves += 2
            broken += senseless is not None
            found.append(Occurrence(turn.number, reason))
        else:
            formulas = list(_formulas(turn, frames, verbs))[:2]
            halves += len(formulas)
            found += [Occurrence(turn.number, f"{what}, half") for what in formulas]
        frames.add(turn)
        said.add(turn.utterance.same)
    total = len(annotated.spoken)
    unseen = broken if broken >= _AGAIN_BROKEN else 0
    unnatural_halves = min(2 * total, halves + 2 * unseen)
    score = from_share(2 * total - unnatural_halves, 2 * total)
    summary = f"{unnatural_halves / 2:g} of {total} turns unnatural"
    if unnatural_halves > halves:
        summary += f" ({(unnatural_halves - halves) / 2:g} of them by estimate)"
    return score_of(score, f"{summary}: {join_first(found)}" if found else summary)


def _said_before(turn: AnnotatedTurn, said: set[str], frames: Frames) -> str | None:
    """Why a whole turn is one that the system has said before."""
    same = turn.utterance.same
    earlier = frames.same_as(turn)
    if (same in said and same.count(" ") > 1) or len(earlier) > 1:
        return f"the words of turn {earlier[0]} again" if earlier else "its own words again"
    return None


def _formulas(turn: AnnotatedTurn, frames: Frames, verbs: frozenset[str]) -> Iterator[str]:
    """What makes a turn half unnatural: it is stilted, or nearly all of it was said before."""
    share, phrase = frames.repeated(turn)
    inside, again = Frames().repeated(turn)
    if frames.same_as(turn) or share >= _NEARLY_ALL:
        yield f"said before {phrase!r}"
    if inside >= _MUCH:
        yield f"again and again {again!r}"
    facts = bare_facts(turn.said, verbs)
    if len(facts) >= _RECITED:
        yield f"recites facts {facts[0]!r}"


def _fact_verbs(annotated: AnnotatedLog) -> frozenset[str]:
    """The words between an item and one of its values, in the domains of the catalogue."""
    attributes = (each for domain in annotated.catalogue.domains for each in domain.attributes)
    words = {word for each in attributes for word in (each.did, each.by) if word}
    return frozenset(words - {"in", "with", "by"}) | _FACT_VERBS
