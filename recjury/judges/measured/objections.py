"""How users object to what a system said, and whether a film answers the objection.

The phrases cover the rule user's ways to reject and those that recorded users have (found in the
development fifth of the recordings: docs/measured-judges.md). They are searched in
`MaskedText.plain`; each has at most one bounded gap, so that a search takes linear time.
"""

import re
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedText
from recjury.judges.measured.genres import NEIGHBOURS, canonical_genres, genres_of
from recjury.judges.measured.text import TITLE, MaskedText
from recjury.knowledge import Catalogue
from recjury.records import Item

_GAP = r"[^.!?]{0,60}"
_IT = rf"(?:{TITLE}|that one|this one|that|this|it|those|these|them|one of those)"
_DONE = r"(?:seen|watched|read|heard|tried|been to|listened to|played|visited|done)"
_VERY = r"(?:quite |really |exactly |particularly |entirely |fully |totally |all that |much )*"


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])(?:" + "|".join(phrases) + r")(?!\w)")


_REPEATED = _any_of(
    rf"already {_DONE}",
    r"already (?:know|told|said|mentioned|suggested|recommended|came up|talked)",
    r"(?:came up|mentioned that|mentioned it|said that) already",
    rf"(?<!yes, )(?:i've|i have)(?: actually)? {_DONE} (?:it|that|this|them|all|{TITLE})",
    rf"{_IT} i've {_DONE}",
    rf"{_IT} i know",
    rf"i know (?:{TITLE}|that one)",
    rf"we (?:just |already )?had {_IT} before",
    rf"(?:you've suggested|said no to|passed on) {_IT}",
    rf"{_IT} again\?",
    rf"not {_IT} again",
    rf"mentioned {_IT} already",
    r"for the second time",
    r"on my own list",
    rf"i brought up {_IT}",
    r"is the one i started from",
    r"so that's done",
    r"(?:you|you've) (?:already|just) (?:said|told|recommended|suggested|mentioned)",
    r"repeating",
    r"same (?:answer )?as before",
    r"i heard you the first time",
)
_UNWANTED = _any_of(
    rf"(?:that's|that is|this is|it's|it is|those are|these are) not {_VERY}"
    r"(?:what|a|the|my|it|related)",
    rf"(?:isn't|wasn't|aren't|doesn't|didn't|does not|do not|don't) {_VERY}(?:seem to )?"
    r"(?:what i|match|fit|answer|sound like|my|related|align|grab|convince|it|meet)",
    rf"(?:isn't|aren't|not) {_VERY}(?:it|what i|right for|any of)(?! \w+ (?:to|as))",
    rf"(?:don't|do not|didn't) {_VERY}(?:like|enjoy|want|care for)",
    rf"not {_VERY}(?:my (?:thing|taste|cup|style)|interested in|into)",
    rf"(?:isn't|aren't) {_VERY}my thing",
    r"not a (?:big |huge )?fan",
    r"no, (?:that|not|thanks|thank|i (?:don't|want|meant|said|asked))",
    r"nope|nah|i'll pass|i'd skip|not for me",
    r"no need to go into|(?:rather|look for) something different",
    r"i hate|hated (?:it|that)|can't stand",
    rf"not (?:{TITLE}|that one|this one|that|this idea)(?:,| i think|\.|!|$)",
    rf"not {_VERY}(?:{TITLE}|that one), no",
    r"none of (?:these|those)",
    r"any of (?:those|these) (?:is|are) (?:right|what)",
    r"(?:can't|cannot) (?:warm to|see myself)",
    r"they all sound",
    r"not sold on|leaves me|puts me off|putting .{1,40} off|never been drawn|so i'm wary",
    rf"don't think (?:that's|{_IT} (?:is|are)|{_IT} quite)",
    r"is out|not tonight|not in the mood|is a bit much|had enough of|not another",
    r"is close, but|could be all right, but",
    r"does not convince|is not quite it",
    r"not (?:really |quite |so |that )?sold on|not that interested|is not my kind of",
    rf"(?:doesn't|does not) {_VERY}(?:appeal|tempt|do it)",
    r"i'd (?:pass on|leave out)|never really been drawn|can't really warm to",
    rf"none of them {_VERY}(?:grabs|appeals|tempts|stands)|don't {_VERY}fancy",
    rf"{_IT} (?:isn't|is not) (?:exactly )?an? (?!\w+ (?:to|as) )",
)
_OTHER_WISH = _any_of(
    r"(?:still|actually) (?:looking|searching|waiting|on the lookout|hoping)",
    r"(?<!what i )was (?:really |actually )?hoping (?:for|to)",
    r"(?:keep|continue) (?:looking|searching|my search)",
    rf"(?:sounds?{_GAP}, but|(?:sounds like|{_IT} is) an? {_GAP}, and) "
    r"(?:i'm|i am|i was|i'd|i would|it|i need|i want)",
    rf"(?:is|it's){_GAP} (?:classic|great \w+|good \w+), but i(?:'m| am) ",
    rf"not {_VERY}(?:convinced|sure)[^!]{{0,240}}(?:other|another|else|"
    r"keep looking|still)",
    rf"still not {_VERY}(?:convinced|sure)",
    r"not (?:entirely|fully) convinced|never convinced",
    r"(?:i'd|i would) (?:rather|sooner|prefer|take|miss)",
    rf"more {_GAP} and less",
    rf"{_IT}\? i want(?! to)",
    rf"(?:isn't|is not) {_IT}{_GAP}\?",
    r"i meant an?|i was asking for|sounds a bit \w+ to me",
    r"since i want|for i want|(?<!what )i was hoping",
    r"be a better fit|might be a mix-up|there's a mix-up|a mix-up",
    r"(?<!what )i (?:asked|was asking) for",
)
_ERA = _any_of(
    rf"(?:older|newer|more recent|less old|earlier|later) (?:than )?{_GAP}",
    r"too (?:recent|old|new)|feels a bit dated|before my time|from another time",
    rf"before (?:{TITLE}|that one)",
    r"quite old|rather new",
)
_PEOPLE = _any_of(
    rf"(?:isn't|is not|wasn't) (?:in|by) (?:{TITLE}|that|this|it)",
    rf"is \w+(?: [\w.'-]+){{0,4}} in {_IT}\?(?= i don't)",
    rf"{TITLE} isn't by|{TITLE} isn't\.|(?:that one|that suggestion|this idea) isn't by",
    r"isn't(?:,| by someone else)|by someone else",
    r"had nothing to do with",
    rf"i'd miss{_GAP} in|would need{_GAP} to win",
    r"is without|was not made by",
    rf"something by{_GAP}, and {TITLE}",
)
_UNLIKE = _any_of(
    r"isn't (?:much|really|at all) like|(?:isn't|doesn't sound) (?:close|similar) to",
    r"is nothing like|in common with|is a different thing|quite a jump",
)
_WRONG = _any_of(
    r"wrong|incorrect|mistaken?|misunderst\w+|(?:not|isn't|wasn't) (?:true|right|correct)",
    r"(?:confused|confusing)|(?:doesn't|does not|didn't) make sense",
    r"not (?:quite |really |at all )?sure what you mean|don't follow|doesn't help me",
    r"lost me there|trying to say",
    r"can't do much with that",
    r"getting at",
    r"(?:don't|do not|didn't) (?:quite |really )?(?:understand|get) (?:what|that|you)",
)
_IGNORED = _any_of(
    r"(?:haven't|have not|didn't) (?:told|tell|said|say|answer(?:ed)?)(?: me)? "
    r"(?:anything|much|a word|my question|what i asked)",
    r"(?:i'd|i would) still like to (?:hear|know)",
    r"(?:those|that|these|they) can wait",
    r"before you go on",
    r"hold on,? (?:what about|i was asking)",
    r"never mind (?:those|that|them)",
    r"i was asking about",
    r"can we stay with",
    r"are you (?:actually |even )?listening",
    r"(?:that|it|this) (?:doesn't|does not|didn't) answer",
)
_LIKED = re.compile(r"could be it|sounds (?:right|close|like a good idea)")
_BARE = re.compile(r"(?:no|nah|nope)[.!]*$")
_OLDER = re.compile(r"older|before|too (?:recent|new)|rather new|newer than what i")
_NEWER = re.compile(r"newer|more recent|less old|dated|too old|older than what|quite old|my time")
_DECADE = re.compile(r"(?<!\d)(?:the )?(?:19|20)?([0-9])0'?s\b")
_WISH = re.compile(
    r"rather|prefer|hoping for|after|want|looking for|combin\w+|take|sooner pick|more|fits?|has|"
    r"into|with|need|searching for|lookout for|recommend\w*"
)
_CLAUSE = re.compile(r"[^.!?]+")


