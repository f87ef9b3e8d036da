"""What a system said and showed in one answer, put together from its pieces."""

import json

from pydantic import ValidationError

from recjury.corpora import Catalogue
from recjury.corpora.words import is_blank
from recjury.errors import SystemFailed
from recjury.keys import one_line
from recjury.records import Event, ItemRef, SystemReply, Turn

_LONGEST = 100_000  # characters of an answer: a conversation is read by judges, turn by turn


class Reply:
    """The texts, items and events of one answer. `listed` says whether it has a list of its own."""

    def __init__(self) -> None:
        """Nothing is said yet."""
        self.listed = False
        self._texts: list[str] = []
        self._items: list[ItemRef | str] = []
        self._events: list[Event] = []
        self._size = 0

    def add(self, piece: object) -> None:
        """Take a text, an event, or a whole reply. Raises SystemFailed for anything else."""
        match piece:
            case str():
                self._count(len(piece))
                self._texts.append(piece)
            case Event(kind="items", value=value):
                self._list(value)
            case Event(value=value):
                self._count(len(_plain(value)))
                self._events.append(piece)
            case SystemReply():
                self._list(piece.items)
                for part in (piece.text, *piece.events):
                    self.add(part)
            case None:
                raise SystemFailed("it returned nothing (None)")
            case _:
                kind = type(piece).__name__
                raise SystemFailed(f"expected a text, a SystemReply or an Event, got {kind}")

    def turn(self, catalogue: Catalogue, *, link: bool) -> Turn:
        """The system's turn; with `link`, a list that is missing is searched for in the text.

        Raises SystemFailed if nothing was said or shown.
        """
        text = _whole("".join(self._texts))
        items = tuple(map(catalogue.resolve, self._items))
        if is_linked := link and not items:
            items = catalogue.link(text)
        listed = tuple({item.id: item for item in items}.values())
        if is_blank(text) and not listed and not self._events:
            raise SystemFailed("it said nothing and showed nothing")
        return Turn(
            speaker="system",
            text=text,
            items=listed,
            events=tuple(self._events),
            linked=is_linked and bool(listed),
        )

    def _list(self, items: object) -> None:
        try:
            found = SystemReply.model_validate({"items": items}).items
        except ValidationError:
            raise SystemFailed(
                f"expected a list of names, ids and ItemRefs as items, got {one_line(repr(items))}"
            ) from None
        self._count(len(found))
        self._items += found
        self.listed = True

    def _count(self, characters: int) -> None:
        """Count a piece; an empty one counts as well, so that a stream that never ends is ended."""
        self._size += max(1, characters)
        if self._size > _LONGEST:
            raise SystemFailed(f"its answer is longer than {_LONGEST:,} characters and items")


def _plain(value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise SystemFailed(
            f"the value of an event cannot be kept as JSON: {one_line(error)}"
        ) from None


def _whole(text: str) -> str:
    """The text with characters joined that a stream has cut in two halves."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
