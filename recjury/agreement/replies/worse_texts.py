"""How a text is made worse: pure functions of texts and a random generator.

Each returns None if the text offers nothing to change. The kinds are those of Khalid and Lee
(2022); the heuristics are ours.
"""

import random
import re
from collections.abc import Collection, Iterable, Sequence

from recjury.agreement.replies.entities import MentionedName
from recjury.agreement.replies.thesaurus import stem, synonyms_of

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_GENERIC_REPLIES = (
    "That sounds good.",
    "That is nice.",
    "I see.",
    "Okay.",
    "Wow!",
    "Great!",
    "How interesting.",
    "I am glad to hear that.",
    "Cool!",
)
_GENERIC_ANSWERS = (
    "I am not sure.",
    "That is a good question.",
    "I don't know.",
    "Hmm, let me think about that.",
    "It depends.",
    "I can't say.",
)
# Rows of one case; the columns are persons: I, we, you, he, she, it, they.
_PRONOUNS = (
    ("i", "we", "you", "he", "she", "it", "they"),
    ("me", "us", "you", "him", "her", "it", "them"),
    ("my", "our", "your", "his", "her", "its", "their"),
    ("mine", "ours", "yours", "his", "hers", "its", "theirs"),
    ("myself", "ourselves", "yourself", "himself", "herself", "itself", "themselves"),
)
_FEW_PARAPHRASED = 2
_AUXILIARY = re.compile(
    r"\b(am|is|are|was|were|can|could|will|would|should|must|might|may|has|had|do|does|did)\b"
    r"(?!\s*(?:not|n['’]t)\b)",
    re.IGNORECASE,
)
_SHORTENED = re.compile(r"(?<=\w)(['’](?:m|re|s|ll|ve))\b(?!\s*not\b)", re.IGNORECASE)
_NEGATION = re.compile(r"(?<!\s)\s*\bnot\b|n['’]t\b", re.IGNORECASE)
_IRREGULAR = {"can't": "can", "won't": "will", "can’t": "can", "won’t": "will"}
_PLAIN_VERB = re.compile(
    r"\b(i|you|we|they)(\s+(?:(?:really|also|just|always|usually)\s+)?)"
    r"(like|love|want|need|know|think|have|enjoy|hope|recommend|suggest|prefer|work|live|go|"
    r"watch|play|see|feel|believe|agree|understand|remember|hate|own|read|get|take|make|say)\b",
    re.IGNORECASE,
)
_STOP_WORDS_TEXT = (
    "a about all also am an and any are as at be been but by can could did do does for from "
    "had has have he her him his how i if in into is it its just me my no not of on one or our "
    "she so some than that the their them then there they this to too up us was we were what "
    "when where which who why will with would yes you your"
)
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())


def dull(asked: bool, own_last: str | None, text: str, draw: random.Random) -> str | None:
    """A reply that says nothing: a generic one, or what the speaker said last time."""
    generic = _GENERIC_ANSWERS if asked else _GENERIC_REPLIES
    if own_last and own_last != text and draw.random() < 1 / 3:
        return own_last
    return draw.choice([each for each in generic if each != text])


def wrong_pronouns(text: str, draw: random.Random) -> str | None:
    """Every pronoun becomes one of another person, number or gender."""

    def other(found: re.Match[str]) -> str:
        word = found[0]
        rows = [row for row in _PRONOUNS if word.lower() in row]
        if not rows:
            return word
        chosen = draw.choice([each for each in draw.choice(rows) if each != word.lower()])
        before = text[: found.start()].rstrip().rstrip('"”')
        starts = not before or before[-1] in ".!?"
        capital = chosen == "i" or (word[0].isupper() and (word != "I" or starts))
        return chosen.capitalize() if capital else chosen

    worse = re.sub(r"[^\W\d_]+", other, text)
    return worse if worse != text else None


def repeated(text: str, draw: random.Random) -> str | None:
    """One word, or a phrase of two or three, said two to five times."""
    words = list(_WORD.finditer(text))
    if not words:
        return None
    first = draw.randrange(len(words))
    last = min(first + draw.choice((0, 0, 1, 2)), len(words) - 1)
    phrase = text[words[first].start() : words[last].end()]
    return (
        " ".join([text[: words[first].start()] + phrase, *[phrase] * draw.randint(1, 4)])
        + text[words[last].end() :]
    )


