"""Grammatical Correctness: the number of obvious errors that precise rules and a model find.

Each rule reports only what every reader calls an error. Of the other errors, a small learned model
finds some: a sentence without an error by rule, but unlike those of people, is one "learned" error.
 Linked titles are exempt (CoRE, appendix A.1.4: known proper nouns). Punctuation, spelling
and capitals are not judged.
"""

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    counted,
    from_errors,
    join_first,
    not_applicable,
    not_measured,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.english import is_english
from recjury.judges.measured.fluency import learned_errors
from recjury.judges.measured.grammar_agreement import agreement_errors
from recjury.judges.measured.grammar_forms import forms
from recjury.judges.measured.grammar_frames import frame_errors, text_errors
from recjury.judges.measured.grammar_words import words
from recjury.judges.measured.nonsense import nonsense
from recjury.judges.measured.salad import salad
from recjury.judges.measured.syntax import syntax
from recjury.judges.measured.text import MaskedText, Sentence

_RULES = (words, agreement_errors, forms, frame_errors, nonsense, salad)
_NEAR = 3


def rule_errors(sentence: Sentence) -> list[str]:
    """The errors that the rules find in one sentence, in order, at most one for each word.

    What `syntax` finds near another error is that error.
    """
    places: dict[int, str] = {}
    for rule in _RULES:
        for place, what in rule(sentence):
            places.setdefault(place, what)
    for place, what in syntax(sentence):
        if all(abs(place - known) > _NEAR for known in places):
            places[place] = what
    return [places[place] for place in sorted(places)]


def sentence_errors(sentence: Sentence) -> list[str]:
    """As `rule_errors`; if there are none, the learned model may call the sentence one error."""
    return rule_errors(sentence) or [what for _, what in learned_errors(sentence)]


def errors(utterance: MaskedText) -> list[str]:
    """The errors in a text."""
    inside = [what for sentence in utterance.sentences for what in sentence_errors(sentence)]
    return text_errors(utterance) + inside


def grammatical_correctness(annotated: AnnotatedLog) -> Outcome:
    """0 to 3 errors score 4, 3, 2, 1; four or more score 0."""
    if not any(turn.utterance.words for turn in annotated.spoken):
        return not_applicable("the system said nothing")
    english = [turn for turn in annotated.spoken if is_english(turn.utterance)]
    if not any(turn.utterance.words for turn in english):
        return not_measured("the rules know English only")
    found = [Occurrence(turn.number, what) for turn in english for what in errors(turn.utterance)]
    if not found:
        return score_of(4, f"no error found in {counted(len(english), 'turn')}")
    return score_of(from_errors(len(found)), f"{counted(len(found), 'error')}: {join_first(found)}")
