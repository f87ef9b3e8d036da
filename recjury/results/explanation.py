"""How a score came about: its reason, what it rests on, and the prompt and reply behind it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from recjury.errors import UserError
from recjury.files import nearest
from recjury.records import DEBATE, Debate, Evidence, Finding, Rating, ratings_of, statements_of
from recjury.results.conversations import debate_text
from recjury.results.findings import Findings
from recjury.store import CallRow, EvaluationRow, Store

_MOST_PROMPTS = 2
_SHORT = 80  # characters of a reason in the list
_LONG = 300  # characters of evidence


class RatingFilter(NamedTuple):
    """Which ratings are explained; what is empty says nothing. `turn` counts from 1.

    With `role`, the statements of a role in the debate, all of them or those of one `round`.
    """

    metric: str = ""
    rater: str = ""
    role: str = ""
    round: int | None = None
    turn: int | None = None


class _Part(NamedTuple):
    """A rating or a statement: its name, what it says, and the calls behind it."""

    name: str
    text: str
    calls: tuple[str, ...]
    data: dict[str, Any]


def explain(store: Store, conversation: str, wanted: RatingFilter | None = None) -> Findings:
    """The ratings of a conversation, or those that are wanted down to prompt and reply.

    `conversation` is an id or how one begins. Raises UserError if there is no such rating.
    """
    row, wanted = store.conversation(conversation), wanted or RatingFilter()
    evaluations = store.evaluations(row.campaign, conversation=row.id)
    found = {each: store.findings(each.id) for each in evaluations}
    parts = [part for each in found.items() for part in _parts(*each, wanted)]
    title = f"{row.system}, {row.corpus}/{row.scenario}"
    if not parts:
        raise UserError(f"{title}: {_no_such(found, wanted)}")
    if wanted == RatingFilter():
        lines = [_line(each, rating) for each in evaluations for rating in ratings_of(found[each])]
        columns = ["metric", "rater", "turn", "score", "calls", "why"]
        return Findings(
            title=row.id,
            answer=f"{title}. Prompt and reply: recjury explain {row.id[:8]} --metric NAME.",
            tables={"Ratings": pd.DataFrame(lines, columns=columns)},
            data={"conversation": row.id, "parts": [part.data for part in parts]},
        )
    told = [_told(part, store.calls(part.calls)) for part in parts]
    return Findings(
        title=row.id,
        answer=title,
        text="\n\n".join(text for text, _ in told),
        data={"conversation": row.id, "parts": [data for _, data in told]},
    )


def _parts(
    row: EvaluationRow, findings: Sequence[Finding], wanted: RatingFilter
) -> Iterator[_Part]:
    """The statements or the ratings that are wanted."""
    if wanted.role or wanted.round:
        for said in statements_of(findings):
            if wanted.role.casefold() in ("", said.role.casefold()) and wanted.round in (
                None,
                said.round,
            ):
                name = f"{row.name}: {said.role} in round {said.round}"
                score = said.status if said.score is None else f"{said.score:g}"
                text = f"{name}: {score}\n{said.text or said.reason}"
                yield _Part(name, text, said.calls, said.model_dump(mode="json"))
        return
    for rating in ratings_of(findings):
        if _is_wanted(row, rating, wanted):
            name = f"{row.name}.{rating.metric}"
            data = {"name": name, "judging": row.judging, **rating.model_dump(mode="json")}
            yield _Part(name, _text(name, rating, findings), rating.calls, data)


def _is_wanted(row: EvaluationRow, rating: Rating, wanted: RatingFilter) -> bool:
    names = ("", rating.metric, f"{row.name}.{rating.metric}")
    turn = None if rating.turn is None else rating.turn + 1
    is_by = wanted.rater in ("", rating.rater)
    return wanted.metric in names and is_by and wanted.turn in (None, turn)


def _no_such(found: dict[EvaluationRow, list[Finding]], wanted: RatingFilter) -> str:
    if not found:
        return "it has no ratings"
    if wanted.role or wanted.round:
        roles = {said.role for findings in found.values() for said in statements_of(findings)}
        return (
            f"no such statement; roles are {', '.join(sorted(roles)) or 'none: it has no debate'}"
        )
    names = [
        f"{row.name}.{r.metric}" for row, findings in found.items() for r in ratings_of(findings)
    ]
    return f"no such rating{nearest(wanted.metric, names)}"


def _line(row: EvaluationRow, rating: Rating) -> tuple[Any, ...]:
    why = " ".join((rating.rationale or rating.reason).split())
    short = f"{why[:_SHORT]}..." if len(why) > _SHORT else why
    turn = "" if rating.turn is None else str(rating.turn + 1)
    score = str(rating.status) if rating.score is None else f"{rating.score:g}"
    return f"{row.name}.{rating.metric}", rating.rater, turn, score, len(rating.calls), short


def _text(name: str, rating: Rating, findings: Sequence[Finding]) -> str:
    """The rating, its reasons, and what it rests on; of a verdict, the debate."""
    score = f"- ({rating.status})" if rating.score is None else f"{rating.score:g}"
    turn = "" if rating.turn is None else f", turn {rating.turn + 1}"
    lines = [f"{name}{turn}: {score} ({rating.rater})", rating.rationale or rating.reason]
    if rating.rater == DEBATE:
        debates = [each for each in findings if isinstance(each, Debate)]
        lines += [debate_text(each) for each in debates if each.verdict == rating]
        lines.append("Prompts and replies: --role NAME, --round N.")
    evidence = [each for each in findings if isinstance(each, Evidence)]
    subject = f"{rating.metric}.{rating.turn}." if rating.turn is not None else rating.metric
    about = [each for each in evidence if f"{each.name}.".startswith(subject)]
    lines += [f"{each.name}: {each.value!r}"[:_LONG] for each in about]
    return "\n".join(filter(None, lines))


def _told(part: _Part, calls: Iterable[CallRow]) -> tuple[str, dict[str, Any]]:
    """A part with its prompts and replies; a prompt that is asked again stands there once."""
    replies: dict[str, list[CallRow]] = {}
    for call in calls:
        prompt = "\n\n".join(f"[{message.role}]\n{message.shown}" for message in call.prompt)
        replies.setdefault(prompt, []).append(call)
    texts = [part.text]
    for prompt, answers in list(replies.items())[:_MOST_PROMPTS]:
        texts.append(f"Prompt\n{prompt}")
        texts += [
            f"Reply of {call.model} ({call.completion.call[:8]})\n{call.completion.text}"
            for call in answers
        ]
    if len(replies) > _MOST_PROMPTS:
        texts.append(f"{len(replies) - _MOST_PROMPTS} more prompts: --json has all of them.")
    shown = [
        {"prompt": prompt, "model": call.model, "call": call.completion.call}
        | {"reply": call.completion.text}
        for prompt, answers in replies.items()
        for call in answers
    ]
    return "\n\n".join(texts), {**part.data, "calls": shown}
