"""What a user asks about an item, and whether a text tells it.

A list of the cast does not tell the story, and a plot does not say when a film was made. All
patterns search `MaskedText.plain`; each has at most one bounded gap, so that a search takes linear
time.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from recjury.judges.measured.text import TITLE, MaskedText, Sentence, word_set

_IT = rf"(?:it|that|this|they|those|these|that one|this one|(?:the|this|that) \w+|{TITLE})"


class Topic(StrEnum):
    """What a question wants to know of an item."""

    STORY = "the story"
    TONE = "how it feels"
    ENDING = "how it ends"
    AGE = "how old it is"
    PEOPLE = "who made it"


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])(?:" + "|".join(phrases) + r")(?!\w)")


_QUESTIONS = {
    Topic.STORY: _any_of(
        rf"what(?:'s| is| are) {_IT} about",
        rf"what happens in {_IT}",
        r"what(?:'s| is) the (?:story|plot|premise)",
    ),
    Topic.TONE: _any_of(
        r"serious or|sad or|gloomy or|heavy or|light or|scary or|funny or",
        r"is it (?:slow|scary|sad|funny|dark|violent|heavy|serious)",
        r"what(?:'s| is) the (?:mood|tone)",
        r"like in tone",
    ),
    Topic.ENDING: _any_of(r"(?:does|do) (?:it|they) end", r"how (?:does|do) (?:it|they) end"),
    Topic.AGE: _any_of(
        r"when was (?:it|that|this) (?:made|released|written|filmed)",
        r"when did (?:it|that|this) come out",
        r"how long has (?:it|that|this) been (?:around|out)",
        r"how old is (?:it|that|this)",
    ),
    Topic.PEOPLE: _any_of(
        r"who (?:else )?(?:is|was|are|were) (?:in|involved in|behind) (?:it|that|this)",
        r"who(?:'s| is) in (?:it|that|this)",
        r"who (?:made|directed|wrote|stars in|starred in|plays in) (?:it|that|this)",
    ),
}
_TELLS = {
    Topic.STORY: _any_of(
        r"about (?!the same)\w+|follows|tells|story|plot|based on|set in|takes place|where|who|when"
    ),
    Topic.TONE: _any_of(
        r"serious|light\w*|heav(?:y|ier)|sad\w*|gloomy|cheerful|hopeful|dark\w*|warm\w*|fun|funny|"
        r"funnier|hilarious|laugh\w*|scar\w+|creepy|tense|gentle|sweet|romantic|violent|bloody|"
        r"slow\w*|fast\w*|quick\w*|quiet\w*|calm\w*|moves|moving|touching|mood|tone|pace\w*|gripping|"
        r"exciting|suspense\w*|intense|emotional|silly|violence|tears?|cry|bit of both|both|"
        r"comed(?:y|ies)|dramas?|thrill\w+|horror|romance|tragedy|boring|long|short"
    ),
    Topic.ENDING: _any_of(r"end(?:s|ing|ed)?|happ(?:y|ily)|twist|finale|spoil\w*"),
    Topic.AGE: _any_of(
        r"(?:18|19|20)\d\d|[2-9]0'?s|years?|decades?|\w+ties|recent\w*|old\w*|new\w*|just came"
    ),
    Topic.PEOPLE: _any_of(
        r"directed|director|wrote|written|writer|stars?|starring|starred|plays|played|made by|"
        r"is in|are in|by|with|actors?|actress(?:es)?|cast|acting|author"
    ),
}
# What states an attribute, or leads on, tells no story.
_FACT_OR_FRAME = _any_of(
    r"directed|wrote|written by|stars?|starring|came out|released|counts as|is in it|are in it|"
    r"in it|from \d{4}|tell me|let me know|if you|i can|you could|you might|you may|have you|"
    r"perhaps|another|i would|i'd|enjoy|hope"
)
_ABOUT_WHAT = _any_of(r"about (?:an?|the|two|three|how|some|people)")
_TOLD_WORDS = 6
_A_YEAR = re.compile(r"(?<!\d)(?:18|19|20)\d\d(?!\d)")
_SLOTS = word_set(f"{TITLE} a an the")


_YES_OR_NO = _any_of(rf"(?:is|are|was|were|does|do|did|has) {_IT}", r"any good")
_SAYS_YES_OR_NO = re.compile(
    r"(?:yes|yeah|yea|yep|yup|no|nope|nah|not really|kind of|sort of|i think so|i don't think so|"
    r"i (?:really )?(?:liked|loved|enjoyed) it|(?:it|that)(?:'s| is| was)|they(?:'re| are| were))"
    r"(?![\w'])"
)


def says_yes_or_no(user: MaskedText, system: MaskedText) -> bool:
    """Whether the user's turn asks "is it ...?", and a statement of the system's answers that."""
    if "?" not in user.plain or not _YES_OR_NO.search(user.plain):
        return False
    statements = (" ".join(each.words) for each in system.sentences if "?" not in each.ending)
    return any(map(_SAYS_YES_OR_NO.match, statements))


def questions_in(user: MaskedText) -> tuple[Topic, ...]:
    """What a user's turn asks directly about an item."""
    if "?" not in user.plain:
        return ()
    return tuple(what for what, pattern in _QUESTIONS.items() if pattern.search(user.plain))


def left_open(user: MaskedText, system: MaskedText) -> Topic | None:
    """What the user's turn asks and the system's turn does not tell; None if it tells a part."""
    asked = questions_in(user)
    return None if not asked or any(_is_told(what, system) for what in asked) else asked[0]


def _is_told(what: Topic, system: MaskedText) -> bool:
    if what is Topic.AGE and _A_YEAR.search(system.text):  # it may stand behind the title
        return True
    statements = [each for each in system.sentences if "?" not in each.ending]
    return any(_tells(what, said) for said in statements)


def _tells(what: Topic, sentence: Sentence) -> bool:
    return any(_tells_in(what, clause) for clause in _clauses(what, sentence))


def _clauses(what: Topic, sentence: Sentence) -> Iterator[Sentence]:
    """The clauses of a sentence, if the question is about the story: facts stand beside it."""
    if what is Topic.STORY:
        yield from sentence.clauses()
    else:
        yield sentence


def _tells_in(what: Topic, clause: Sentence) -> bool:
    said = " ".join(clause.words)
    if what is not Topic.STORY:
        return _TELLS[what].search(said) is not None
    if _FACT_OR_FRAME.search(said):
        return _ABOUT_WHAT.search(said) is not None
    words = [word for word in clause.words if word not in _SLOTS]
    return len(words) >= _TOLD_WORDS or _TELLS[what].search(said) is not None
