"""Example conversations, cut to fit a page: turns, lists with hits, ratings, debates."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recjury.debate import before_and_after, verdict_name
from recjury.records import (
    ConversationLog,
    Debate,
    DebateTranscript,
    Evidence,
    ItemRef,
    Rating,
    Speaker,
    Statement,
    Turn,
    Verdict,
    is_target,
    shown_ratings,
)
from recjury.report.example_picks import ExamplePick
from recjury.report.excerpt import Excerpt, excerpt, one_line
from recjury.report.findings import CampaignFindings
from recjury.report.participants import speaker
from recjury.results import Measure
from recjury.results.explanation import evidence_for, evidence_line
from recjury.store import DebateSummary, Store

_UTTERANCE, _RATIONALE, _STATEMENT, _NAME = 1500, 900, 1500, 80
_HISTORY, _TURNS, _ROUNDS, _TARGETS, _RATINGS = 6, 30, 8, 12, 80


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
    """A metric's score as text ("3 / 4"), or why there is none."""

    metric: str
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


class ShownDebate(NamedTuple):
    """A debate and its verdict; `forks` are the results of changed copies of it.

    `named` is what the verdict is called, `change` how the debate changed the mean of the roles.
    """

    evaluator: str
    named: str
    verdict: Verdict
    change: str
    rounds: tuple[tuple[ShownStatement, ...], ...]
    skipped_rounds: int
    forks: tuple[str, ...]


class ShownExample(NamedTuple):
    """One conversation. `skipped_*` count what is before or after the part that is shown.

    `failure` says why it failed; it is empty if the conversation is complete.
    """

    conversation: str
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
    person: str
    target_seen: bool
    skipped_history: int
    history: tuple[ShownTurn, ...]
    interaction: tuple[ShownTurn, ...]
    skipped_turns: int
    ratings: tuple[ShownRating, ...]
    skipped_ratings: int
    debates: tuple[ShownDebate, ...]


class ExampleLoader:
    """What the examples are made from: the store, metrics' titles, names, forks."""

    def __init__(
        self, store: Store, campaign: str, found: CampaignFindings, models: Mapping[str, str]
    ) -> None:
        """`models` maps aliases to the names of models."""
        self.store, self.campaign, self.models = store, campaign, models
        self.measures = {each.id: each for each in found.measures}
        self.labels = {each.label for each in found.evaluators}
        self.forks: dict[str, list[DebateSummary]] = {}
        for each in store.debates(campaign, forks=True):
            self.forks.setdefault(each.fork_of or "", []).append(each)

    def evaluations(self, conversation: str) -> Iterator[tuple[str, str]]:
        """The evaluations of a conversation, each after its evaluator's label."""
        of_one = self.store.results(self.campaign, conversations=[conversation], whole=False)
        for result in of_one:
            yield from ((each.label, each.evaluation) for each in result.evaluations)


def load_example(reading: ExampleLoader, choice: ExamplePick) -> ShownExample | None:
    """The conversation that was chosen, or None if the store no longer has its log."""
    log = reading.store.log(choice.conversation)
    if log is None:
        return None
    ratings: list[ShownRating] = []
    debates: list[ShownDebate] = []
    for label, evaluation in reading.evaluations(choice.conversation):
        if label in reading.labels:
            stages = tuple(reading.store.stage_results(evaluation).values())
            given = [rating for stage in stages for rating in stage.ratings]
            evidence = [each for stage in stages for each in stage.evidence]
            ratings += _ratings(reading, label, given, evidence, log)
            held = (stage.debate for stage in stages if stage.debate is not None)
            debates += (_debate(reading, label, evaluation, debate) for debate in held)
    return _without_scores(choice.conversation, choice.stands_for, log)._replace(
        ratings=tuple(ratings[:_RATINGS]),
        skipped_ratings=max(0, len(ratings) - _RATINGS),
        debates=tuple(debates),
    )


def load_unfinished(store: Store, conversation: str) -> ShownExample | None:
    """What was said until a conversation failed; None if the store has nothing of it."""
    unfinished = store.unfinished(conversation)
    if unfinished is None:
        return None
    shown = _without_scores(conversation, f"failed {unfinished.place}", unfinished.log)
    return shown._replace(failure=one_line(unfinished.reason, _RATIONALE))


def _without_scores(conversation: str, stands_for: str, log: ConversationLog) -> ShownExample:
    scenario = log.scenario
    return ShownExample(
        conversation=conversation,
        stands_for=stands_for,
        failure="",
        scenario=one_line(scenario.id, _NAME),
        ending=log.ending.value.replace("_", " "),
        hit_round=log.hit_round,
        leaks_caught=log.leaks_caught,
        leaks_through=log.leaks_through,
        targets=tuple(one_line(target.name, _NAME) for target in scenario.targets[:_TARGETS]),
        more_targets=max(0, len(scenario.targets) - _TARGETS),
        wishes=tuple(one_line(wish, _NAME) for wish in scenario.wishes[:_TARGETS]),
        person=one_line(log.person.described, _RATIONALE) if log.person else "",
        target_seen=scenario.target_seen,
        skipped_history=max(0, len(scenario.history) - _HISTORY),
        history=tuple(_turn(turn, log) for turn in scenario.history[-_HISTORY:]),
        interaction=tuple(_turn(turn, log) for turn in log.interaction[:_TURNS]),
        skipped_turns=max(0, len(log.interaction) - _TURNS),
        ratings=(),
        skipped_ratings=0,
        debates=(),
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


def _ratings(
    reading: ExampleLoader,
    label: str,
    given: Sequence[Rating],
    evidence: Sequence[Evidence],
    log: ConversationLog,
) -> Iterator[ShownRating]:
    by_metric = shown_ratings(given)
    for measure in reading.measures.values():
        if measure.evaluator == label:
            for rating in by_metric.get(measure.metric.id, ()):
                lines = [evidence_line(each, log) for each in evidence_for(rating, evidence)]
                why = "\n".join([rating.rationale or rating.reason, *lines])
                yield _rating(measure, rating, reading.models, why)


def _rating(measure: Measure, rating: Rating, models: Mapping[str, str], why: str) -> ShownRating:
    where = "" if rating.turn is None else f", turn {rating.turn + 1}"
    most = "" if rating.high is None else f" / {rating.high:g}"
    return ShownRating(
        metric=f"{one_line(measure.metric.title, _NAME)}{where}",
        score=None if rating.score is None else f"{rating.score:.4g}{most}",
        status=rating.status.value.replace("_", " "),
        by=one_line(f"{measure.evaluator}: {speaker(rating.evaluator, models)}", _NAME),
        why=excerpt(why, _RATIONALE),
    )


def _debate(reading: ExampleLoader, label: str, evaluation: str, debate: Debate) -> ShownDebate:
    forks = sorted(reading.forks.get(evaluation, ()))
    return ShownDebate(
        evaluator=one_line(label, _NAME),
        named=verdict_name(debate.transcript.protocol),
        verdict=debate.verdict,
        change=before_and_after(debate.transcript),
        rounds=_rounds(debate.transcript, reading.models),
        skipped_rounds=max(0, debate.transcript.rounds - _ROUNDS),
        forks=tuple(
            f"{each.evaluation}: {'no verdict' if each.score is None else f'{each.score:.1f}'}"
            for each in forks
        ),
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
