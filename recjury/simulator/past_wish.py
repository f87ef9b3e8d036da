"""What the person wanted in the history of a scenario, in words that a user can go on with."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from recjury.knowledge import Catalogue, fold
from recjury.knowledge.ordinary_words import word_list
from recjury.records import Domain, Speaker, Turn
from recjury.simulator.agenda import CatalogueValues, Want, letters
from recjury.simulator.grammar import phrases
from recjury.simulator.talk import TALK

# The full stop of an initial ("Vivica A. Fox") ends no sentence.
_SENTENCE = re.compile(r"(?:[^.!?\n]|(?<=\b[A-Z])\.)+[.!?]*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|hates?|hated|dislikes?|tired of|sick of|worn out|\w+n['’]?t)\b",
    re.IGNORECASE,
)
_DISLIKED = re.compile(
    r"\b(?:slow|boring|bored|depressing|dull|worst|terrible|bad|awful|stupid|too long|meh)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\s*\((?:19|20)\d\d\)")
_ASK = re.compile(
    r"\b(?:look(?:ing)? for|in the mood for|i['’]?m after|am after|"
    r"wants?(?: to (?:see|watch|read|find))?|recommend(?: me| us)?|suggest(?: me| us)?|"
    r"seek(?:ing)?|know (?:of )?|like to (?:see|watch|read)|find (?:me )?|need|show me|do you have|"
    r"have you got|enjoy|prefer|i (?:really )?(?:like|love)|into)\s+"
    r"(?P<ask>(?:an? |some |any |something|anything|more |good |great |other |books? |movies? |"
    r"films? )(?:[^.!?;:,\n]|(?<=\b[A-Z])\.){3,90})",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:^|[.!?,] ?)(?P<ask>(?:something|anything|"
    r"an? (?!lot|few|bit|while|great day)\w+)(?:[^.!?;:,\n]|(?<=\b[A-Z])\.){6,80})",
    re.IGNORECASE,
)
_ASK_ENDS = re.compile(
    r"\s(?:but|do you|have you|can you|could you|would you|please|and i|i|if|so|thanks?|tonight|"
    r"today|really|or)\b.*$",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    r"^(?:(?:really|very|good|great|nice|other|more|similar|popular|best) )*"
    r"(?:books?|movies?|films?|novels?|songs?|restaurants?|ones?)\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(r"^(?:some|any|anything|a few|a couple of|more)\b\s*", re.IGNORECASE)
_NOT_AN_ASK = re.compile(
    r"\b(?:it|that one|them|those|these|information|info|idea|ideas|suggestions?|recommendations?|"
    r"preferences?|questions?|lot|much|him|her|help|mind|plans?|you|opinion|thing about)\b",
    re.IGNORECASE,
)
_NO_PHRASE = re.compile(
    r"something (?!(?:[a-z]+ )?(?:that|which|with|for|from|about|like|by|in|to|similar|"
    r"starring|directed|written|set|based|more|less|really|very|pretty|light|old|new|"
    r"funny|scary|sad|happy|romantic|dark|short|pretty|different|hopeful)\b)",
    re.IGNORECASE,
)
_LIKED_BEFORE = ("my", "your", "his", "her", "the", "our", "whole")
_MOST_ASK_WORDS = 12
_MOST_TOPIC_WORDS = 4


class PastWish(NamedTuple):
    """The wants of the history, best first, and the ids of the items that were talked about."""

    wants: tuple[Want, ...]
    liked: tuple[str, ...]
    mentioned: frozenset[str]


def past_wish(
    history: Sequence[Turn],
    catalogue: Catalogue,
    values: CatalogueValues,
    domain: Domain,
    fits: Callable[[Want], bool],
) -> PastWish:
    """Read the user's turns, last first; wants that do not `fit` are left out."""
    mentions = [[mention.id for mention in catalogue.link(turn.text)] for turn in history]
    wants: list[Want] = []
    liked: list[str] = []
    for turn in reversed(history):
        if turn.speaker is Speaker.USER:
            found = _Reader(turn.text, catalogue, values, domain)
            wants += [want for want in found.wants() if fits(want) and want not in wants]
            liked += [id_ for id_ in found.liked if id_ not in liked]
    if not wants:
        turns = [turn for turn in reversed(history) if turn.speaker is Speaker.USER]
        topics = (topic(_without_titles(turn.text, catalogue)) for turn in turns)
        wants = [want for said in topics if said and fits(want := Want("topic", said))][:1]
    return PastWish(tuple(wants), tuple(liked), frozenset(id_ for each in mentions for id_ in each))


