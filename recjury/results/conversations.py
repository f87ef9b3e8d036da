"""Conversations as text: what was said, rated and debated, and how a score came about."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from recjury.errors import UserError
from recjury.files import nearest
from recjury.records import (
    DEBATE,
    ConversationLog,
    Debate,
    Evidence,
    Finding,
    Rating,
    Statement,
    Status,
    Turn,
    agree,
    ratings_of,
    statements_of,
)
from recjury.results.findings import Findings
from recjury.results.ratings import FAILURES
from recjury.results.selection import ALL, Selection, column_of
from recjury.results.trials import trials
from recjury.store import CallRow, ConversationRow, EvaluationRow, Store

_SHORT = 8  # characters of an id that tell conversations apart
_MOST_PROMPTS = 2
_REASON, _EVIDENCE = 80, 300  # characters of a reason in the list, and of evidence


def conversation_list(
    store: Store, campaign: str = "", *, selection: Selection = ALL, sort: str = ""
) -> Findings:
    """The conversations of a campaign, the newest version first, with ids to replay.

    With `sort`, a metric, they have its scores, and the lowest comes first; behind a minus sign,
    the highest. Raises UserError.
    """
    name = store.campaign(campaign)
    frame = pd.DataFrame(store.conversations(name), columns=ConversationRow._fields)
    columns = ["id", "system", "user", "corpus", "scenario", "state", "ending", "rounds"]
    if metric := sort.removeprefix("-"):
        columns.append(metric)
    if selection or sort:
        chosen = selection.of(trials(store, name, all_versions=True)).set_index("id", drop=False)
        frame = frame[frame["id"].isin(chosen.index)]
        if sort:
            own = column_of(chosen, metric, option=f"--sort {metric}")
            frame = frame.assign(**{metric: frame["id"].map(own)})
            frame = frame.sort_values(metric, ascending=metric == sort, kind="stable")
    if frame["reason"].astype(bool).any():
        columns.append("reason")
    if frame.groupby("system")["version"].nunique().max() > 1:
        columns[2:2] = ["version", "ended (UTC)"]
    short = {key: frame[key].str[:_SHORT] for key in ("id", "version")}
    ended = frame["finished_at"].fillna("").str[:16].str.replace("T", " ")
    shown = frame.assign(**short, **{"ended (UTC)": ended})[columns]
    return Findings(
        title=name,
        answer=f"{name}: {len(frame)} conversations. `recjury replay ID` shows one of them.",
        tables={"Conversations": shown},
        data={"campaign": name, "conversations": frame.to_dict("records")},
    )


async def replay(store: Store, conversation: str, campaign: str = "") -> Findings:
    """What was said, the ratings with their reasons, and the debate, round by round.

    `conversation` is an id or how one begins, `campaign` by default the one that planned it last.
    `data` has the paper's form (CoRE, table 28):
    `avg_org_score` is the mean of the factors, `agent_scores` those of the last round,
    `chat_history` all statements. Raises UserError.
    """
    row = store.conversation(conversation, campaign)
    log = dict(store.logs([row.id])).get(row.id)
    parts = [_heading(row), _talk(log) if log else ""]
    data: dict[str, Any] = {**row._asdict(), "evaluations": []}
    for evaluation in store.evaluations(row.campaign, conversation=row.id):
        found = store.findings(evaluation.id)
        lines = [
            f"{_rated(evaluation.name, each)} {_indented(each.rationale or each.reason)}".rstrip()
            for each in found
            if isinstance(each, Rating)
        ]
        parts.append("\n".join(lines))
        for debate in (each for each in found if isinstance(each, Debate)):
            parts += [_mean(evaluation.name, ratings_of(found)), debate_text(debate)]
            data |= debate_data(ratings_of(found), debate)
        ratings = [each.model_dump(mode="json") for each in ratings_of(found)]
        about = {"id": evaluation.id, "name": evaluation.name}
        data["evaluations"].append({**about, "ratings": ratings})
    return Findings(title=row.id, answer="", text="\n\n".join(filter(None, parts)), data=data)


def debate_text(debate: Debate) -> str:
    """A debate as text: each round, who said what with which score, and the verdict."""
    lines = []
    for number in range(1, debate.rounds + 1):
        lines.append(f"Round {number}")
        lines += [_statement(said) for said in debate.statements if said.round == number]
    verdict, last = debate.verdict, [s for s in debate.statements if s.round == debate.rounds]
    ended = "all agreed" if agree(last) else f"no agreement after {debate.rounds} rounds"
    none = f"none, {verdict.reason}"
    outcome = none if verdict.score is None else f"{verdict.score:g}, {ended}"
    return "\n".join((*lines, f"Verdict: {outcome}"))


def debate_data(ratings: Sequence[Rating], debate: Debate) -> dict[str, Any]:
    """A debate in the form of CoRE's table 28, with rounds beside it."""
    last = [said.score for said in debate.statements if said.round == debate.rounds]
    return {
        "avg_org_score": _factor_mean(ratings),
        "agent_scores": last,
        "verdict": debate.verdict.score,
        "chat_history": [
            {"evaluator": s.role, "statement": s.text, "score": s.score, "round": s.round}
            for s in debate.statements
        ],
    }


