"""Statements and ratings recomputed from the stored prompts and raw replies of models."""

from collections.abc import Sequence

from recjury.debate.discrepancy import Discrepancy, compare, compare_text
from recjury.debate.role_answer import RoleAnswer, parse_answer
from recjury.debate.roles import DebatePrompts
from recjury.errors import ParseError
from recjury.llm import Attempt, parse_rating
from recjury.prompts import turns_block
from recjury.records import (
    CallRecord,
    ConversationLog,
    Message,
    Rating,
    Statement,
    Status,
)

_JUDGES = ("core-judges/", "core-paper-judges/")


def recheck_answer(statement: Statement, calls: Sequence[CallRecord]) -> tuple[Discrepancy, ...]:
    """Compare the statement of a model with its raw replies, parsed again."""
    where = f"{statement.role} in round {statement.round}"
    if not calls:
        lost = statement.status in (Status.CALL_FAILED, Status.REFUSED)
        found = () if lost else compare("statement", where, Status.REFUSED, statement.status)
        return found + compare("score", where, None, statement.score)
    text, score, reason = calls[-1].reply.text, None, ""
    try:
        text, score, _repaired = _answer_in(calls[-1])
    except ParseError as problem:
        reason = str(problem)
    found = compare_text("statement", where, text, statement.text)
    found += compare("score", where, score, statement.score)
    if reason and statement.status is Status.UNREADABLE:
        found += compare_text("statement", f"{where}, reason", reason, statement.reason)
    return found


def recheck_prompts(
    statement: Statement,
    calls: Sequence[CallRecord],
    prompts: DebatePrompts,
    log: ConversationLog,
    ratings: Sequence[Rating],
    said: Sequence[Statement],
) -> tuple[Discrepancy, ...]:
    """Compare the prompts of a model's statement, rendered again, with those that were sent."""
    where = f"{statement.role} in round {statement.round}"
    first = (
        prompts.system(statement.role),
        prompts.turn(statement.role, statement.round, log, ratings, said),
    )
    attempt = Attempt()
    found: tuple[Discrepancy, ...] = ()
    for number, call in enumerate(calls, start=1):
        asked = attempt.noted(first)
        found += _same_messages(f"{where}, call {number}", asked, call.request.messages)
        attempt = attempt.after(call.reply, _problem(call))
    return found


def _same_messages(
    where: str, expected: Sequence[Message], found: Sequence[Message]
) -> tuple[Discrepancy, ...]:
    roles = compare("prompt", where, [m.role for m in expected], [m.role for m in found])
    if roles:
        return roles
    return tuple(
        difference
        for ours, theirs in zip(expected, found, strict=True)
        for difference in compare_text("prompt", f"{where}, {ours.role}", ours.text, theirs.text)
    )


def _problem(call: CallRecord) -> str:
    """Why a reply could not be used, as the model is told; empty if it could."""
    try:
        _answer_in(call)
    except ParseError as problem:
        return problem.problem
    return ""


def _answer_in(call: CallRecord) -> RoleAnswer:
    """A role's answer in a raw reply. Raises ParseError."""
    return parse_answer(call.reply, call.request.messages)


def recheck_rating(
    rating: Rating, calls: Sequence[CallRecord], log: ConversationLog
) -> tuple[Discrepancy, ...]:
    """Compare a factor judge's rating with its raw replies, parsed again, and with the log.

    Ratings without calls, and ratings of other evaluators, are not checked.
    """
    if not rating.rubric.startswith(_JUDGES) or not calls:
        return ()
    where = f"{rating.factor} by {rating.evaluator}"
    score, rationale = _rated(rating, calls[-1])
    found = compare("rating", where, score, rating.score)
    found += compare_text("rating", f"{where}, reasons", rationale, rating.rationale)
    shown = turns_block("interaction", log.interaction)
    for number, call in enumerate(calls, start=1):
        asked = "".join(message.text for message in call.request.messages)
        if shown not in asked:
            found += compare("prompt", f"{where}, call {number}", shown, "another conversation")
    return found


def _rated(rating: Rating, call: CallRecord) -> tuple[float | None, str]:
    assert rating.high is not None  # factors have a scale
    low, high = int(rating.low), int(rating.high)
    try:
        found = parse_rating(call.reply, low, high, call.request.messages)
    except ParseError:
        return None, ""
    return found.score, found.rationale
