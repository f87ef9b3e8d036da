"""Persuasiveness without a model: how similar the recommended items are to the target.

CoRE (section 6.4, after Wang et al. 2023a) asks for 0 (worse than the target), 1 (comparable)
or 2 (better, or the target itself). The rule cannot recognise "better", so it gives 2 only for the
target. docs/simulator.md gives the formula.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from recjury.knowledge import Catalogue
from recjury.records import (
    PERSUASIVENESS,
    PERSUASIVENESS_SCALE,
    ConversationLog,
    Item,
    Rating,
    Status,
    Turn,
)
from recjury.simulator.agenda import spoken_genres

RULE_RUBRIC = "rule-persuasiveness/1"
COMPARABLE = 0.5

_GENRES, _PEOPLE, _ERA = 0.6, 0.3, 0.1


def rule_persuasiveness(log: ConversationLog, catalogue: Catalogue) -> Rating:
    """The rule's rating; unscored if there is no target, no answer or no attribute to compare."""
    targets = _known((target.id for target in log.scenario.targets), catalogue)
    answers = [turn for turn in log.system_turns if turn.failure is None]
    if not log.scenario.targets:
        return _unscored(Status.NOT_APPLICABLE, "there is no target to compare with")
    if not answers:
        return _unscored(Status.NOT_APPLICABLE, "the system gave no usable answer")
    offered = _known((id_ for turn in answers for id_ in _offered(turn, catalogue)), catalogue)
    if not offered:
        return _scored(0, "nothing that the catalogue knows was recommended")
    wanted = {target.id for target in log.scenario.targets}
    if any(item.id in wanted for item in offered):
        return _scored(2, "the target itself was recommended")
    pairs = [(attribute_likeness(item, target), item) for item, target in product(offered, targets)]
    measured = [(value, item) for value, item in pairs if value is not None]
    if not measured:
        return _unscored(Status.NOT_MEASURED, "no attributes to compare what was recommended by")
    value, nearest = max(measured, key=lambda pair: pair[0])
    reason = f"the nearest recommendation, {nearest.name}, is like the target to {value:.2f}"
    return _scored(int(value >= COMPARABLE), reason)


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


def _scored(score: int, rationale: str) -> Rating:
    low, high = PERSUASIVENESS_SCALE
    return Rating(
        evaluator="rule",
        factor=PERSUASIVENESS,
        score=score,
        rationale=rationale,
        low=low,
        high=high,
        rubric=RULE_RUBRIC,
    )


def _unscored(status: Status, reason: str) -> Rating:
    low, high = PERSUASIVENESS_SCALE
    return Rating(
        evaluator="rule",
        factor=PERSUASIVENESS,
        score=None,
        status=status,
        reason=reason,
        low=low,
        high=high,
        rubric=RULE_RUBRIC,
    )
