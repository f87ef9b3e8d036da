"""Persuasiveness without a model: how similar the recommended items are to the target.

CoRE (section 6.4, after Wang et al. 2023a) asks for 0 (worse than the target), 1 (comparable)
or 2 (better, or the target itself). The rule cannot recognise "better", so it gives 2 only for the
target. A user with wishes compares with them; a condition (section 8.4) moves what counts as
comparable. docs/simulator.md gives the formulas.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from recjury.knowledge import Catalogue
from recjury.records import (
    Condition,
    ConversationLog,
    Item,
    Person,
    Rating,
    Status,
    Turn,
    persuasiveness_subject,
)
from recjury.simulator.wants import spoken_genres

RULE_RUBRIC = "rule-persuasiveness/1"
PERSON_RUBRIC = "rule-persuasiveness/1 of a person"
COMPARABLE = 0.5

_SUBJECT = persuasiveness_subject("rule", RULE_RUBRIC)
_scored, _unscored = _SUBJECT.scored, _SUBJECT.unscored
_GENRES, _PEOPLE, _ERA = 0.6, 0.3, 0.1
_PRIMED = 0.2  # how much nearer an item seems that has the primed value


def rule_persuasiveness(log: ConversationLog, catalogue: Catalogue) -> Rating:
    """The rule's rating; unscored if there is no target, no answer or no attribute to compare."""
    rating = _rating(log, catalogue)
    return rating if log.person is None else rating.model_copy(update={"rubric": PERSON_RUBRIC})


def _rating(log: ConversationLog, catalogue: Catalogue) -> Rating:
    answers = [turn for turn in log.system_turns if turn.failure is None]
    if not log.scenario.targets:
        return _unscored(Status.NOT_APPLICABLE, "there is no target to compare with")
    if not answers:
        return _unscored(Status.NOT_APPLICABLE, "the system gave no usable answer")
    offered = _known((id_ for turn in answers for id_ in _offered(turn, catalogue)), catalogue)
    if not offered:
        return _scored(0, "nothing that the catalogue knows was recommended")
    if log.person is not None and log.person.knows == "wishes":
        return _by_wishes(log.person, offered, catalogue)
    wanted = {target.id for target in log.scenario.targets}
    if any(item.id in wanted for item in offered):
        return _scored(2, "the target itself was recommended")
    targets = _known((target.id for target in log.scenario.targets), catalogue)
    condition = None if log.person is None else log.person.condition
    return _by_likeness(offered, targets, condition, catalogue)


def _by_wishes(person: Person, offered: Sequence[Item], catalogue: Catalogue) -> Rating:
    if not person.wishes:
        return _unscored(Status.NOT_MEASURED, "the user has no wishes to compare with")
    index = catalogue.attributes
    met = [(sum(item.id in index.items_with(w) for w in person.wishes), item) for item in offered]
    most, nearest = max(met, key=lambda pair: pair[0])
    score = 2 if most == len(person.wishes) else int(2 * most >= len(person.wishes))
    wishes = f"{most} of {len(person.wishes)} wishes"
    return _scored(score, f"the nearest recommendation, {nearest.name}, has {wishes}")


def _by_likeness(
    offered: Sequence[Item],
    targets: Sequence[Item],
    condition: Condition | None,
    catalogue: Catalogue,
) -> Rating:
    primed = condition.attribute if condition else None
    near = catalogue.attributes.items_with(primed) if primed else ()
    pairs = [(attribute_likeness(item, target), item) for item, target in product(offered, targets)]
    measured = [
        (value + _PRIMED * (item.id in near), item) for value, item in pairs if value is not None
    ]
    if not measured:
        return _unscored(Status.NOT_MEASURED, "no attributes to compare what was recommended by")
    value, nearest = max(measured, key=lambda pair: pair[0])
    reason = f"the nearest recommendation, {nearest.name}, is like the target to {value:.2f}"
    other = condition.item if condition else None
    if condition is None or other is None or other.id is None or other.id not in catalogue:
        return _scored(int(value >= COMPARABLE), reason)
    likenesses = (attribute_likeness(catalogue.item(other.id), target) for target in targets)
    standard = max((each for each in likenesses if each is not None), default=None)
    if standard is None:
        return _scored(int(value >= COMPARABLE), reason)
    reason += f", and {other.name} to {standard:.2f}"
    if condition.name == "decoy":  # what beats the decoy seems good
        return _scored(int(value > standard), reason)
    return _scored(int(value >= max(COMPARABLE, standard)), reason)


def attribute_likeness(item: Item, other: Item) -> float | None:
    """The similarity of two items, 0 to 1, by their known attributes; None without genres."""
    parts: list[tuple[float, float]] = []
    genres, others = set(spoken_genres(item)), set(spoken_genres(other))
    if genres and others:
        parts.append((_GENRES, len(genres & others) / len(genres | others)))
    people, other_people = _people(item), _people(other)
    if people and other_people:
        parts.append((_PEOPLE, float(bool(people & other_people))))
    if item.year is not None and other.year is not None:
        parts.append((_ERA, float(item.year // 10 == other.year // 10)))
    if not genres or not others:
        return None
    return sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)


def _offered(turn: Turn, catalogue: Catalogue) -> Sequence[str | None]:
    """The items that a turn recommends: those its text names, or else the first of its list."""
    named = [mention.id for mention in catalogue.link(turn.text)]
    return named or [item.id for item in turn.items[:1]]


def _known(ids: Iterable[str | None], catalogue: Catalogue) -> list[Item]:
    return [
        catalogue.item(id_) for id_ in dict.fromkeys(ids) if id_ is not None and id_ in catalogue
    ]


def _people(item: Item) -> set[str]:
    return {*item.actors, *item.directors, *item.writers}
