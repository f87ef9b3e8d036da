"""The sentences of the retrieval CRS. The choice depends only on the conversation."""

import zlib
from collections.abc import Sequence

from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.reasons import introduction, reasons, story_in
from recjury.agents.retrieval.understanding import Understanding
from recjury.knowledge import FILM
from recjury.records import Domain

# `category`, `person` and `maker` are words for attributes, with their articles.
_QUESTIONS = (
    "What are you in the mood for? {Category}, {person} or {a_item} you enjoyed would help me.",
    "Could you name {a_item} you liked, or {person} you {like}?",
    "Do you want something light or something serious, and is there {maker} you like?",
    "Which {items} have stayed with you? Tell me one, and I will look for its neighbours.",
)
_OPENINGS = (
    "I would try {name}: {reason}.",
    "{name} could be the right one for you: {reason}.",
    "How about {name}? My reason: {reason}.",
    "From what you tell me, {name} comes to mind, for this reason: {reason}.",
)
_AFTER_A_NO = (
    "All right, then something else: {name}. My reason: {reason}.",
    "Fair enough. What about {name} instead? In its favour: {reason}.",
    "Understood, I have dropped those. {name} may suit you better: {reason}.",
)
_SECONDS = (
    "Another choice is {name}: {reason}.",
    "{name} fits, too: {reason}.",
    "You could also look at {name}: {reason}.",
)
# For an item that only its story speaks for.
_STORIES = (
    "Perhaps {name}? {story}.",
    "There is {name}. {story}.",
    "You could try {name}. {story}.",
)
_STORIES_AFTER_A_NO = (
    "All right, then something else: {name}. {story}.",
    "Fair enough. There is {name}. {story}.",
    "Understood, I have dropped those. You could try {name}. {story}.",
)
_CLOSINGS = (
    "Have you {done} it?",
    "Does that go in the right direction?",
    "Shall I tell you more about it, or look for something different?",
    "What do you think?",
)
_CLOSINGS_OF_SEVERAL = (
    "Have you {done} any of them?",
    "Does one of these appeal to you?",
    "Which one shall I tell you more about?",
    "Do these go in the right direction?",
)
_AFTER_TELLING = (
    "Would you {verb} it?",
    "Does that sound like {occasion}?",
    "If it is not for you, tell me what to change.",
)
_REASONS_AGAIN = (
    "What speaks for {name}: {reasons}.",
    "Why {name}? Mainly this: {reasons}.",
)
_REASONS_AT_MOST = 2


def question(domain: Domain, start: str, turn: int) -> str:
    """Ask for a preference. `start` is the first text, `turn` the number of system turns so far."""
    return _worded(_pick(_QUESTIONS, start, turn), domain)


def told(library: Library, wish: Understanding, row: int, said: Sequence[str], turn: int) -> str:
    """Introduce an item that was asked about; if it was introduced before, say why it fits.

    `said` are the texts of the conversation so far.
    """
    domain = library.domain_of(row)
    text = introduction(library.items[row], domain)
    start = said[0] if said else ""
    if any(text in each for each in said):
        why = "; ".join(reasons(library, wish, row)[:_REASONS_AT_MOST])
        text = _pick(_REASONS_AGAIN, start, turn).format(name=library.items[row].name, reasons=why)
    return f"{text} {_worded(_pick(_AFTER_TELLING, start, turn), domain)}"


def recommendation(
    library: Library, wish: Understanding, rows: Sequence[int], start: str, turn: int
) -> str:
    """Recommend the items `rows` by name, each with a reason."""
    openings = _AFTER_A_NO if wish.declined else _OPENINGS
    first_stories = _STORIES_AFTER_A_NO if wish.declined else _STORIES
    sentences = []
    for place, row in enumerate(rows):
        name, why = library.items[row].name, reasons(library, wish, row)[0].rstrip(".")
        story = story_in(why)
        if story:
            form = _pick(first_stories if place == 0 else _STORIES, start, turn + place)
            sentences.append(form.format(name=name, story=story))
        else:
            form = _pick(openings if place == 0 else _SECONDS, start, turn + place)
            sentences.append(form.format(name=name, reason=why))
    closings = _CLOSINGS if len(rows) == 1 else _CLOSINGS_OF_SEVERAL
    closing = _worded(_pick(closings, start, turn), library.domain_of(rows[0]))
    return " ".join((*sentences, closing))


def _worded(form: str, domain: Domain) -> str:
    """`form` with the domain's words for items and attributes."""
    categories, makers = domain.of_kind("category"), domain.of_kind("maker")
    people = (*domain.of_kind("cast"), *makers)
    film = domain.name == FILM
    category = _with_article((categories or domain.attributes)[0].word)
    person = _with_article(people[0].word) if people else category
    return form.format(
        items=domain.items,
        a_item=_with_article(domain.item),
        verb=domain.verb,
        done=domain.done,
        Category=category[:1].upper() + category[1:],
        person=person,
        maker=_with_article(makers[0].word) if makers else person,
        like="would like to see" if film else "like",
        occasion="your evening" if film else "something for you",
    )


def _with_article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


def _pick(forms: Sequence[str], start: str, turn: int) -> str:
    return forms[(zlib.crc32(start.encode()) + turn) % len(forms)]
