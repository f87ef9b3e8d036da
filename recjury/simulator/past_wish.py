"""What the person wanted in the history of a scenario, in words that a user can go on with."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from recjury.knowledge import Catalogue, fold
from recjury.knowledge.spoken_wishes import SpokenWish
from recjury.records import Domain, Speaker, Turn
from recjury.simulator.agenda import CatalogueValues, Want, decade, letters
from recjury.simulator.grammar import phrases
from recjury.simulator.own_words import own_clause, own_words, without_titles
from recjury.simulator.past_items import PastItems, past_items

# The full stop of an initial ("Vivica A. Fox") ends no sentence.
_SENTENCE = re.compile(r"(?:[^.!?\n]|(?<=\b[A-Z])\.)+[.!?]*")
_DISLIKED = re.compile(
    r"\b(?:slow|boring|bored|depressing|dull|worst|terrible|(?<!not )bad|"
    r"awful|stupid|too long|meh|preachy|"
    r"overrated|disappoint\w+|hate[ds]?|stressful|(?:didn['’]?t|don['’]?t|did not|do not|not) "
    r"(?:really )?(?:like|enjoy|care for)|not (?:a fan|my thing)|worn out|no different)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"^(?:and |so |but |ok(?:ay)?,? |oh,? |thanks?[!.,]* |seriously\?? )*(?:who|when|where|why|how "
    r"(?:old|long)|did|does|was|were|is (?!there )|has|"
    r"what(?:['’]s| is| kind| type| genre| was)|which of|"
    r"c(?:an|ould) you tell me (?:who|when|what|more|about)|"
    r"what can you tell me|may i know|do you know (?:anything about|who|when|if)|"
    r"tell me (?:more )?about|do you have any information)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\b(?:do you know|have you (?:seen|read|heard)|did you|did (?:he|she|they)|do you like|is it|"
    r"was it|what about|how about|who|when|tell me about|should i|are you|is that|"
    r"(?:do|would|can) you recommend (?!any|some|more|other|another|an?\b|movies|films|books))\b",
    re.IGNORECASE,
)
_SEEN = re.compile(
    r"\b(?:(?:i['’]?ve|i have|i|we) (?:only |already |just |also |never )?(?:seen|saw|watched|"
    r"read|heard)|(?:have|had)(?:n['’]?t| not|nt) (?:seen|watched|read|heard)|"
    r"seen it|saw (?:it|that))\b",
    re.IGNORECASE,
)
_LIKED = re.compile(
    r"\b(?:like[ds]?|love[ds]?|enjoy(?:ed)?|favou?rites?|great|good|amazing|awesome|excellent|fun|"
    r"funny|magnificent|outstanding|wonderful|beautiful|best|amazed|impressed|classic|cute|cool|interesting)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|that|that one|them|those|these|both|the first|this)\b", re.IGNORECASE
)
_LIKE_IT = re.compile(
    r"\b(?:something|anything|more|similar|others?|films?|movies?|books?|any) (?:\w+ )?(?:like|to) "
    r"(?:it|that|this|them|those)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"^(?:no|nope|nah)\b", re.IGNORECASE)
# "It was a superhero film", "is that a comedy?": what something is, not what is wanted.
_DESCRIBES = re.compile(
    r"\b(?:(?i:it|that|this|he|she|they|one|which)|[A-Z]\w+)(?:['’]s| (?i:is|was|are|were|looks?|"
    r"sounds?))\b|^(?i:sounds|looks)\b|\b(?i:is|was|are|were) (?i:it|that|this|the|any|either)\b"
)
_YES = re.compile(
    r"^\W*(?:(?:oh?|ooo*h),? )?(?:yes|yeah|yep|yea|sure|i do|of course|definitely|absolutely|"
    r"(?:that )?(?:sounds|would be) (?:good|great|nice|fun|perfect))\b(?!,? but)",
    re.IGNORECASE,
)
_TASTE = re.compile(
    r"\b(?:do you (?:like|love|enjoy|prefer)|are you (?:a fan|into)|would you|interested|"
    r"(?:what|how) about an?|in the mood for)\b",
    re.IGNORECASE,
)
# A new request that no sign separates from what stands before it.
_RUN_ON = re.compile(
    r"(?<=\w) (?=(?:do|can|could|would) (?:you|u) (?:have|know|recommend|suggest|think|find)\b)",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"\b(?:heard|looks?|sounds?|seems?|(?:have|had|did)(?:n['’]?t| not|nt))\b", re.IGNORECASE
)
_FOND_OF_TIME = re.compile(r"\w+ (?:movies|films|books|songs|ones) (?:are|were)\b", re.IGNORECASE)
_WISHES = re.compile(
    r"\b(?:something|anything|want|like|love|need|enjoy|prefer|mood|looking|recommend|suggest|any|"
    r"favou?rite|into|after|fan|know|maybe|show|should|what other)\b",
    re.IGNORECASE,
)
_SHORT = 6
_LATELY = 3
_LIKED_BEFORE = ("my", "your", "his", "her", "the", "our", "whole")
_OF_TIME = {
    "old": re.compile(
        r"(?<!too )(?<!bit )(?<!little )\b"
        r"(?:old(?:er)?(?! than)|classics?|vintage|black and white)\b",
        re.IGNORECASE,
    ),
    "new": re.compile(
        r"\b(?:(?<!too )new(?:er|est)?(?! than)|recent|modern|latest|too old|older than|dated|"
        r"(?:bit|little) old(?:er)?)\b",
        re.IGNORECASE,
    ),
}
_ORDER = {"ask": 0, "cast": 1, "maker": 1, "category": 2, "era": 3, "like": 4, "clause": 5}


class PastWish(NamedTuple):
    """What the history tells: the wants, best first, and what may not be wished for.

    `liked`, `disliked` and `mentioned` are ids of items; `refused` are categories that the person
    does not want. `question` is a question about a fact with which the history ends. `times` tells
    whether the person asked for "old" or "new" items. `items` is what the person said of the items,
    `lately` are the wants of its last turns.
    """

    wants: tuple[Want, ...]
    liked: tuple[str, ...]
    disliked: frozenset[str]
    mentioned: frozenset[str]
    refused: frozenset[str] = frozenset()
    question: str = ""
    times: frozenset[str] = frozenset()
    items: PastItems = PastItems()
    lately: frozenset[Want] = frozenset()


def past_wish(
    history: Sequence[Turn],
    catalogue: Catalogue,
    values: CatalogueValues,
    domain: Domain,
    fits: Callable[[Want], bool],
) -> PastWish:
    """Read the user's turns; the wants of later turns come first, and must `fit`."""
    mentioned: list[list[str]] = []
    reader = _Reader(catalogue, values, domain)
    by_turn: list[list[Want]] = []
    for place, turn in enumerate(history):
        mentioned.append([mention.id for mention in catalogue.link(turn.text)])
        if turn.speaker is Speaker.USER:
            asked = history[place - 1].text if place else ""
            earlier = next((ids for ids in reversed(mentioned[:-1]) if ids), [])
            by_turn.append(reader.read(turn.text, asked, earlier))
    wants: list[Want] = []
    for found in reversed(by_turn):
        wants += [want for want in found if want not in wants and reader.stands(want)]
    fitting = [want for want in wants if fits(want)]
    if not fitting and any(want.role == "like" for want in wants):
        fitting = [Want("ask", "something like the one I mentioned")]
    wants = fitting
    said = [turn.text for turn in history if turn.speaker is Speaker.USER]
    return PastWish(
        tuple([each for each in wants if each.role != "clause"] or wants[:1]),
        tuple(id_ for id_ in reversed(reader.liked) if id_ not in reader.disliked),
        frozenset(reader.disliked),
        frozenset(id_ for each in mentioned for id_ in each),
        frozenset(reader.refused),
        _fact_asked(said[-1]) if said else "",
        frozenset(time for time, words in _OF_TIME.items() if any(map(words.search, said[-2:]))),
        past_items(history, catalogue),
        frozenset(want for found in by_turn[-_LATELY:] for want in found),
    )


