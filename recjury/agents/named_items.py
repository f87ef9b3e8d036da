"""Which items a text recommends: those the catalogue has, and titles it does not have."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recjury.records import ItemRef, distinct

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue

_LONGEST = 80
_MOST_WORDS = 10
_MARKED = re.compile(
    r"^[ \t]*\d{1,2}[.)][ \t]+(?P<entry>[^\n]+)"
    r"|[\"“](?P<quoted>[^\"“”\n]+)[\"”]"
    r"|\*\*?(?P<starred>[^*\n]+)\*\*?",
    re.MULTILINE,
)
_ENTRY_ENDS = re.compile(r"\s+[-–—]\s+|:\s|,\s+(?:which|a|an|the|directed|starring)\b|(?<=\))\s")
_WRAPPING = " \t*_\"“”'‘’.,;!?"


def named_items(text: str, catalogue: "Catalogue") -> tuple[ItemRef, ...]:
    """The items that `text` names, in text order, each once.

    What stands as a title (in quotation marks, in bold or italics, as a numbered entry) and is
    not in the catalogue is kept by name, with no id.
    """
    linked = catalogue.link(text)
    found = [(mention.start, catalogue.item(mention.id).ref) for mention in linked]
    taken = [(mention.start, mention.end) for mention in linked]
    for start, end, title in _marked_titles(text):
        if not any(start < until and begin < end for begin, until in taken):
            found.append((start, catalogue.ref(title)))
            taken.append((start, end))
    return distinct(ref for _, ref in sorted(found, key=lambda each: each[0]))


def _marked_titles(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _MARKED.finditer(text):
        group = match.lastgroup
        assert group is not None, "every alternative has a group"
        start, end = match.span(group)
        title = match.group(group)
        if group == "entry":
            title = _ENTRY_ENDS.split(title, maxsplit=1)[0]
            end = start + len(title)
        title = title.strip(_WRAPPING)
        if _is_titlelike(title):
            yield start, end, title


def _is_titlelike(title: str) -> bool:
    return (
        0 < len(title) <= _LONGEST
        and len(title.split()) <= _MOST_WORDS
        and (title[0].isupper() or title[0].isdigit())
        and any(each.isalpha() for each in title)
    )
