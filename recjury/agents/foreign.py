"""What every system that is not ours is held to, however it is reached."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recjury.records import ItemRef, SystemReply, distinct, usable_reply

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue


def held_to_catalogue(reply: object, catalogue: "Catalogue") -> SystemReply:
    """The reply with text, each item once, and ids that the catalogue has.

    An item of another id is looked up by its name; one that is not found is kept by it, without
    an id: it counts as a miss. Raises SystemFailed for what is no reply.
    """
    usable = usable_reply(reply)
    return usable.model_copy(update={"items": _known(usable.items, catalogue)})


def _known(items: Iterable[ItemRef], catalogue: "Catalogue") -> tuple[ItemRef, ...]:
    return distinct(
        catalogue.item(item.id).ref
        if item.id is not None and item.id in catalogue
        else catalogue.ref(item.name)
        for item in items
    )
