"""Check the replies of a user's own system."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import ValidationError

from recjury.errors import SystemFailed
from recjury.mistakes import first_mistake
from recjury.records import ItemRef, SystemReply, distinct, usable_reply

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue


def validate_reply(reply: object, catalogue: "Catalogue") -> SystemReply:
    """The reply with text, each item once, and only ids that the catalogue has.

    An item with another id is looked up by its name. If it is not found, it is kept without an id
    and counts as a miss. `calls` are removed, because the store has no record of them. Raises
    SystemFailed if the reply cannot be used.
    """
    usable = usable_reply(_checked(reply))
    return usable.model_copy(update={"items": _known(usable.items, catalogue), "calls": ()})


def _checked(reply: object) -> object:
    """The reply with validated fields; pydantic can make a model without validation."""
    if not isinstance(reply, SystemReply):
        return reply
    try:
        return SystemReply.model_validate(
            {field: getattr(reply, field, None) for field in SystemReply.model_fields}, strict=True
        )
    except ValidationError as error:
        raise SystemFailed(f"the answer cannot be used: {first_mistake(error)}") from None


def _known(items: Iterable[ItemRef], catalogue: "Catalogue") -> tuple[ItemRef, ...]:
    return distinct(
        catalogue.item(item.id).ref
        if item.id is not None and item.id in catalogue
        else catalogue.ref(item.name)
        for item in items
    )
