"""Example conversations, cut to what fits a page: turns, lists with hits, ratings, the debate."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.records import (
    ConversationLog,
    DebateTranscript,
    ItemRef,
    Rating,
    Speaker,
    Statement,
    Turn,
    Verdict,
    is_target,
)
from recjury.report.excerpt import Excerpt, excerpt, one_line
from recjury.report.headline import headline
from recjury.report.players import speaker
from recjury.report.ranking import Choice
from recjury.store import Store

_UTTERANCE, _RATIONALE, _STATEMENT, _NAME = 1500, 900, 1500, 80
_HISTORY, _TURNS, _ROUNDS, _TARGETS = 6, 30, 8, 12


class ShownItem(NamedTuple):
    """An entry of a recommendation list."""

    name: str
    is_hit: bool


class ShownTurn(NamedTuple):
    """A turn; `more` counts the list's items that are not shown."""

    is_system: bool
    text: Excerpt
    failure: str
    items: tuple[ShownItem, ...]
    more: int


class ShownRating(NamedTuple):
    """A factor's score as text ("3 / 4"), or why there is none."""

    factor: str
    score: str | None
    status: str
    by: str
    why: Excerpt


class ShownStatement(NamedTuple):
    """What a role said in a round."""

    role: str
    speaker: str
    score: str | None
    status: str
    text: Excerpt


class Example(NamedTuple):
    """One conversation. `skipped_*` count what lies before or after the part that is shown.

    `failure` says why it failed; it is empty for one that came to its end.
    """

    trial: str
    stands_for: str
    failure: str
    scenario: str
    ending: str
    hit_round: int | None
    leaks_caught: int
    leaks_through: int
    targets: tuple[str, ...]
    more_targets: int
    wishes: tuple[str, ...]
    target_seen: bool
    skipped_history: int
    history: tuple[ShownTurn, ...]
    interaction: tuple[ShownTurn, ...]
    skipped_turns: int
    ratings: tuple[ShownRating, ...]
    verdict: Verdict | None
    rounds: tuple[tuple[ShownStatement, ...], ...]
    skipped_rounds: int


def load_example(store: Store, choice: Choice, models: Mapping[str, str]) -> Example | None:
    """The trial that was chosen, or None if its log has gone since."""
    log, debate = store.log(choice.trial), store.debate(choice.trial)
    if log is None:
        return None
    return _without_scores(choice, log)._replace(
        ratings=tuple(_rating(r, models) for r in headline(store.ratings(choice.trial)).values()),
        verdict=debate.verdict if debate else None,
        rounds=_rounds(debate.transcript, models) if debate else (),
        skipped_rounds=max(0, debate.transcript.rounds - _ROUNDS) if debate else 0,
    )


def load_unfinished(store: Store, trial: str) -> Example | None:
    """What was said until a trial's conversation failed; None if nothing was kept of it."""
    unfinished = store.unfinished(trial)
    if unfinished is None:
        return None
    choice = Choice(trial, f"failed {unfinished.place}")
    failure = one_line(unfinished.reason, _RATIONALE)
    return _without_scores(choice, unfinished.log)._replace(failure=failure)


def _without_scores(choice: Choice, log: ConversationLog) -> Example:
    scenario = log.scenario
    return Example(
        trial=choice.trial,
        stands_for=choice.stands_for,
        failure="",
        scenario=one_line(scenario.id, _NAME),
        ending=log.ending.value.replace("_", " "),
        hit_round=log.hit_round,
        leaks_caught=log.leaks_caught,
        leaks_through=log.leaks_through,
        targets=tuple(one_line(target.name, _NAME) for target in scenario.targets[:_TARGETS]),
        more_targets=max(0, len(scenario.targets) - _TARGETS),
        wishes=tuple(one_line(wish, _NAME) for wish in scenario.wishes[:_TARGETS]),
        target_seen=scenario.target_seen,
        skipped_history=max(0, len(scenario.history) - _HISTORY),
        history=tuple(_turn(turn, log) for turn in scenario.history[-_HISTORY:]),
        interaction=tuple(_turn(turn, log) for turn in log.interaction[:_TURNS]),
        skipped_turns=max(0, len(log.interaction) - _TURNS),
        ratings=(),
        verdict=None,
        rounds=(),
        skipped_rounds=0,
    )


def _turn(turn: Turn, log: ConversationLog) -> ShownTurn:
    shown = turn.items[: log.list_length]
    return ShownTurn(
        is_system=turn.speaker is Speaker.SYSTEM,
        text=excerpt(turn.text, _UTTERANCE),
        failure=one_line(turn.failure or "", _RATIONALE),
        items=tuple(_item(item, log.scenario.targets) for item in shown),
        more=len(turn.items) - len(shown),
    )


def _item(item: ItemRef, targets: tuple[ItemRef, ...]) -> ShownItem:
    return ShownItem(one_line(item.name, _NAME), is_target(item, targets))


def _rating(rating: Rating, models: Mapping[str, str]) -> ShownRating:
    return ShownRating(
        factor=one_line(rating.factor, _NAME),
        score=None if rating.score is None else f"{rating.score:g} / {rating.high:g}",
        status=rating.status.value.replace("_", " "),
        by=speaker(rating.evaluator, models),
        why=excerpt(rating.rationale or rating.reason, _RATIONALE),
    )


def _rounds(
    transcript: DebateTranscript, models: Mapping[str, str]
) -> tuple[tuple[ShownStatement, ...], ...]:
    shown = range(1, min(transcript.rounds, _ROUNDS) + 1)
    return tuple(
        tuple(_statement(said, models) for said in transcript.of_round(number)) for number in shown
    )


def _statement(said: Statement, models: Mapping[str, str]) -> ShownStatement:
    return ShownStatement(
        role=said.role.value,
        speaker=speaker(said.speaker, models),
        score=None if said.score is None else f"{said.score:g}",
        status=said.status.value.replace("_", " "),
        text=excerpt(said.text or said.reason, _STATEMENT),
    )
