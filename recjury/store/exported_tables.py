"""What an export holds: one table for each kind of thing, its columns, and its rows."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import orjson

from recjury.records import Factor, Rating, Turn
from recjury.store.calls import params_json
from recjury.store.file_formats import Cell, Field, Kind
from recjury.store.outcomes import RECALL_AT, TrialOutcome
from recjury.store.store import Store
from recjury.store.texts import string_list

Row = Sequence[Cell]


class ExportedTable(NamedTuple):
    """A table: `rows` gives those of a campaign, or of the whole store for None."""

    name: str
    fields: tuple[Field, ...]
    rows: Callable[[Store, str | None], Iterator[Row]]


def column_name(factor: Factor) -> str:
    """The column of a factor's score ("grammatical_correctness")."""
    return factor.value.lower().replace(" ", "_")


def _fields(kind: Kind, names: str) -> tuple[Field, ...]:
    return tuple(Field(name, kind) for name in names.split())


_TRIAL = _fields("text", "trial system scenario")


def _trial_rows(store: Store, campaign: str | None) -> Iterator[Row]:
    for outcome in store.outcomes(campaign):
        verdict = outcome.verdict
        row: list[Cell] = [*_trial(outcome), outcome.corpus, outcome.repeat]
        row += [string_list(sorted(outcome.stages)), _json(dict(outcome.failures))]
        row += [outcome.ending, outcome.target_seen, outcome.rounds, outcome.hit_round]
        row += [outcome.leaks_caught, outcome.leaks_through]
        row += [outcome.recall.get(k) for k in RECALL_AT]
        row += [outcome.last_turn_recall.get(k) for k in RECALL_AT]
        for factor in (*Factor, "Persuasiveness"):
            row += [outcome.score(factor), outcome.status(factor)]
        if verdict is None:
            row += [None] * 5
        else:
            row += [verdict.score, verdict.status, verdict.rounds, verdict.spoke, verdict.agreed]
        yield row


def _trial_fields() -> tuple[Field, ...]:
    recalls = [Field(f"{prefix}{k}", "number") for prefix in _RECALLS for k in RECALL_AT]
    scores: list[Field] = []
    for name in (*map(column_name, Factor), "persuasiveness"):
        scores += [Field(name, "number"), Field(f"{name}_status", "text")]
    return (
        *_TRIAL,
        Field("corpus", "text"),
        Field("repeat", "integer"),
        *_fields("text", "stages failures ending"),
        Field("target_seen", "truth"),
        *_fields("integer", "rounds hit_round leaks_caught leaks_through"),
        *recalls,
        *scores,
        Field("overall", "number"),
        Field("overall_status", "text"),
        *_fields("integer", "debate_rounds spoke"),
        Field("agreed", "truth"),
    )


_RECALLS = ("recall_", "last_turn_recall_")


def _turn_rows(store: Store, campaign: str | None) -> Iterator[Row]:
    for outcome in store.outcomes(campaign):
        log, said = store.log(outcome.trial), "interaction"
        if log is None and "converse" in outcome.failures:
            # A phase of its own: whoever counts interactions must not count what failed.
            unfinished, said = store.unfinished(outcome.trial), "unfinished"
            log = None if unfinished is None else unfinished.log
        if log is not None:
            for phase, turns in (("history", log.scenario.history), (said, log.interaction)):
                for position, turn in enumerate(turns):
                    yield (*_trial(outcome), phase, position, *_turn(turn))


def _turn(turn: Turn) -> Row:
    items = _json([item.model_dump() for item in turn.items])
    return (turn.speaker, turn.text, items, turn.failure, string_list(turn.calls))


def _rating_rows(store: Store, campaign: str | None) -> Iterator[Row]:
    for outcome in store.outcomes(campaign):
        for rating in outcome.ratings:
            yield (*_trial(outcome), *_rating(rating))


def _rating(rating: Rating) -> Row:
    numbers = (rating.turn, rating.score, rating.low, rating.high)
    texts = (rating.status, rating.reason, rating.rationale, rating.rubric)
    named = (rating.evaluator, rating.factor, rating.level)
    return (*named, *numbers, *texts, string_list(rating.calls))


def _statement_rows(store: Store, campaign: str | None) -> Iterator[Row]:
    for outcome in store.outcomes(campaign):
        debate = store.debate(outcome.trial)
        if debate is not None:
            for said in debate.transcript.statements:
                place = (said.round, said.role, said.speaker, said.text)
                score = (said.score, said.status, said.reason, string_list(said.calls))
                yield (*_trial(outcome), *place, *score)


def _call_rows(store: Store, campaign: str | None) -> Iterator[Row]:
    for call in store.calls(campaign):
        request, reply, usage = call.request, call.reply, call.reply.usage
        # A model may send half a surrogate pair, which no file format takes.
        text, *more = (
            each.text.encode("utf-8", "backslashreplace").decode() for each in reply.each()
        )
        asked = (request.model, request.purpose, request.sample, params_json(request))
        said = (reply.model, reply.finish_reason, text)
        tokens = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
        spent = (usage.cost, reply.latency, reply.attempts, call.started_at)
        yield (call.identity, call.trial, *asked, *said, *tokens, *spent, string_list(more))


def _trial(outcome: TrialOutcome) -> Row:
    return (outcome.trial, outcome.system, outcome.scenario)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


TABLES = (
    ExportedTable("trials", _trial_fields(), _trial_rows),
    ExportedTable(
        "turns",
        (
            *_TRIAL,
            Field("phase", "text"),
            Field("position", "integer"),
            *_fields("text", "speaker text items failure calls"),
        ),
        _turn_rows,
    ),
    ExportedTable(
        "ratings",
        (
            *_TRIAL,
            *_fields("text", "evaluator factor level"),
            Field("turn", "integer"),
            *_fields("number", "score low high"),
            *_fields("text", "status reason rationale rubric calls"),
        ),
        _rating_rows,
    ),
    ExportedTable(
        "statements",
        (
            *_TRIAL,
            Field("round", "integer"),
            *_fields("text", "role speaker text"),
            Field("score", "number"),
            *_fields("text", "status reason calls"),
        ),
        _statement_rows,
    ),
    ExportedTable(
        "calls",
        (
            *_fields("text", "call trial model purpose"),
            Field("sample", "integer"),
            *_fields("text", "params reply_model finish_reason reply"),
            *_fields("integer", "prompt_tokens completion_tokens cached_tokens"),
            *_fields("number", "cost latency"),
            Field("attempts", "integer"),
            Field("started_at", "number"),
            Field("further_replies", "text"),
        ),
        _call_rows,
    ),
)