def contradicting(text: str, draw: random.Random) -> str | None:
    """The text with one of its statements negated, or with a negation removed."""
    ways = [_without_negation(text, found) for found in _NEGATION.finditer(text)]
    ways += [
        f"{text[: found.end()]} not{text[found.end() :]}"
        for pattern in (_AUXILIARY, _SHORTENED)
        for found in pattern.finditer(text)
    ]
    ways += [
        f"{text[: found.start(3)]}do not {text[found.start(3) :]}"
        for found in _PLAIN_VERB.finditer(text)
    ]
    return draw.choice(ways) if ways else None


def with_other_names(
    text: str, names: Sequence[MentionedName], others: Sequence[MentionedName], draw: random.Random
) -> str | None:
    """Each of the names becomes another one of `others`: a title a title, if there is another."""
    worse = text
    for name in sorted(set(names), key=lambda each: (-len(each.text), each.text)):
        different = [each for each in others if each.text.casefold() != name.text.casefold()]
        alike = [each for each in different if each.title is name.title]
        if different and name.text in worse:
            worse = worse.replace(name.text, draw.choice(alike or different).text)
    return worse if worse != text else None


def not_entrained(text: str, shared: Iterable[str], draw: random.Random) -> str | None:
    """One of the words that the other speaker used, too, becomes a near synonym."""
    used = {stem(word) for word in shared} - _STOP_WORDS
    places = [
        found
        for found in _WORD.finditer(text)
        if stem(found[0]) in used and synonyms_of(found[0]) is not None
    ]
    if not places:
        return None
    found = draw.choice(places)
    synonyms = synonyms_of(found[0])
    assert synonyms is not None
    chosen = _as_written(draw.choice(synonyms.near), found[0])
    return text[: found.start()] + chosen + text[found.end() :]


def badly_paraphrased(text: str, draw: random.Random) -> str | None:
    """Every word of the thesaurus becomes one of another sense; at least two words do."""
    changed = 0

    def unfitting(found: re.Match[str]) -> str:
        nonlocal changed
        synonyms = None if found[0].lower() in _STOP_WORDS else synonyms_of(found[0])
        if synonyms is None:
            return found[0]
        changed += 1
        return _as_written(draw.choice(synonyms.unfitting), found[0])

    worse = _WORD.sub(unfitting, text)
    return worse if changed >= _FEW_PARAPHRASED else None


def less_diverse(text: str, said: Collection[str], draw: random.Random) -> str | None:
    """Words become related ones that the dialogue already has: fewer different words are said.

    Related are synonyms of any sense, and other forms of one word. `said` are the words of the
    dialogue.
    """
    by_stem: dict[str, set[str]] = {}
    for word in said:
        by_stem.setdefault(stem(word), set()).add(word.lower())
    back: dict[str, set[str]] = {}
    for each in by_stem:
        for synonym in _synonym_stems(each):
            back.setdefault(synonym, set()).add(each)

    def related(word: str) -> list[str]:
        own = stem(word)
        stems = (_synonym_stems(word) | back.get(own, set())) - {own}
        others = {form for each in stems for form in by_stem.get(each, ())}
        return sorted(others or by_stem.get(own, set()) - {word.lower()})

    def replaced(found: re.Match[str]) -> str:
        choices = [] if found[0].lower() in _STOP_WORDS else related(found[0])
        return _as_written(draw.choice(choices), found[0]) if choices else found[0]

    worse = _WORD.sub(replaced, text)
    return worse if worse != text else None


def words_of(texts: Iterable[str]) -> list[str]:
    """The words of the texts, in lower case."""
    return [word.lower() for text in texts for word in _WORD.findall(text)]


def _synonym_stems(word: str) -> set[str]:
    synonyms = synonyms_of(word)
    return (
        set()
        if synonyms is None
        else {stem(each) for each in (*synonyms.near, *synonyms.unfitting)}
    )


def _without_negation(text: str, found: re.Match[str]) -> str:
    start = text.rfind(" ", 0, found.start()) + 1
    for word, positive in _IRREGULAR.items():
        if text[start : found.end()].lower() == word:
            return text[:start] + _as_written(positive, text[start]) + text[found.end() :]
    return text[: found.start()] + text[found.end() :]


def _as_written(word: str, like: str) -> str:
    """The word with a capital if `like` has one."""
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
