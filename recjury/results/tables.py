"""The tables of frames and exports: their columns and rows."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import orjson

from recjury.records import Rating, Status, Turn, metric_id
from recjury.results.file_formats import Cell, Field, Kind
from recjury.results.scores import Measure, measures_of, scores_of
from recjury.safe_text import without_keys
from recjury.store import ConversationResult, EvaluationResult, Store
from recjury.store.calls import params_json

Row = Sequence[Cell]


class ExportTable(NamedTuple):
    """A table of a campaign, or of the whole store, and how its rows are made from the results.

    With `in_parts`, the rows can be made from a part of the results. Only if it `needs_whole`
    results, it shows their texts and evidence.
    """

    name: str
    fields: tuple[Field, ...]
    unchecked: Callable[[Iterable[ConversationResult]], Iterator[Row]]
    in_parts: bool = True
    needs_whole: bool = False

    def rows(self, results: Iterable[ConversationResult]) -> Iterator[Row]:
        """The rows without keys, which an older store may have."""
        for row in self.unchecked(results):
            yield tuple(without_keys(cell) if isinstance(cell, str) else cell for cell in row)


def _fields(kind: Kind, names: str) -> tuple[Field, ...]:
    return tuple(Field(name, kind) for name in names.split())


_CONVERSATION = _fields("text", "conversation system scenario")
_EVALUATION = (*_CONVERSATION, *_fields("text", "evaluation evaluator"))


def tables(
    store: Store, campaign: str | None = None, conversations: Sequence[str] | None = None
) -> tuple[ExportTable, ...]:
    """All tables of a campaign, or of the whole store for None; of all or some conversations."""
    ids = None if conversations is None else frozenset(conversations)
    calls = partial(_call_rows, store, campaign, ids)

    def statements(_: object) -> Iterator[Row]:
        return _statement_rows(store, campaign, ids)

    measures = measures_of(store.evaluators(campaign))
    return (
        ExportTable(
            "conversations",
            _conversation_fields(measures),
            lambda results: (_conversation(each, measures) for each in results),
        ),
        ExportTable("evaluations", _EVALUATIONS, _evaluation_rows),
        ExportTable("turns", _TURNS, lambda results: _turn_rows(store, results)),
        ExportTable("ratings", _RATINGS, _rating_rows, needs_whole=True),
        ExportTable("evidence", _EVIDENCE, _evidence_rows, needs_whole=True),
        ExportTable("statements", _STATEMENTS, statements, in_parts=False),
        ExportTable("calls", _CALLS, calls, in_parts=False),
    )


def _conversation_fields(measures: Sequence[Measure]) -> tuple[Field, ...]:
    scores = ((Field(each.id, "number"), Field(f"{each.id}.status", "text")) for each in measures)
    return (
        *_CONVERSATION,
        Field("corpus", "text"),
        Field("repeat", "integer"),
        *_fields("text", "digest failure ending"),
        Field("target_seen", "truth"),
        Field("rounds", "integer"),
        Field("items_linked", "truth"),
        Field("person", "text"),
        *_fields("integer", "acts_dropped acts_differing"),
        *(field for pair in scores for field in pair),
    )


def _conversation(result: ConversationResult, measures: Sequence[Measure]) -> Row:
    scores = scores_of(result)
    row: list[Cell] = [*_named(result), result.corpus, result.repeat]
    row += [result.log, result.failure, result.ending, result.target_seen, result.rounds]
    row += [result.items_linked, result.person or None]
    row += result.acts or (None, None)
    for measure in measures:
        missing = scores.missing.get(measure.id)
        value = scores.value(measure.id)
        row += [value, missing.status if missing else None if value is None else Status.SCORED]
    return row


_EVALUATIONS = (
    *_EVALUATION,
    Field("judging", "integer"),
    *_fields("text", "stages failures"),
)


def _evaluations(
    results: Iterable[ConversationResult],
) -> Iterator[tuple[Row, EvaluationResult]]:
    """All evaluations, each after the cells by which its rows name it."""
    for result in results:
        for each in result.evaluations:
            yield (*_named(result), each.evaluation, each.label, each.judging), each


def _evaluation_rows(results: Iterable[ConversationResult]) -> Iterator[Row]:
    for cells, own in _evaluations(results):
        yield (*cells, _json(sorted(own.stages)), _json(own.failures))


_TURNS = (
    *_CONVERSATION,
    Field("phase", "text"),
    Field("position", "integer"),
    *_fields("text", "speaker text items acts failure calls"),
)


def _turn_rows(store: Store, results: Iterable[ConversationResult]) -> Iterator[Row]:
    for result in results:
        log, said = store.log(result.conversation), "interaction"
        if log is None and result.failure is not None:
            # A separate phase: turns of failed conversations do not count as interaction.
            unfinished, said = store.unfinished(result.conversation), "unfinished"
            log = None if unfinished is None else unfinished.log
        if log is not None:
            for phase, turns in (("history", log.scenario.history), (said, log.interaction)):
                for position, turn in enumerate(turns):
                    yield (*_named(result), phase, position, *_turn(turn))


def _turn(turn: Turn) -> Row:
    items = _json([item.model_dump() for item in turn.items])
    acts = _json([act.model_dump() for act in turn.acts])
    return (turn.speaker, turn.text, items, acts, turn.failure, _json(turn.calls))


_RATINGS = (
    *_EVALUATION,
    Field("judging", "integer"),
    *_fields("text", "metric rater level"),
    Field("turn", "integer"),
    *_fields("number", "score low high"),
    *_fields("text", "status reason rationale rubric calls"),
)


def _rating_rows(results: Iterable[ConversationResult]) -> Iterator[Row]:
    for cells, own in _evaluations(results):
        for rating in own.ratings:
            yield (*cells, f"{own.label}.{metric_id(rating.factor)}", *_rating(rating))


def _rating(rating: Rating) -> Row:
    numbers = (rating.turn, rating.score, rating.low, rating.high)
    texts = (rating.status, rating.reason, rating.rationale, rating.rubric)
    return (rating.evaluator, rating.level, *numbers, *texts, _json(rating.calls))


_EVIDENCE = (
    *_EVALUATION,
    Field("judging", "integer"),
    Field("metric", "text"),
    *_fields("integer", "turn span_start span_end"),
    *_fields("text", "label note"),
)


def _evidence_rows(results: Iterable[ConversationResult]) -> Iterator[Row]:
    for cells, own in _evaluations(results):
        for evidence in own.evidence:
            where = (evidence.turn, evidence.span_start, evidence.span_end)
            metric = f"{own.label}.{metric_id(evidence.factor)}"
            yield (*cells, metric, *where, evidence.label, evidence.note)


_STATEMENTS = (
    *_EVALUATION,
    Field("fork_of", "text"),
    Field("round", "integer"),
    *_fields("text", "role speaker text"),
    Field("score", "number"),
    *_fields("text", "status reason calls"),
)


def _statement_rows(
    store: Store, campaign: str | None, ids: Container[str] | None
) -> Iterator[Row]:
    for each in store.debates(campaign):
        if each.superseded or (ids is not None and each.conversation not in ids):
            continue
        debate = store.debate(each.evaluation)
        for said in debate.transcript.statements if debate else ():
            held = (each.conversation, each.system, each.scenario, each.evaluation)
            place = (each.evaluator, each.fork_of, said.round, said.role, said.speaker, said.text)
            yield (*held, *place, said.score, said.status, said.reason, _json(said.calls))


_CALLS = (
    *_fields("text", "call unit conversation evaluation evaluator model purpose"),
    Field("sample", "integer"),
    *_fields("text", "params reply_model finish_reason reply"),
    *_fields("integer", "prompt_tokens completion_tokens cached_tokens"),
    *_fields("number", "cost latency"),
    Field("attempts", "integer"),
    Field("started_at", "number"),
    Field("further_replies", "text"),
    Field("usage_estimated", "integer"),
    Field("waited", "number"),
)


def _call_rows(
    store: Store,
    campaign: str | None,
    ids: Container[str] | None,
    results: Iterable[ConversationResult],
) -> Iterator[Row]:
    of_unit = dict(_units(results))
    for call in store.calls(campaign):
        if ids is not None and call.unit not in of_unit:
            continue
        request, reply, usage = call.request, call.reply, call.reply.usage
        # A model may send a lone surrogate, which no file format can represent.
        text, *more = (
            each.text.encode("utf-8", "backslashreplace").decode() for each in reply.each()
        )
        asked = (request.model, request.purpose, request.sample, params_json(request))
        said = (reply.model, reply.finish_reason, text)
        tokens = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
        spent = (usage.cost, reply.latency, reply.attempts, call.started_at)
        unit = (call.unit, *of_unit.get(call.unit, (None, None, None)))
        more_said = (_json(more), int(usage.estimated), reply.waited)
        yield (call.identity, *unit, *asked, *said, *tokens, *spent, *more_said)


def _units(results: Iterable[ConversationResult]) -> Iterator[tuple[str | None, Row]]:
    """The conversation, evaluation and evaluator that a call of each unit was made for."""
    for result in results:
        for each in result.evaluations:
            yield each.evaluation, (result.conversation, each.evaluation, each.label)
        yield result.conversation, (result.conversation, None, None)


def _named(result: ConversationResult) -> Row:
    return (result.conversation, result.system, result.scenario)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
