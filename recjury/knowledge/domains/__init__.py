"""The kinds of items that recjury knows, and how a corpus describes another one."""

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from recjury.errors import DataError
from recjury.records import Domain, Expert
from recjury.yaml_files import read_yaml

FILM = "film"
BOOK = "book"
_KEYS = ("item", "items", "synonyms", "verb", "done", "attributes", "dimensions", "expert")


def domain_names() -> tuple[str, ...]:
    """The names of the domains that recjury knows."""
    folder = resources.files("recjury.knowledge.domains")
    files = (Path(file.name) for file in folder.iterdir())
    return tuple(sorted(file.stem for file in files if file.suffix == ".yaml"))


@cache
def known_domain(name: str) -> Domain:
    """The domain that recjury knows by this name. Raises DataError for another name."""
    if name not in domain_names():
        raise DataError(f"no domain {name!r}: there are {', '.join(domain_names())}")
    file = resources.files("recjury.knowledge.domains") / f"{name}.yaml"
    return _domain(yaml.safe_load(file.read_text("utf-8")), Path(f"{name}.yaml"))


def read_domain(path: Path) -> Domain:
    """The domain that a file describes: the name of a known one (`domain: book`), or its words.

    Raises DataError, in one line, for a file that is not as docs/data.md describes, and ConfigError
    for one that is not YAML.
    """
    read = read_yaml(path)
    if isinstance(read, dict) and list(read) == ["domain"]:
        try:
            return known_domain(str(read["domain"]))
        except DataError as error:
            raise DataError(str(error), path=path) from None
    return _domain(read, path)


def expert_of(domain: Domain) -> Expert | None:
    """The Domain Expert of a debate about such items; None for the one of its prompt pack.

    That one knows films and books. A domain without an expert of its own gets a general one.
    """
    if domain.name in {FILM, BOOK} or domain.expert is not None:
        return domain.expert
    known = " and ".join(each.words for each in domain.attributes)
    return Expert(
        who=f"You know {domain.items} as few people do. The same few well-known ones bore you; you "
        "look for variety and for discoveries. You have no patience with a system that gets its "
        f"facts wrong, and you mind whether what it says fits the {domain.items} it speaks of.",
        expertise=(
            f"You know what makes a good {domain.item}, and what disappoints people in one.",
            f"You know {domain.items} by their {known}.",
            "You know the famous ones as well as the little-known, and how they were received.",
        ),
    )


def _domain(read: object, path: Path) -> Domain:
    if not isinstance(read, dict):
        raise DataError(f"expected the keys {', '.join(_KEYS)}", path=path)
    unknown = [str(key) for key in read if key not in _KEYS]
    if unknown:
        message = f"unknown key {unknown[0]!r}: the keys are {', '.join(_KEYS)}"
        raise DataError(message, path=path)
    attributes = read.get("attributes")
    if not isinstance(attributes, dict) or not attributes:
        raise DataError(
            "names no attribute: `attributes` must have at least one, such as "
            "`genre: {kind: category}`",
            path=path,
        )
    filled: dict[str, Any] = {
        **read,
        "name": read.get("item"),
        "attributes": [_attribute(str(name), given) for name, given in attributes.items()],
    }
    missing = next((key for key in ("item", "items", "verb", "done") if key not in read), None)
    if missing is not None:
        raise DataError(f"lacks {missing!r}: docs/data.md shows what it holds", path=path)
    filled.setdefault("dimensions", [str(name) for name in attributes])
    try:
        return Domain.model_validate(filled)
    except ValidationError as error:
        raise DataError(_first_fault(error, tuple(map(str, attributes))), path=path) from None


def _attribute(name: str, given: object) -> object:
    """An attribute with the words that follow from its name."""
    if not isinstance(given, dict):
        return {"name": name, "field": name, "word": name, "words": name, "kind": given}
    word = str(given.get("word", name))
    words = str(given.get("words", f"{word}s"))
    field = "year" if given.get("kind") == "era" else words.replace(" ", "_")
    return {"name": name, "field": field, **given, "word": word, "words": words}


def _first_fault(error: ValidationError, attributes: tuple[str, ...]) -> str:
    fault = error.errors()[0]
    place = [str(part) for part in fault["loc"]]
    if place[:1] == ["attributes"] and len(place) > 1:
        place[1] = attributes[int(place[1])]
    message = fault["msg"].removeprefix("Value error, ")
    return f"{'.'.join(place)}: {message}" if place else message
