"""Make text and list agree: item tokens in a reply become names of items in its list."""

from collections.abc import Callable, Iterator, Sequence

from recjury.agents.neural.context import EncodedContext
from recjury.agents.neural.tokens import ITEM
from recjury.knowledge import Catalogue
from recjury.records import ItemRef

Naming = Callable[[str, EncodedContext, Sequence[ItemRef]], str]


def as_said(text: str, _heard: EncodedContext, _items: Sequence[ItemRef]) -> str:
    """The text as the generator wrote it; the published code does not change it either."""
    return text


class NameFromList:
    """Puts names of a reply's list into its text; a `Naming`.

    Every item token becomes the best item of the list that has not been named yet. In a text
    without item tokens, from a generator that writes names itself, a name that is neither in the
    list nor in the conversation is replaced in the same way.
    """

    def __init__(self, catalogue: Catalogue):
        """`catalogue` distinguishes names from other words."""
        self._catalogue = catalogue

    def __call__(self, text: str, heard: EncodedContext, items: Sequence[ItemRef]) -> str:
        """The text with names from the list."""
        if not items:
            return text.replace(ITEM, "").strip()
        if ITEM in text:
            names = _fresh(items, heard.named)
            first, *rest = text.split(ITEM)
            return first + "".join(next(names) + part for part in rest)
        return self._corrected(text, heard, items)

    def _corrected(self, text: str, heard: EncodedContext, items: Sequence[ItemRef]) -> str:
        listed = {item.id for item in items}
        mentions = self._catalogue.link(text)
        kept = {mention.id for mention in mentions} & listed
        names = _fresh(items, heard.named | {id_ for id_ in kept if id_ is not None})
        said, end = [], 0
        for mention in mentions:
            if mention.id in listed or mention.id in heard.named:
                continue
            said += [text[end : mention.start], next(names)]
            end = mention.end
        return "".join([*said, text[end:]])


def _fresh(items: Sequence[ItemRef], named: frozenset[str]) -> Iterator[str]:
    """The names of the items that have not been named, then those of all items, repeatedly."""
    yield from (item.name for item in items if item.id not in named)
    while True:
        yield from (item.name for item in items)
