"""What every system that is not ours is held to, however it is reached."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import ValidationError

from recjury.errors import SystemFailed
from recjury.records import ItemRef, SystemReply, distinct, usable_reply

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue


def validate_reply(reply: object, catalogue: "Catalogue") -> SystemReply:
    """The reply with text, each item once, and ids that the catalogue has.

    An item of another id is looked up by its name; one that is not found is kept by it, without
    an id: it counts as a miss. Calls are left out: none of them is ours, so that the store has no
    reply to hold them against. Raises SystemFailed for what is no reply.
    """
    usable = usable_reply(_checked(reply))
    return usable.model_copy(update={"items": _known(usable.items, catalogue), "calls": ()})


def _checked(reply: object) -> object:
    """A reply whose fields are what they are to be; pydantic lets one be made unchecked."""
    if not isinstance(reply, SystemReply):
        return reply
    try:
        return SystemReply.model_validate(
            {field: getattr(reply, field, None) for field in SystemReply.model_fields}, strict=True
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise SystemFailed(f"`{place}` of the answer cannot be used: {first['msg']}") from None


def _known(items: Iterable[ItemRef], catalogue: "Catalogue") -> tuple[ItemRef, ...]:
    return distinct(
        catalogue.item(item.id).ref
        if item.id is not None and item.id in catalogue
        else catalogue.ref(item.name)
        for item in items
    )