class _Reader:
    """Reads one turn of a person."""

    def __init__(self, text: str, catalogue: Catalogue, values: CatalogueValues, domain: Domain):
        self._catalogue = catalogue
        self._values = values
        self._domain = domain
        self._sentences = [match.group().strip() for match in _SENTENCE.finditer(text)]
        self.liked: list[str] = []

    def wants(self) -> list[Want]:
        """What the turn asks for: people, categories, the person's own words, liked items."""
        found: list[Want] = []
        for sentence in self._sentences:
            found += self._of(sentence)
        order = {"ask": 0, "cast": 1, "maker": 1, "category": 2, "like": 3}
        return sorted(dict.fromkeys(found), key=lambda want: order.get(want.role, 4))

    def _of(self, sentence: str) -> list[Want]:
        negative = _NEGATION.search(sentence)
        titles = self._catalogue.link(sentence)
        bare = _without_titles(sentence, self._catalogue)
        before = negative.start() if negative else len(sentence)
        if _DISLIKED.search(sentence):
            titles = ()
        found: list[Want] = []
        for mention in titles:
            if mention.start < before:
                self.liked.append(mention.id)
                found.append(Want("like", self._catalogue.item(mention.id).title))
        found += self._people(bare[:before])
        found += self._categories(bare[:before])
        if not negative:
            ask = own_words(sentence)
            found += [Want("ask", ask)] if ask else []
        return found

    def _people(self, text: str) -> list[Want]:
        words = letters(re.sub(r"['’]s\b", "", text)).split()
        found = []
        for size in (4, 3, 2):
            for start in range(len(words) - size + 1):
                name = " ".join(words[start : start + size])
                if name in self._values.people:
                    found.append(self._values.people[name])
        return found

    def _categories(self, text: str) -> list[Want]:
        known = phrases()
        plain = fold(text)
        found: list[tuple[int, Want]] = []
        spellings = {genre: genre for genre in set(known.genres.values())}
        spellings |= {kind.many: genre for genre, kind in known.alone.items()}
        spellings |= known.heard
        for spelling, genre in spellings.items():
            place = re.search(rf"(\w*)\W*(?<!\w){re.escape(spelling)}(?!\w)", plain)
            if place and (place.group(1) not in _LIKED_BEFORE or spelling in known.heard):
                found.append((place.start(), Want("category", genre, word="genre")))
        return [want for _, want in sorted(found)]


def _without_titles(text: str, catalogue: Catalogue) -> str:
    """The text with a comma and blanks in place of the titles that it names."""
    for mention in catalogue.link(text):
        blank = ",".ljust(mention.end - mention.start)
        text = text[: mention.start] + blank + text[mention.end :]
    return text


def topic(text: str) -> str:
    """The longest run of words that say something ("rainy November afternoon"); "" without one.

    At most four words are taken; of several runs of the same length it is the first.
    """
    runs: list[list[str]] = [[]]
    for word in re.findall(r"[^\W_]+(?:['’-][^\W_]+)*|[.,!?;:]", text):
        if len(word) == 1 or _says_nothing(word):
            runs.append([])
        else:
            runs[-1].append(word)
    runs = [run for run in runs if len(run) > 1 or (run and not _is_common(run[0]))]
    longest = max(runs, key=lambda run: min(len(run), _MOST_TOPIC_WORDS), default=[])
    return " ".join(longest[:_MOST_TOPIC_WORDS])


def _is_common(word: str) -> bool:
    return not {word.lower(), word.lower().removesuffix("s")}.isdisjoint(word_list("common"))


@cache
def _says_nothing(word: str) -> bool:
    plain = word.lower().replace("’", "'")
    return plain in phrases().small_talk or plain in TALK.function_words


def own_words(sentence: str) -> str:
    """The person's own words for what it wants ("a romantic movie"); "" if there are none."""
    match = _ASK.search(sentence) or _BARE.search(sentence)
    if match is None:
        return ""
    ask = _YEAR.sub("", _ASK_ENDS.sub("", match["ask"])).strip(" '\"-")
    ask = _QUANTITY.sub(
        lambda each: (
            "something "
            if each.group(0)[:3].lower() == "any" and each.group(0).strip().lower() == "anything"
            else ""
        ),
        ask,
    )
    ask = _PLURAL.sub("something", ask)
    ask = re.sub(r"^(something )(?:that|which) (?:are|were) ", r"\1", ask)
    ask = re.sub(r"^(something )(?:that|which) have ", r"\1that has ", ask)
    words = ask.split()
    content = [word for word in words if word.lower().strip("'\"") not in phrases().bare_request]
    if not content or len(words) > _MOST_ASK_WORDS or _NOT_AN_ASK.search(ask):
        return ""
    first = words[0]
    if first.lower() not in ("a", "an", "something") or _NO_PHRASE.match(ask):
        return ""
    return ask[0].lower() + ask[1:]