def _sentences(text: str) -> list[str]:
    """The sentences of a text, of which one that runs on into a request is two."""
    found = (match.group().strip() for match in _SENTENCE.finditer(text))
    return [part for sentence in found for part in _RUN_ON.split(sentence)]


def _fact_asked(text: str) -> str:
    """The question about a fact that ends a turn, as it can be asked again; "" without one."""
    last = [match.group().strip() for match in _SENTENCE.finditer(text)][-1:]
    asked = last[0] if last else ""
    asked = re.sub(r"^(?:and|so|but|ok(?:ay)?|oh|thanks?)\b[!.,]* ", "", asked, flags=re.IGNORECASE)
    if not asked.endswith("?") or not _FACT.match(asked) or len(asked.split()) > 14:
        return ""
    return asked[0].upper() + asked[1:]


class _Reader:
    """Reads the turns of a person in order, and keeps what was liked and disliked."""

    def __init__(self, catalogue: Catalogue, values: CatalogueValues, domain: Domain):
        self._catalogue = catalogue
        self._values = values
        self._nouns = frozenset(word.lower() for word in domain.all_words)
        self.liked: list[str] = []
        self.disliked: set[str] = set()
        self.refused: set[str] = set()

    def stands(self, want: Want) -> bool:
        """Whether a want was not taken back by what the person disliked or refused."""
        if want.role == "category":
            return want.value not in self.refused
        if want.role == "like":
            item = self._catalogue.named(want.value)
            return item is None or item.id not in self.disliked
        return True

    def read(self, text: str, asked: str, earlier: Sequence[str]) -> list[Want]:
        """The wants of a turn that answers `asked`; `earlier` are the items named before it."""
        found: list[Want] = []
        recent = list(earlier)
        if _YES.match(text) and _TASTE.search(asked):
            said = [match.group() for match in _SENTENCE.finditer(asked)]
            question = " ".join(each for each in said if _TASTE.search(each))
            found += self._categories(without_titles(question, self._catalogue), SpokenWish(""))
        for sentence in _sentences(text):
            found += self._of(sentence, recent)
            recent = [each.id for each in self._catalogue.link(sentence)] or recent
        return sorted(dict.fromkeys(found), key=lambda want: _ORDER.get(want.role, 9))

    def _of(self, sentence: str, recent: Sequence[str]) -> list[Want]:
        sentence = _NO.sub(lambda no: " " * len(no.group()), sentence)
        spoken = SpokenWish(sentence)
        bare = without_titles(sentence, self._catalogue)
        found = self._titles(sentence, recent, spoken)
        asks_fact = sentence.endswith("?") and _FACT.match(sentence) is not None
        if not asks_fact:
            ask = own_words(sentence, self._nouns)
            start = sentence.lower().find(ask.split()[-1].lower()) if ask else 0
            if ask and not any(begin < start - len(ask) for begin, _ in spoken.refused):
                found.append(Want("ask", ask))
            found += self._categories(bare, spoken)
            found += [
                Want("era", decade(first)) for at, (first, _) in spoken.years()
                if not spoken.refuses(at) and bare[at : at + 2] == sentence[at : at + 2]
                and (not _DESCRIBES.search(sentence) or _FOND_OF_TIME.search(sentence, at))
            ]  # fmt: skip
            clause = own_clause(sentence)
            found += [Want("clause", clause)] if clause else []
        return [*found, *self._people(bare, spoken)]

    def _titles(self, sentence: str, recent: Sequence[str], spoken: SpokenWish) -> list[Want]:
        titles = self._catalogue.link(sentence)
        disliked = _DISLIKED.search(without_titles(sentence, self._catalogue)) is not None
        liked = _LIKED.search(without_titles(sentence, self._catalogue)) is not None
        asks = (_QUESTION.search(sentence) or _FACT.match(sentence)) and sentence.endswith("?")
        asks = asks or sentence.lower().startswith("tell me")
        seen = _SEEN.search(sentence) is not None
        found: list[Want] = []
        if not titles and _PRONOUN.search(sentence):
            if disliked:
                self.disliked.update(recent)
            elif (
                liked and not spoken.refused and not asks and not _HEARSAY.search(sentence)
            ) or _LIKE_IT.search(sentence):
                titles_ = [self._catalogue.item(id_) for id_ in recent]
                self.liked += [item.id for item in titles_]
                found += [Want("like", item.title) for item in titles_[:2]]
        for mention in titles:
            if disliked or spoken.refuses_item(mention.start, mention.end):
                self.disliked.update([mention.id] if disliked or liked else [])
            elif liked or not (asks or seen):
                self.liked.append(mention.id)
                found.append(Want("like", self._catalogue.item(mention.id).title))
        return found

    def _people(self, text: str, spoken: SpokenWish) -> list[Want]:
        found: list[Want] = []
        words = [(m.group(), m.start()) for m in re.finditer(r"[^\W_]+(?:['’.-][^\W_]+)*\.?", text)]
        for size in (4, 3, 2, 1):
            for place in range(len(words) - size + 1):
                said = [re.sub(r"['’]s$", "", word) for word, _ in words[place : place + size]]
                want = self._values.person(said, starts=place == 0)
                if want is None or spoken.refuses(words[place][1]):
                    continue
                if not any(letters(want.value) in letters(each.value) for each in found):
                    found.append(want)
        return found

    def _categories(self, text: str, spoken: SpokenWish) -> list[Want]:
        known = phrases()
        plain = fold(text)
        found: list[tuple[bool, int, Want]] = []  # genres by their own names come first
        spellings = {genre: genre for genre in set(known.genres.values())}
        spellings |= {kind.many: genre for genre, kind in known.alone.items()}
        spellings |= known.heard
        wishes = _WISHES.search(text) is not None or len(text.split()) < _SHORT
        for spelling, genre in spellings.items():
            place = re.search(rf"(\w*)\W*(?<!\w){re.escape(spelling)}(?!\w)", plain)
            if place is None or (spelling in known.heard and not wishes):
                continue
            at = place.end() - 1
            if _DESCRIBES.search(text) and not text.lower().startswith(("my", "i ")):
                continue
            if len(plain) == len(text) and spoken.refuses(at):
                self.refused.add(genre)
            elif place.group(1) not in _LIKED_BEFORE or spelling in known.heard:
                other = spelling in known.heard
                found.append((other, place.start(), Want("category", genre, word="genre")))
        return [want for _, _, want in sorted(found)]
