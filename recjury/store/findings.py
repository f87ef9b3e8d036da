"""What an evaluator returns, as rows and back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from recjury.records import (
    DEBATE,
    Debate,
    Evidence,
    Finding,
    Rating,
    Statement,
    ratings_of,
    statements_of,
    text_hash,
)

Fields = dict[str, Any]


class FindingRows(NamedTuple):
    """The rows of one evaluation. `number` counts through all; a verdict follows its statements."""

    ratings: list[Fields]
    evidence: list[Fields]
    statements: list[Fields]


def to_rows(evaluation: str, findings: Sequence[Finding]) -> FindingRows:
    """The rows of an evaluation."""
    rows = FindingRows([], [], [])
    for number, part in enumerate(part for finding in findings for part in _spoken(finding)):
        key = {"evaluation": evaluation, "number": number}
        if isinstance(part, Evidence):
            rows.evidence.append(key | {"name": part.name, "value": part.value})
        elif isinstance(part, Statement):
            rows.statements.append(key | _statement_row(part))
        else:
            rows.ratings.append(key | _rating_row(part))
    return rows


def _spoken(finding: Finding) -> tuple[Rating | Evidence | Statement, ...]:
    if isinstance(finding, Debate):
        return (*finding.statements, finding.verdict)
    return (finding,)


def texts_of(findings: Sequence[Finding]) -> dict[str, str]:
    """All texts of findings, by hash."""
    texts = [each.rationale for each in ratings_of(findings)]
    texts += [each.text for each in statements_of(findings)]
    return {text_hash(text): text for text in texts if text}


def from_rows(rows: FindingRows, texts: Mapping[str, str]) -> list[Finding]:
    """The findings of an evaluation, in the order in which they were returned."""
    found: list[Finding] = []
    said: list[Statement] = []
    for _, part in sorted(_parts(rows, texts), key=lambda each: each[0]):
        if isinstance(part, Statement):
            said.append(part)
        elif isinstance(part, Rating) and (said or part.rater == DEBATE):
            found.append(Debate(statements=tuple(said), verdict=part))
            said = []
        else:
            found.append(part)
    return found


def _parts(
    rows: FindingRows, texts: Mapping[str, str]
) -> Iterable[tuple[int, Rating | Evidence | Statement]]:
    for row in rows.ratings:
        fields = {name: row[name] for name in _RATING}
        turn = None if row["turn"] < 0 else row["turn"]
        rationale = texts.get(row["rationale"], "")
        yield row["number"], Rating(turn=turn, rationale=rationale, **fields)
    for row in rows.evidence:
        yield row["number"], Evidence(name=row["name"], value=row["value"])
    for row in rows.statements:
        fields = {name: row[name] for name in _STATEMENT}
        yield row["number"], Statement(text=texts.get(row["text"], ""), **fields)


_RATING = ("metric", "rater", "score", "status", "reason", "calls")
_STATEMENT = ("role", "round", "speaker", "score", "status", "reason", "calls")


def _rating_row(rating: Rating) -> Fields:
    return rating.model_dump(mode="json", include=set(_RATING)) | {
        "turn": -1 if rating.turn is None else rating.turn,
        "rationale": text_hash(rating.rationale) if rating.rationale else None,
    }


def _statement_row(said: Statement) -> Fields:
    text = text_hash(said.text) if said.text else None
    return said.model_dump(mode="json", include=set(_STATEMENT)) | {"text": text}
