"""The genres that a text wants, and those that it wants left out."""

import re

from recjury.judges.measured.genres import GENRE_WORDS, canonical_genres
from recjury.judges.measured.text import TITLE

CLAUSE = re.compile(r"[^.!?;,\n]+")
REFUSED = re.compile(
    r"\b(?:not|no|never|less|without|except|hate|dislike|tired of|enough of|much for me|isn't|"
    r"aren't|wasn't|don't|doesn't|didn't|can't|won't|is out|nothing but)\b"
)
# "sounds like an action film", "is an adventure film": what the item is, not what is wanted.
_IS_WHAT = re.compile(
    rf"(?:{TITLE}|\b(?:it|that|this|they|one))(?:'s| is| was| are| were| sounds like| seems to be)"
    r" (?:an?|the)?\b|\b(?:is|isn't|isnt|was|are) (?:\S+ ){0,6}an?\b"
)
# "Heat isn't exactly a comedy, is it?" asks for a comedy.
_IS_NONE = re.compile(r"\bisn't (?:exactly|really|quite) an?\b")
_RATHER = re.compile(r"\b(?:than|over|instead of|rather than)\b")
_WANTS = re.compile(
    r"\b(?:want|wanted|rather|prefer|hoping|after|looking for|look for|like|love|need|mood|give me|"
    r"what about|how about|even better|would|another|more|any|something|suggest|"
    r"recommend|find|asked for|asking for|think of|back to|sooner|take|pick|one|maybe|good|"
    r"side|work for me)\b"
)
# "no action film", "not another horror film"; but "no, a comedy" and "I don't mind a comedy".
_LEAVE_OUT = re.compile(
    r"\b(?:no(?: more)?|(?<!is )(?<!'s )(?<!was )(?<!why )not (?:an?|another|into|"
    r"in the mood for|a (?:big |huge )?fan of)|anything but|without|enough of|tired of|"
    r"(?:don't|do not|never) (?:really )?(?:want|watch)|"
    r"(?P<dislikes>(?:don't|do not|never) (?:really )?(?:like|enjoy|care for)|hate|dislike|"
    r"can't stand))(?= )"
)
# "can't get enough of", "never tired of", "I'm not quite tired of", "don't hate"
_NOT_SO = re.compile(
    r"(?:\b(?:cannot|never|not|hardly|no)|n't)"
    r"(?: (?:ever|quite|really|yet|get|getting|got|have|had|be|been)){0,3} $"
)
_LONGEST_NOT_SO = 40
# Behind "hate": the genre itself, but not "dark comedies", "when a comedy", "my comedies".
_ANY = re.compile(r" (?:(?:an?|any|all|most|watching) ){0,2}(?=[a-z])")
_ONLY_SOME = re.compile(r"\b(?:that(?! much)|which|when|where|if|to be|with)\b")
_NONE_LIKE = re.compile(r"no (?:[a-z-]+ ){1,3}like\b")  # "there is no comedy like it"
# "Heat, a comedy? Since when?"
_DOUBTED = re.compile(rf"(?:^|(?<=[.!?] ))[\"“]?{TITLE}[\"”]?, an? [a-z -]{{1,30}}\?")
_IS_OUT = re.compile(
    r"\b(?:is|are) (?:out|a bit much|too much|not (?:really )?(?:for me|my thing))\b"
)
_NEAR = 30
_OTHER_WORDS = {
    "funny": "comedy", "hilarious": "comedy", "laugh": "comedy", "scary": "horror",
    "scares": "horror", "creepy": "horror", "biographical": "biography", "biographies": "biography",
    "biopic": "biography", "animated": "animation", "cartoon": "animation", "westerns": "western",
    "dramas": "drama", "thrillers": "thriller", "romances": "romance", "musicals": "musical",
    "mysteries": "mystery", "documentaries": "documentary", "superheroes": "superhero",
    "horrors": "horror", "scifi": "sci-fi",
}  # fmt: skip
_SCI_FI = re.compile(r"science fiction")


def wanted_genres(plain: str) -> frozenset[str]:
    """The genres that a text wishes for."""
    found: set[str] = set()
    for clause in CLAUSE.findall(_DOUBTED.sub(" ", plain)):
        rather = _RATHER.search(clause)
        wanted = clause[: rather.start()] if rather else clause
        less = re.search(r"\bless\b", wanted)
        wanted = wanted[: less.start()] if less else wanted
        if REFUSED.search(wanted) and not _IS_NONE.search(wanted):
            continue
        spoken = _spoken(wanted)
        if spoken and not (_IS_WHAT.search(wanted) and not _WANTS.search(wanted)):
            found |= spoken
    return frozenset(found)


def refused_genres(plain: str) -> frozenset[str]:
    """The genres that a text says to leave out: "no action film", "enough of westerns"."""
    found: set[str] = set()
    for clause in CLAUSE.findall(plain):
        leave = _LEAVE_OUT.search(clause)
        if leave is not None and not _IS_NONE.search(clause):
            found |= _left_out(clause, leave)
        elif out := _IS_OUT.search(clause):
            found |= _spoken(clause[: out.start()])
    return frozenset(found)


def _left_out(clause: str, leave: re.Match[str]) -> set[str]:
    """The genres behind words that leave something out, unless these say the contrary."""
    before = clause[max(0, leave.start() - _LONGEST_NOT_SO) : leave.start()]
    if _NOT_SO.search(before) or _NONE_LIKE.match(clause, leave.start()):
        return set()
    behind = clause[leave.end() :]
    if leave["dislikes"]:
        directly = _ANY.match(behind)
        first = behind[directly.end() :].split(" ", 1)[0] if directly else ""
        if not _spoken(first) or _ONLY_SOME.search(behind):
            return set()
    return _spoken(behind[:_NEAR])


def _spoken(clause: str) -> set[str]:
    words = re.findall(r"sci-fi|[a-z]+", _SCI_FI.sub("sci-fi", clause))
    known = (_OTHER_WORDS.get(word, word) for word in words)
    genres = (word for word in known if word in GENRE_WORDS)
    return {genre for word in genres for genre in canonical_genres(word)}
