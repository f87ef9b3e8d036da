"""Errors of a sentence's frame: how it begins, what it lists, and articles before titles."""

import re
from collections.abc import Iterator

from recjury.judges.measured.text import MaskedText, Sentence, word_set

Error = tuple[int, str]

_GENRES = word_set(
    "action adventure comedy comedies crime drama dramas horror mystery romance romantic suspense "
    "thriller thrillers fantasy family music war western genre genres"
)
_WORKS = word_set("movie film book story")
_GLUE = frozenset({"and", "or", "a", "an", "is", "the", "with", "which", "as"})
_BARE_VERBS = word_set("is was are were has")
_AFTER_BARE_VERB = frozenset({("a",), ("an",), ("the",), ("about",)})
_LEADING = re.compile(r"\s{0,3}([,;:)\]~.]{1,40})\s{1,3}\S")
_RUN_TOGETHER = re.compile(r"[a-z]{2,}[A-Z][a-z]+")
_ARTICLE_BEFORE = re.compile(r"(?:^|\W)((?:the|a|an) )[\"“']?$", re.IGNORECASE)
_ARTICLE_FIRST = re.compile(r"(?:the|a|an) ", re.IGNORECASE)
_EMPTY_ITEM = re.compile(r", {1,2},|, (?:and|or) ?[,.]|\b(?:and|or) ,")


def frame_errors(sentence: Sentence) -> Iterator[Error]:
    """The errors of this kind in a sentence, each with the index of its first word."""
    yield from _no_subject(sentence)
    yield from _said_twice(sentence)
    for index, raw in enumerate(sentence.raw):
        if raw[0].islower() and _RUN_TOGETHER.fullmatch(raw):
            yield index, f"run together {raw!r}"
        elif sentence.words[index] == "i" and sentence.run(index, 3)[1:] == ("never", "seen"):
            yield index, f"wrong form {sentence.phrase(index, index + 3)!r}"


def text_errors(utterance: MaskedText) -> list[str]:
    """The errors that show in the whole text only."""
    found: list[str] = []
    leading = _LEADING.match(utterance.masked)
    if leading is not None and set(leading[1]) != {"."} and ":)" not in leading[1]:
        found.append(f"begins with {leading[1][:4]!r}")
    empty = _EMPTY_ITEM.search(utterance.masked)
    if empty is not None:
        found.append(f"empty entry {empty.group().strip()!r}")
    for start, end in utterance.spans:
        before = _ARTICLE_BEFORE.search(utterance.text[max(0, start - 8) : start])
        if before is not None and _ARTICLE_FIRST.match(utterance.text, start):
            found.append(f"two articles {before[1] + utterance.text[start:end]!r}")
    return found


def _no_subject(sentence: Sentence) -> Iterator[Error]:
    """ "is a romance." A question is no error, nor is a remark without a full stop."""
    begins = sentence.raw[0] in _BARE_VERBS and sentence.words[1:2] in _AFTER_BARE_VERB
    if begins and len(sentence.words) > 2 and sentence.ending.startswith("."):
        yield 0, f"no subject before {sentence.phrase(0, 2)!r}"


def _said_twice(sentence: Sentence) -> Iterator[Error]:
    """ "a thriller and a thriller", "action, comedy, and action", "the movie is a movie"."""
    last: dict[str, int] = {}
    for index, word in enumerate(sentence.words):
        if word in _GENRES or word in _WORKS:
            between = sentence.words[last[word] + 1 : index] if word in last else ()
            listed = word in _GENRES and all(w in _GLUE or w in _GENRES for w in between)
            if between and (listed or between in {("is", "a"), ("is", "the")}):
                yield last[word], f"twice {word!r}"
                return
            last[word] = index
