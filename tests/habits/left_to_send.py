"""How many requests a run may send after another one, if nothing usable is paid for twice."""

from collections import Counter
from collections.abc import Iterator

from recjury.records import Factor, Role
from tests.habits.campaign import Trial, Trials

PERSUASIVENESS = "outcome Persuasiveness"


def left_to_send(first: Trials, healthy: Trials) -> dict[str, int]:
    """By kind, the most requests for what the `first` run left to do, in all its trials."""
    allowed: Counter[str] = Counter()
    for name, trial in first.items():
        allowed += Counter(_left(trial, healthy[name]))
    return dict(allowed)


def _left(trial: Trial, healthy: Trial) -> Iterator[str]:
    """The kind of each request that a trial still needs."""
    assert healthy.log is not None
    if trial.log is None:
        turns = Counter(str(turn.speaker) for turn in healthy.log.interaction)
        turns -= Counter(str(turn.speaker) for turn in trial.said)
        yield from turns.elements()
    if _is_new(PERSUASIVENESS, trial, healthy):
        yield "persuasiveness"
    judged = [factor for factor in Factor if _is_new(f"core {factor}", trial, healthy)]
    yield from ["judge"] * len(judged)
    if judged or not trial.has_verdict:
        yield from ["debate"] * len(_asked_again(trial, healthy))


def _is_new(rating: str, trial: Trial, healthy: Trial) -> bool:
    """Whether a rating will have a score that it has not."""
    given, meant = trial.ratings.get(rating), healthy.ratings.get(rating)
    return meant is not None and meant.score is not None and (given is None or given.score is None)


def _asked_again(trial: Trial, healthy: Trial) -> set[str]:
    """The statements whose prompts change, or which the trial lacks.

    A prompt has the ratings of the role's own factors, and all statements of earlier rounds.
    """
    changed = {
        role
        for role in Role
        if any(_is_new(f"core {factor}", trial, healthy) for factor in role.factors)
    }
    asked: set[str] = set()
    rounds = sorted({statement.round for statement in healthy.statements.values()})
    differs = False
    for number in rounds:
        before = differs
        for name, meant in healthy.statements.items():
            if meant.round != number:
                continue
            given = trial.statements.get(name)
            lost = given is None or given.score is None
            if lost or before or meant.role in changed:
                asked.add(name)
                differs |= lost or given is None or given.text != meant.text
    return asked