class Objection(NamedTuple):
    """What a user objects with, and what would answer it; empty fields ask for nothing.

    `genres` are wanted genres; `older` and `newer` compare with the film that was rejected;
    `decades` are the tens of years (7 for the 70s); `people` tells that somebody is missed.
    """

    words: str
    is_correction: bool = False
    genres: frozenset[str] = frozenset()
    older: bool = False
    newer: bool = False
    decades: frozenset[int] = frozenset()
    people: bool = False

    def __str__(self) -> str:
        """The words, quoted."""
        return repr(self.words)


def objection_in(user: MaskedText) -> Objection | None:
    """How a user's text objects to what the system said; None if it does not."""
    text = user.plain
    for kind, pattern in (
        ("era", _ERA), ("people", _PEOPLE), ("unlike", _UNLIKE), ("repeated", _REPEATED),
        ("unwanted", _UNWANTED), ("wish", _OTHER_WISH), ("wrong", _WRONG), ("ignored", _IGNORED),
        ("bare", _BARE),
    ):  # fmt: skip
        found = pattern.match(text) if kind == "bare" else pattern.search(text)
        if found is not None and not (kind == "wish" and _LIKED.search(text)):
            words = found.group().replace(TITLE, "[title]")[:60]
            era = kind == "era"
            return Objection(
                words,
                is_correction=kind == "wrong",
                genres=_wanted_genres(text),
                older=era and _OLDER.search(words) is not None and not _NEWER.search(words),
                newer=era and _NEWER.search(words) is not None,
                decades=frozenset(int(tens) for tens in _DECADE.findall(text)),
                people=kind == "people",
            )
    return None


