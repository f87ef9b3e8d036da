"""Reasons for an item; each one is true according to the catalogue."""

from collections.abc import Iterator, Sequence

from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.understanding import Understanding
from recjury.records import Domain, DomainAttribute, Item

_QUOTED = 220
_STORY = "the story is this: "


def reasons(library: Library, wish: Understanding, row: int) -> list[str]:
    """Why the item fits, best reason first, as clauses without its title and without a full stop.

    There is at least one reason: the last one describes the item.
    """
    found = list(dict.fromkeys(_reasons(library, wish, row)))
    *before, last = found
    # Without a plot, the description repeats what may have been a reason.
    said = any(last.startswith(f"{each} and ") or each == last for each in before)
    return before if said else found


def _reasons(library: Library, wish: Understanding, row: int) -> Iterator[str]:
    """Requested people, categories, years; attributes shared with liked items; a description."""
    item, domain = library.items[row], library.domain_of(row)
    for name in sorted(wish.wanted, key=lambda each: (-wish.wanted[each], each)):
        for people in _people(domain):
            if row in library.attributes[name].rows.get(people.name, ()):
                yield f"{library.attributes[name].name} {people.did} it"
    wanted = {library.attributes[name].name for name in wish.wanted}
    for category in _categories(domain):
        values = [each for each in category.of(item) if each in wanted]
        if values:
            yield f"{_is(category, values[:2])}, which you asked for"
    if item.year is not None and any(first <= item.year <= last for first, last in wish.years):
        yield f"it came out in {item.year}"
    for liked in sorted(wish.liked, key=lambda each: (-wish.liked[each], each)):
        yield from _shared(library, row, liked)
    yield description(item, domain)


def _shared(library: Library, row: int, liked: int) -> Iterator[str]:
    """The attributes that the item shares with an item that the user named."""
    if liked == row:
        return
    domain, title = library.domain_of(row), library.items[liked].name
    names = library.shared(row, liked)
    for people in _people(domain):
        for name in names:
            rows = library.attributes[name].rows.get(people.name, ())
            if row in rows and liked in rows:
                yield f"{library.attributes[name].name} {people.did} it, as well as {title}"
    for category in _categories(domain):
        theirs = category.of(library.items[liked])
        shared = [each for each in category.of(library.items[row]) if each in theirs]
        if shared:
            yield f"like {title} {_is(category, shared[:2])}"


def description(item: Item, domain: Domain) -> str:
    """A clause that describes an item from the catalogue."""
    if item.plot:
        return f"{_STORY}{_first_sentence(item.plot)}"
    parts = [f"{names[0]} {each.did} it" for each, names in _first_makers(item, domain)]
    if item.year is not None and domain.of_kind("era"):
        parts.append(f"it came out in {item.year}")
    if not parts:
        known = ((each, each.of(item)) for each in _categories(domain))
        parts = [_is(each, values[:2]) for each, values in known if values][:1]
    return " and ".join(parts) or "people often bring it up"


def story_in(reason: str) -> str:
    """What happens in an item, if a reason says nothing else; otherwise empty."""
    return reason.removeprefix(_STORY) if reason.startswith(_STORY) else ""


def introduction(item: Item, domain: Domain) -> str:
    """An introduction of an item from the catalogue, in full sentences."""
    dated = item.year is not None and domain.of_kind("era")
    sentences = [f"{item.name} came out in {item.year}." if dated else f"Gladly: {item.name}."]
    sentences += [
        f"{_joined(names[:2])} {each.did} it." for each, names in _first_makers(item, domain)
    ]
    for cast in domain.of_kind("cast"):
        if names := cast.of(item):
            sentences.append(f"{_joined(names[:3])} {'star' if len(names) > 1 else 'stars'} in it.")
    for category in _categories(domain):
        if values := category.of(item):
            sentences.append(f"{_upper(_is(category, values[:3]))}.")
    if item.plot:
        sentences.append(f"{_first_sentence(item.plot)}.")
    return " ".join(sentences)


def _people(domain: Domain) -> tuple[DomainAttribute, ...]:
    return domain.of_kind("maker", "cast")


def _categories(domain: Domain) -> tuple[DomainAttribute, ...]:
    """The categories in which people think of such items; a language is not one of them."""
    return tuple(each for each in domain.of_kind("category") if each.name != "language")


def _first_makers(item: Item, domain: Domain) -> list[tuple[DomainAttribute, tuple[str, ...]]]:
    """The domain's first maker attribute, with the item's values if it has any."""
    makers = domain.of_kind("maker")[:1]
    return [(each, _once(each.of(item))) for each in makers if each.of(item)]


def _once(names: Sequence[str]) -> tuple[str, ...]:
    """The names without other spellings of the same one ("J.D. Salinger", "J. D. Salinger")."""
    letters = {"".join(filter(str.isalnum, name.casefold())): name for name in reversed(names)}
    return tuple(reversed(letters.values()))


def _is(category: DomainAttribute, values: Sequence[str]) -> str:
    """A clause that says that "it" has values of a category."""
    if category.name == "genre":
        return f"it counts as {_joined(values)}"
    if category.by:
        return f"it is {category.by} {_joined(values)}"
    word = category.word if len(values) == 1 else category.words
    return f"its {word} {'is' if len(values) == 1 else 'are'} {_joined(values)}"


def _first_sentence(plot: str) -> str:
    text = " ".join(plot.split())
    end = text.find(". ")
    sentence = text[:end] if end > 0 else text.rstrip(".")
    if len(sentence) <= _QUOTED:
        return sentence
    return sentence[:_QUOTED].rsplit(" ", 1)[0] + " …"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
