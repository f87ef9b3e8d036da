"""How a user took what a system said, in the user's own words: taken, thanked for, turned down.

Read by phrases alone, without a catalogue. They were written with people's conversations of USS
and AB-ReDial (docs/measured-judges.md has what they reach there), and search text in lower case
with single spaces. Their gaps are bounded, so that a search takes linear time.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from recjury.records import ConversationLog, Speaker, Turn

_DECIDE = 2
_LAST = 2
_ENOUGH_WORDS = 6
_LONGEST_TEXT = 2000
_REMEMBERED = 64
_QUOTED = re.compile(r'["“][^"“”]{0,80}["”]')
_GOOD = (
    r"(?:good|great|interesting|fun|perfect|awesome|amazing|cool|nice|intriguing|wonderful|"
    r"excellent|exciting|lovely|fantastic|helpful|brilliant)"
)
_VERY = r"(?:(?:very|really|so|pretty|just|quite|like|a|an) ){0,4}"
_ANY_WORDS = r"(?:[\w']+ ){0,3}?"
_THIS = r"(?:it|that|them|those|these|this|both|one of (?:them|those|these))"


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])(?:" + "|".join(phrases) + r")(?![\w'])")


_PLANS = (
    r"(?:i'll|i will|ill|i'm going to|i am going to|i'm gonna|we'll|we will|let me|let's|i might|"
    r"i may|i should|we should|i must|i have to|i've got to|i gotta|i'd have to|i would have to)"
)
_WISHES = (
    r"(?:i need to|i want to|i'd like to|i would like to|i'd love to|i would love to|we can|i can)"
)
_TRIES = (
    r"(?:check|watch|see|try|give(?! up)|rent|add|stream|read|look|search|find|get|buy|download|"
    r"remember|keep|take|pick|start(?! over)|go with|put|write|order|listen|visit|book)"
    r"(?! (?:for )?(?:elsewhere|something|somewhere|someone|another|others?)\b)"
)
_TAKEN = _any_of(
    rf"{_PLANS} {_ANY_WORDS}{_TRIES}",
    rf"{_WISHES} {_ANY_WORDS}(?:check|watch|see|try|give|rent|add|read|look) {_THIS}",
    rf"(?:check|try) {_THIS}(?: one)?(?: out)?",
    r"check (?:[\w']+ ){1,6}?out",
    rf"sounds? {_VERY}(?:{_GOOD}|right|up my alley|something i)",
    rf"(?:what )?{_VERY}{_GOOD} (?:suggestion|recommendation|idea|choice|pick|call|advice|option|"
    r"selection|find|tip)s?(?!\?)",
    r"(?:on|to) my (?:list|watch ?list)",
    r"i'm sold|sold me|i'm convinced|i'm in(?= ?(?:[.!,]|$))|convinced me",
    r"perfect|exactly what i",
    rf"that(?:'s| is| would be| will be) {_VERY}{_GOOD}",
    r"looking forward to",
    r"you(?:'ve| have)? (?:been )?(?:very |so |really |certainly |definitely )?help(?:ful|ed)",
    r"never thought of|hadn't thought of|forgot about",
)  # fmt: skip
_ASKS_FOR = _any_of(
    r"(?:any|some|few|other|more|have|got|recommend|want|need|know|for|suggest) (?:an? )?"
    rf"{_VERY}{_GOOD}"
)
_ENGLISH = _any_of(r"and|are|can|have|i'm|it|like|movie|my|not|that|the|this|what|with|you")
_LATIN = re.compile(r"[a-z]")
_THANKED = _any_of(r"(?<!no )(?<!no, )(?:thanks|thank you|thank u|thx|appreciate)(?! for nothing)")
# "That's not a good idea", "can't say that sounds good"; but "I can't wait to check it out".
_DENIED = re.compile(
    r"(?:(?<![\w'])(?:not|never|hardly|no longer)|n't(?! wait)|cannot(?! wait))(?: [\w']+){0,2} $"
)
_DENIES = re.compile(r"(?<![\w'])(?:not|never|no longer)(?![\w'])")
_BEFORE = 40
_POLITE = _any_of(r"(?:good|fine|well|great|ok|okay),? (?:thanks|thank you)|thanks for asking")
_TURNED_DOWN = _any_of(
    rf"(?:not|isn't|wasn't|aren't) {_VERY}(?:my|what|a fan|into|interested|looking|in the mood|it|"
    r"for me|the one|helpful|funny|good|a movie|a film)",
    rf"(?:don't|didn't|do not|did not|doesn't) {_VERY}(?:like|want|care|enjoy|think so|help|answer|"
    r"make sense|understand|get it|work)",
    r"(?:something|anything) (?:else|different|other|better)",
    r"(?:any|what|some) (?:other|others|more)|another one|other (?:movie|film|suggestion|option|"
    r"recommendation)s?",
    r"(?:will not|won't|(?:will|'ll|would) never|wouldn't|not going to) (?:watch|see|try|read)",
    rf"(?:not|isn't|wasn't|doesn't|don't) {_VERY}(?:sound {_VERY})?(?:{_GOOD}|exactly)",
    r"elsewhere|another (?:bot|system|assistant)|give up|for nothing",
    r"already (?:seen|watched|read|heard|know|said|told|mentioned)",
    r"(?:you|u) (?:already|just) (?:said|told|recommended|suggested|mentioned)",
    r"hated?|boring|stupid|terrible|useless|awful|dumb|nonsense|wrong|not helpful|worst",
    r"never ?mind|forget it|no thanks|no thank you|nope|nah|rather|instead",
    r"that's (?:it|all) you|what\?+|huh|hello\?|seriously\?",
    r"are you (?:sure|ok|there|a bot|listening)",
    r"i (?:said|asked|meant|told you)|stop|again\?",
)


class Reception(NamedTuple):
    """How many of the user's replies take what the system said, and how many turn it down.

    `taken` counts replies that plan to try a suggestion or praise it; `thanked` tells whether the
    user ends with thanks; `turned_down` counts replies that refuse, complain, or ask for something
    else.
    """

    taken: int
    thanked: bool
    turned_down: int

    @property
    def served(self) -> float:
        """How well the user was served, from 0 to 1, by its own words; 0.5 if they tell nothing.

        Two signs more of one kind than of the other decide: 1 and 0.
        """
        more = self.taken + self.thanked - self.turned_down
        return (max(-_DECIDE, min(_DECIDE, more)) + _DECIDE) / (2 * _DECIDE)

    def __str__(self) -> str:
        """The counts, as a debater says them."""
        thanks = "; the user thanks at the end" if self.thanked else ""
        takes = "takes" if self.taken == 1 else "take"
        refuses = "refuses" if self.turned_down == 1 else "refuse"
        return f"{self.taken} {takes} a suggestion, {self.turned_down} {refuses}{thanks}"


def reception_of(log: ConversationLog) -> Reception | None:
    """How the user's turns after the system's first take it; None without one in English.

    Of each turn the first 2,000 characters are read.
    """
    return _reception(tuple(turn.text for turn in _answers(log.interaction)))


@lru_cache(_REMEMBERED)  # every statement of a debate asks for it
def _reception(texts: tuple[str, ...]) -> Reception | None:
    answers = [_plain(text) for text in texts]
    if not answers:
        return None
    taken = [_takes(text) for text in answers]
    refused = [_TURNED_DOWN.search(text) is not None for text in answers]
    found = Reception(
        sum(taken),
        any(_THANKED.search(text) and not _POLITE.search(text) for text in answers[-_LAST:]),
        sum(no and not yes for no, yes in zip(refused, taken, strict=True)),
    )
    return found if any(found) or _may_be_english(answers) else None


def _may_be_english(texts: Sequence[str]) -> bool:
    """Whether the texts have a Latin letter, and fewer than six words or a common English one."""
    words = sum(len(text.split()) for text in texts)
    latin = any(map(_LATIN.search, texts))
    return latin and (words < _ENOUGH_WORDS or any(map(_ENGLISH.search, texts)))


def _answers(turns: Sequence[Turn]) -> list[Turn]:
    """The user's turns after the system's first."""
    first = next((i for i, turn in enumerate(turns) if turn.speaker is Speaker.SYSTEM), len(turns))
    return [turn for turn in turns[first:] if turn.speaker is Speaker.USER]


def _takes(text: str) -> bool:
    """Whether a phrase of taking is there that is not denied."""
    asked = _ASKS_FOR.sub(" ", text)
    return any(
        not _DENIES.search(found.group())
        and not _DENIED.search(asked[max(0, found.start() - _BEFORE) : found.start()])
        for found in _TAKEN.finditer(asked)
    )


def _plain(text: str) -> str:
    """The text in lower case, with single spaces and without what is quoted (titles)."""
    short = text[:_LONGEST_TEXT].lower().replace("’", "'")
    return " ".join(_QUOTED.sub(" ", short).split())
