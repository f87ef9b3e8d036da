"""The items that a text names: those of the catalogue, and titles that it does not have."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recjury.knowledge.catalogue import Catalogue
from recjury.records import ItemRef, distinct

_LONGEST = 80
_MOST_WORDS = 10
_MARKED = re.compile(
    r"^[ \t]*\d{1,2}[.)][ \t]+(?P<entry>[^\n]+)"
    r"|[\"“](?P<quoted>[^\"“”\n]+)[\"”]"
    r"|\*\*?(?P<starred>[^*\n]+)\*\*?",
    re.MULTILINE,
)
_TITLE_ENDS = re.compile(
    r"\s+[-–—]\s+|:\s|,?\s+(?:which|by|directed|starring)\b|,\s+(?:a|an|the)\b|(?<=\))\s"
)
_YEAR = re.compile(r"\(\d{4}\)")
_WRAPPING = " \t*_\"“”'‘’.,;!?"


class _Marked(NamedTuple):
    start: int
    end: int
    title: str


def named_items(text: str, catalogue: Catalogue) -> tuple[ItemRef, ...]:
    """The items that `text` names, in text order, without repetitions.

    A text marked as a title (by quotation marks, by bold or italics, or as a numbered entry) that
    is not in the catalogue is kept by name, without an id. A shorter title inside it is then
    ignored.
    """
    marked = list(_marked_titles(text))
    found = []
    for mention in catalogue.link(text):
        around = [each for each in marked if each.start < mention.end and mention.start < each.end]
        if any(_is_longer(each.title, mention.text) for each in around):
            continue
        marked = [each for each in marked if each not in around]
        found.append((mention.start, catalogue.item(mention.id).ref))
    found += [(each.start, catalogue.ref(each.title)) for each in marked]
    return distinct(ref for _, ref in sorted(found, key=lambda each: each[0]))


def _is_longer(title: str, named: str) -> bool:
    """Whether a title has more words than the name found in it; a year does not count as a word."""
    return len(_words(title)) > len(_words(named))


def _words(title: str) -> list[str]:
    return re.findall(r"\w+", _YEAR.sub("", title))


def _marked_titles(text: str) -> Iterator[_Marked]:
    for match in _MARKED.finditer(text):
        group = match.lastgroup
        assert group is not None, "every alternative has a group"
        start, end = match.span(group)
        title = match.group(group)
        if group != "quoted":
            title = _TITLE_ENDS.split(title, maxsplit=1)[0]
        title = title.strip(_WRAPPING)
        if _is_titlelike(title):
            yield _Marked(start, end, title)


def _is_titlelike(title: str) -> bool:
    return (
        0 < len(title) <= _LONGEST
        and len(title.split()) <= _MOST_WORDS
        and (title[0].isupper() or title[0].isdigit())
        and any(each.isalpha() for each in title)
    )
