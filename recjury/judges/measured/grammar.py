"""Grammatical Correctness: obvious errors that precise rules find, counted.

Each rule is written so that what it reports is an error whoever reads it; what needs a parser
is left alone. Linked titles are exempt (paper 001, appendix A.1.4: proper nouns that are known),
punctuation, spelling and capitals are not judged.
"""

from recjury.judges.measured.anchors import (
    Finding,
    Outcome,
    counted,
    from_errors,
    listed,
    not_applicable,
    not_measured,
    scored,
)
from recjury.judges.measured.english import is_english
from recjury.judges.measured.grammar_agreement import agreement
from recjury.judges.measured.grammar_forms import forms
from recjury.judges.measured.grammar_words import words
from recjury.judges.measured.reading import Reading
from recjury.judges.measured.text import Sentence, Utterance

_RULES = (words, agreement, forms)


def sentence_errors(sentence: Sentence) -> list[str]:
    """The errors in one sentence, in order; one place is reported once."""
    places: dict[int, str] = {}
    for rule in _RULES:
        for place, what in rule(sentence):
            places.setdefault(place, what)
    return [places[place] for place in sorted(places)]


def errors(utterance: Utterance) -> list[str]:
    """The errors in a text."""
    return [what for sentence in utterance.sentences for what in sentence_errors(sentence)]


def grammatical_correctness(reading: Reading) -> Outcome:
    """0, 1, 2, 3 errors are 4, 3, 2, 1; four or more are 0."""
    if not any(turn.utterance.words for turn in reading.spoken):
        return not_applicable("the system said nothing")
    english = [turn for turn in reading.spoken if is_english(turn.utterance)]
    if not any(turn.utterance.words for turn in english):
        return not_measured("the rules know English only")
    found = [Finding(turn.number, what) for turn in english for what in errors(turn.utterance)]
    if not found:
        return scored(4, f"no error found in {counted(len(english), 'turn')}")
    return scored(from_errors(len(found)), f"{counted(len(found), 'error')}: {listed(found)}")
