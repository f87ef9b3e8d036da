"""How the scores of an evaluation came about: ratings, what they rest on, and the calls behind."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.records import (
    JSON,
    CallRecord,
    ConversationLog,
    Debate,
    Evidence,
    Rating,
)
from recjury.store import Store, StoredEvaluation


class ExplainedRating(NamedTuple):
    """A rating, the stage it is from, and the evidence for it, in the order of the log."""

    stage: str
    rating: Rating
    evidence: tuple[Evidence, ...]


class Explanation(NamedTuple):
    """An evaluation with its ratings; `label` is its evaluator's, `debate` that of `core`.

    `failures` has the reason of each stage that failed and was not finished later.
    """

    stored: StoredEvaluation
    label: str
    log: ConversationLog
    ratings: tuple[ExplainedRating, ...]
    debate: Debate | None
    failures: dict[str, str]

    def calls(self) -> tuple[str, ...]:
        """The identities of the calls behind the ratings and the debate, in order."""
        said = () if self.debate is None else self.debate.transcript.statements
        given = (call for each in self.ratings for call in each.rating.calls)
        spoken = (call for statement in said for call in statement.calls)
        return tuple(dict.fromkeys((*given, *spoken)))

    def as_json(self) -> dict[str, JSON]:
        """All of it but the log, which `recjury replay ID --json` has."""
        return {
            "evaluation": self.stored.id,
            "evaluator": self.label,
            "kind": self.stored.kind,
            "judging": self.stored.judging,
            "attempt": self.stored.attempt,
            "conversations": list(self.stored.conversations),
            "ratings": [
                {
                    "stage": each.stage,
                    **each.rating.model_dump(mode="json"),
                    "evidence": [
                        {**evidence.model_dump(mode="json"), "text": quoted(evidence, self.log)}
                        for evidence in each.evidence
                    ],
                }
                for each in self.ratings
            ],
            "verdict": None if self.debate is None else self.debate.verdict.model_dump(mode="json"),
            "failures": dict(self.failures),
            "calls": list(self.calls()),
        }


def explain(store: Store, prefix: str) -> tuple[Explanation, ...]:
    """The evaluation whose id begins with `prefix`, or all of the conversation whose id does.

    Raises StoreError if there is neither, or if a row was altered.
    """
    labels = {each.id: each.label for each in store.evaluators()}
    return tuple(_explanation(store, each, labels) for each in _evaluations(store, prefix))


def _evaluations(store: Store, prefix: str) -> Sequence[StoredEvaluation]:
    try:
        return [store.evaluation(prefix)]
    except StoreError as error:
        no_evaluation = error
    try:
        conversation = store.conversation(prefix).id
    except StoreError:
        raise no_evaluation from None
    (result,) = store.results(conversations=[conversation])
    if not result.evaluations:
        raise StoreError(f"conversation {conversation} has not been evaluated")
    return [store.evaluation(each.evaluation) for each in result.evaluations]


def _explanation(store: Store, stored: StoredEvaluation, labels: dict[str, str]) -> Explanation:
    log = store.log(stored.conversations[0]) if stored.conversations else None
    if log is None:
        raise StoreError(f"the log of evaluation {stored.id} is not in the store")
    results = store.stage_results(stored.id)
    failures = {each.stage: each.reason for each in store.failures(stored.id)}
    return Explanation(
        stored=stored,
        label=labels.get(stored.evaluator, stored.kind),
        log=log,
        ratings=tuple(
            ExplainedRating(stage, rating, tuple(evidence_for(rating, result.evidence)))
            for stage, result in results.items()
            for rating in result.ratings
        ),
        debate=next((each.debate for each in results.values() if each.debate is not None), None),
        failures={stage: why for stage, why in failures.items() if stage not in results},
    )


def evidence_for(rating: Rating, evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """The evidence for a rating: of its factor, and of its turn if it is about one."""
    return (
        each
        for each in evidence
        if each.factor == rating.factor and rating.turn in (None, each.turn)
    )


def quoted(evidence: Evidence, log: ConversationLog) -> str:
    """The part of the log that evidence means; empty if it is about the whole log."""
    if evidence.turn is None or evidence.turn >= len(log.interaction):
        return ""
    text = log.interaction[evidence.turn].text
    return text if evidence.span is None else text[slice(*evidence.span)]


def evidence_line(evidence: Evidence, log: ConversationLog) -> str:
    """Evidence in a line: its turn, what was found there, the words, and what the note adds."""
    text = quoted(evidence, log)
    where = "" if evidence.turn is None else f"turn {evidence.turn + 1}, "
    adds = evidence.note.replace(evidence.label, "").replace(text, "").strip(" '\"")
    note = f": {evidence.note}" if adds else ""
    return f"{where}{evidence.label}{text and f' {text!r}'}{note}"


def prompts_and_replies(store: Store, explanation: Explanation) -> Iterator[CallRecord]:
    """The calls behind an explanation. Raises StoreError for one that was altered."""
    return map(store.call, explanation.calls())
