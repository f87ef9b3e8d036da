"""A model's utterance together with the acts that it declares: read, checked and counted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from recjury.knowledge import Catalogue, attributes_of, plain_value
from recjury.language import read
from recjury.records import (
    Act,
    Attribute,
    DeclaredAct,
    Domain,
    Speaker,
    Turn,
    contradiction_in,
)

_FIELDS = ("item", "attribute", "value")


class DeclaredReply(BaseModel):
    """What came: the words, and the acts as they were written."""

    model_config = ConfigDict(frozen=True)

    text: str
    acts: tuple[Any, ...] = ()


class CheckedActs(NamedTuple):
    """The acts that can be true, how many were dropped, and how many differ from the words."""

    acts: tuple[DeclaredAct, ...]
    dropped: int
    differing: int


def schema(longest: int) -> dict[str, object]:
    """The JSON schema of such a reply, whose text has at most `longest` characters."""
    word = {"type": "string", "maxLength": 200}
    act = {"act": {"enum": [each.value for each in Act]}, **dict.fromkeys(_FIELDS, word)}
    acts = {"type": "object", "properties": act, "required": ["act"]}
    return {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": longest},
            "acts": {"type": "array", "maxItems": 8, "items": acts},
        },
        "required": ["text", "acts"],
    }


def checked_acts(
    said: DeclaredReply, before: Sequence[Turn], catalogue: Catalogue, domain: Domain
) -> CheckedActs:
    """The acts of a reply that the catalogue knows and that agree with each other.

    Dropped are unknown acts, items and values, what an act cannot have, and acts that contradict
    an earlier one. An act differs if `language.read` is sure that the words do not do it, or is
    sure of an act that was not declared.
    """
    kept: list[DeclaredAct] = []
    for written in said.acts:
        act = _act(written, catalogue, domain)
        if act is not None and not contradiction_in((*kept, act)):
            kept.append(act)
    acts = tuple(dict.fromkeys(kept))
    declared = {each.act for each in acts}
    reading = read(Turn(speaker=Speaker.USER, text=said.text), before, catalogue)
    missing = reading.yes - declared - {Act.CHAT} if acts else frozenset()
    return CheckedActs(acts, len(said.acts) - len(kept), len(reading.no & declared) + len(missing))


def _act(written: object, catalogue: Catalogue, domain: Domain) -> DeclaredAct | None:
    """The act as it was written; None if something in it is unknown."""
    if not isinstance(written, Mapping):
        written = {"act": written}
    given = {name: str(value).strip() for name, value in written.items() if value not in (None, "")}
    title = given.get("item", "")
    item = catalogue.named(title) if title else None
    attribute = _attribute(given, catalogue, domain)
    if (title and item is None) or attribute is None:
        return None
    try:
        return DeclaredAct(
            act=Act(given.get("act", "").lower()),
            item=item.id if item else None,
            attribute=attribute.kind,
            value=attribute.value,
        )
    except (ValueError, ValidationError):
        return None


def _attribute(given: Mapping[str, str], catalogue: Catalogue, domain: Domain) -> Attribute | None:
    """The attribute in the catalogue's spelling, empty if none is given; None if unknown."""
    kind, value = given.get("attribute", "").lower(), given.get("value", "")
    if not kind:
        return None if value else Attribute("", "")
    if not value:
        return Attribute(kind, "") if domain.attribute(kind) else None
    return next(_spellings(Attribute(kind, value), catalogue), None)


def _spellings(attribute: Attribute, catalogue: Catalogue) -> Iterator[Attribute]:
    plain = plain_value(attribute.value)
    for id_ in sorted(catalogue.attributes.items_with(attribute)):
        item = catalogue.item(id_)
        for each in attributes_of(item, catalogue.domain_of(item)):
            if each.kind == attribute.kind and plain_value(each.value) == plain:
                yield each