def _heading(row: ConversationRow) -> str:
    ended = f"ended: {row.ending}" if row.ending else row.state
    ended = f"{ended}, {row.reason}" if row.reason else ended
    where = f"{row.corpus}/{row.scenario}"
    return f"{row.id} of {row.campaign}: {row.system} with {row.user}, {where}, {ended}"


def _talk(log: ConversationLog) -> str:
    targets = ", ".join(target.name for target in log.scenario.targets)
    wanted = [f"Targets: {targets}"] if targets else []
    history = [_turn(turn, "history") for turn in log.scenario.history]
    said = [_turn(turn, str(number)) for number, turn in enumerate(log.interaction, 1)]
    return "\n".join((*wanted, *history, *said))


def _turn(turn: Turn, number: str) -> str:
    text = f"failed: {turn.failure}" if turn.failure else _indented(turn.text)
    line = f"{number:>7} {turn.speaker}: {text}"
    items = ", ".join(item.name for item in turn.items)
    shown = [f"\n{'':8}list: {items}"] if items and turn.speaker == "system" else []
    events = [f"\n{'':8}{event.kind}: {event.value}" for event in turn.events]
    return "".join((line, *shown, *events))


def _mean(evaluator: str, ratings: Sequence[Rating]) -> str:
    """The plain mean of the factors, and on how many of them it rests."""
    mean, scores = _factor_mean(ratings), list(_factors(ratings).values())
    shown = "-" if mean is None else f"{mean:.2f}"
    return f"{evaluator}.mean {shown} ({len(scores) - scores.count(None)} of {len(scores)} factors)"


def _factor_mean(ratings: Sequence[Rating]) -> float | None:
    """The mean of the factors that apply (CoRE, 4.2); None if one of them failed."""
    scores = [score for score in _factors(ratings).values() if score is not None]
    failed = any(r.status in FAILURES for r in ratings if r.rater != DEBATE)
    return None if failed or not scores else fmean(scores)


def _factors(ratings: Sequence[Rating]) -> dict[str, float | None]:
    """Each factor's mean over the judges, or None where one of them has no score."""
    found: dict[str, list[float | None]] = {}
    for rating in ratings:
        if rating.rater != DEBATE:
            found.setdefault(rating.metric, []).append(rating.score)
    return {
        factor: None if None in scores else fmean(score for score in scores if score is not None)
        for factor, scores in found.items()
    }


def _rated(evaluator: str, rating: Rating) -> str:
    """`core.novelty, turn 2: 3 (main)`."""
    score = f"{rating.score:g}" if rating.score is not None else f"- ({rating.status})"
    turn = f", turn {rating.turn + 1}" if rating.turn is not None else ""
    return f"{evaluator}.{rating.metric}{turn}: {score} ({rating.rater})"


