"""Conversations as text: which there are, what was said, how it was rated and debated."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from recjury.errors import UserError
from recjury.files import read_text
from recjury.records import (
    DEBATE,
    ConversationLog,
    Debate,
    Rating,
    Statement,
    Status,
    Turn,
    ratings_of,
)
from recjury.results.findings import Findings
from recjury.results.ratings import FAILURES
from recjury.results.selection import ALL, Selection, column_of
from recjury.results.trials import trials
from recjury.store import ConversationRow, Store

_SHORT = 8  # characters of an id that tell conversations apart


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
    if frame.groupby("system")["version"].nunique().max() > 1:
        columns.insert(2, "version")
    short = {key: frame[key].str[:_SHORT] for key in ("id", "version")}
    shown = frame.assign(**short)[columns]
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
        parts.append(
            _ratings(evaluation.name, [each for each in found if isinstance(each, Rating)])
        )
        for debate in (each for each in found if isinstance(each, Debate)):
            parts += [_mean(evaluation.name, ratings_of(found)), debate_text(debate)]
            data |= debate_data(ratings_of(found), debate)
        ratings = [each.model_dump(mode="json") for each in ratings_of(found)]
        data["evaluations"].append(
            {"id": evaluation.id, "name": evaluation.name, "ratings": ratings}
        )
    return Findings(title=row.id, answer="", text="\n\n".join(filter(None, parts)), data=data)


def replay_file(path: Path) -> Findings:
    """The debate of a file in the form of `replay --json` (CoRE, table 28).

    Raises UserError if the file has no `chat_history` of statements.
    """
    try:
        data = json.loads(read_text(path))
        said: list[Statement] = []
        for each in data["chat_history"]:
            role = str(each["evaluator"])
            number = 1 + sum(earlier.role == role for earlier in said)
            about = {"role": role, "round": number, "speaker": path.name}
            said.append(Statement(**about, text=each["statement"], score=float(each["score"])))
        last = [s.score for s in said if s.round == said[-1].round and s.score is not None]
        verdict = Rating(metric="overall", rater=DEBATE, score=fmean(last))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise UserError(
            f"{path}: expected `chat_history`, a list of evaluator, statement and score "
            f"({type(error).__name__}: {error})"
        ) from None
    text = debate_text(Debate(statements=tuple(said), verdict=verdict))
    return Findings(title=str(path), answer="", text=text, data=data)


def debate_text(debate: Debate) -> str:
    """A debate as text: each round, who said what with which score, and the verdict."""
    lines = []
    for number in range(1, debate.rounds + 1):
        lines.append(f"Round {number}")
        lines += [_statement(said) for said in debate.statements if said.round == number]
    verdict = debate.verdict
    outcome = f"{verdict.score:g}" if verdict.score is not None else f"none, {verdict.reason}"
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
    ended = f"ended: {row.ending}" if row.ending else f"{row.state} {row.reason}".strip()
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


def _ratings(evaluator: str, ratings: Iterable[Rating]) -> str:
    return "\n".join(f"{evaluator}.{_rating(rating)}" for rating in ratings)


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


def _rating(rating: Rating) -> str:
    score = f"{rating.score:g}" if rating.score is not None else f"- ({rating.status})"
    turn = f", turn {rating.turn + 1}" if rating.turn is not None else ""
    reason = _indented(rating.rationale or rating.reason)
    return f"{rating.metric}{turn} {score} ({rating.rater}) {reason}".rstrip()


def _statement(said: Statement) -> str:
    if said.status is Status.OK:
        return f"  {said.role} ({said.speaker}) {said.score:g}: {_indented(said.text)}"
    return f"  {said.role} ({said.speaker}) - {said.status}: {said.reason}"


def _indented(text: str) -> str:
    """A text whose further lines stand below its first one."""
    return text.strip().replace("\n", f"\n{'':8}")