def _wanted_genres(text: str) -> frozenset[str]:
    """The genres that the text wants: those after a word of wishing, in the last such clause."""
    for clause in reversed(_CLAUSE.findall(text)):
        wish = _WISH.search(clause)
        if wish is not None:
            words = re.findall(r"sci-fi|[a-z]+", clause[wish.end() :])
            found = frozenset(g for word in words for g in canonical_genres(word) & _GENRES)
            if found:
                return found
    return frozenset()


_GENRES = frozenset(NEIGHBOURS) | {"drama"}


def answers(item: Item, objection: Objection, user: AnnotatedText, catalogue: Catalogue) -> bool:
    """Whether a film is what the objection asks for; what the catalogue does not know fits."""
    genres = genres_of(item)
    if objection.genres and genres:
        close = {near for wanted in objection.genres for near in NEIGHBOURS.get(wanted, ())}
        if not genres & (objection.genres | close):
            return False
    if item.year is not None:
        if objection.decades and item.year // 10 % 10 not in objection.decades:
            return False
        rejected = [catalogue.item(film.id).year for film in user.named if film.id is not None]
        years = [year for year in rejected if year is not None]
        if years and objection.older and item.year >= max(years):
            return False
        if years and objection.newer and item.year <= min(years):
            return False
    people = (*item.directors, *item.writers, *item.actors)
    if objection.people and people:
        return any(person.lower() in user.utterance.plain for person in people)
    return True