def _statement(said: Statement) -> str:
    if said.status is Status.OK:
        return f"  {said.role} ({said.speaker}) {said.score:g}: {_indented(said.text)}"
    return f"  {said.role} ({said.speaker}) - {said.status}: {said.reason}"


def _indented(text: str) -> str:
    """A text whose further lines stand below its first one."""
    return text.strip().replace("\n", f"\n{'':8}")


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


def explain(
    store: Store, conversation: str, wanted: RatingFilter | None = None, campaign: str = ""
) -> Findings:
    """The ratings of a conversation, or those that are wanted down to prompt and reply.

    `conversation` and `campaign` are as in `replay`. Raises UserError if there is no such rating.
    """
    row, wanted = store.conversation(conversation, campaign), wanted or RatingFilter()
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
            is_by = wanted.role.casefold() in ("", said.role.casefold())
            if is_by and wanted.round in (None, said.round):
                name = f"{row.name}: {said.role} in round {said.round}"
                score = said.status if said.score is None else f"{said.score:g}"
                text = f"{name}: {score}\n{said.text or said.reason}"
                yield _Part(name, text, said.calls, said.model_dump(mode="json"))
        return
    for rating in ratings_of(findings):
        if _is_wanted(row, rating, wanted):
            name = f"{row.name}.{rating.metric}"
            data = {"name": name, "judging": row.judging, **rating.model_dump(mode="json")}
            yield _Part(name, _text(row.name, rating, findings), rating.calls, data)


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
        known = ", ".join(sorted(roles)) or "none: it has no debate"
        return f"no such statement; roles are {known}"
    names = [
        f"{row.name}.{r.metric}" for row, findings in found.items() for r in ratings_of(findings)
    ]
    return f"no such rating{nearest(wanted.metric, names)}"


def _line(row: EvaluationRow, rating: Rating) -> tuple[Any, ...]:
    why = " ".join((rating.rationale or rating.reason).split())
    short = f"{why[:_REASON]}..." if len(why) > _REASON else why
    turn = "" if rating.turn is None else str(rating.turn + 1)
    score = str(rating.status) if rating.score is None else f"{rating.score:g}"
    return f"{row.name}.{rating.metric}", rating.rater, turn, score, len(rating.calls), short


def _text(evaluator: str, rating: Rating, findings: Sequence[Finding]) -> str:
    """The rating, its reasons, and what it rests on; of a verdict, the debate."""
    lines = [_rated(evaluator, rating), rating.rationale or rating.reason]
    if rating.rater == DEBATE:
        debates = [each for each in findings if isinstance(each, Debate)]
        lines += [debate_text(each) for each in debates if each.verdict == rating]
        lines.append("Prompts and replies: --role NAME, --round N.")
    evidence = [each for each in findings if isinstance(each, Evidence)]
    subject = f"{rating.metric}.{rating.turn}." if rating.turn is not None else rating.metric
    about = [each for each in evidence if f"{each.name}.".startswith(subject)]
    lines += [f"{each.name}: {each.value!r}"[:_EVIDENCE] for each in about]
    return "\n".join(filter(None, lines))


def _told(part: _Part, calls: Iterable[CallRow]) -> tuple[str, dict[str, Any]]:
    """A part with its prompts and replies; a prompt that is asked again stands there once."""
    replies: dict[str, list[CallRow]] = {}
    for call in calls:
        prompt = "\n\n".join(f"[{message.role}]\n{message.shown}" for message in call.prompt)
        replies.setdefault(prompt, []).append(call)
    texts = [part.text]
    for prompt, answers in list(replies.items())[:_MOST_PROMPTS]:
        own = " (each call had a code of its own where CODE stands)" if "CODE" in prompt else ""
        texts.append(f"Prompt{own}\n{prompt}")
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
