"""`recjury explain`: how the scores of an evaluation came about."""

from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.records import CallRecord
    from recjury.results.explanation import ExplainedRating, Explanation


def explain(
    named: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="The id of an evaluation or a conversation, or its first digits."
        ),
    ],
    with_calls: Annotated[
        bool, typer.Option("--calls", help="Show the prompts and the replies behind the scores.")
    ] = False,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Trace scores: each rating with its reason, the evidence for it, and the calls behind it.

    \b
    recjury explain 3f2a91             all evaluations of a conversation, or one evaluation
    recjury explain 3f2a91 --calls     with the prompts and replies
    """
    from recjury.results.explanation import explain as explanations
    from recjury.results.explanation import prompts_and_replies
    from recjury.store import Store as OpenStore

    with OpenStore.open(store, read_only=True) as opened:
        found = explanations(opened, named)
        if as_json:
            output.emit_json({"evaluations": [each.as_json() for each in found]})
            return
        for each in found:
            _show(each)
            if with_calls:
                for call in prompts_and_replies(opened, each):
                    _show_call(call)


def _show(explanation: "Explanation") -> None:
    stored, log = explanation.stored, explanation.log
    again = f", attempt {stored.attempt + 1}" if stored.attempt else ""
    _print(
        f"{explanation.label} ({stored.kind}): evaluation {stored.id}, "
        f"judging {stored.judging + 1}{again}"
    )
    _print(f"  of {log.system} in {log.scenario.id}, log {stored.log}")
    for each in explanation.ratings:
        _show_rating(each, explanation)
    if explanation.debate is not None:
        from recjury.debate import verdict_name

        verdict = explanation.debate.verdict
        score = verdict.reason if verdict.score is None else f"{verdict.score:.1f} of 100"
        name = verdict_name(explanation.debate.transcript.protocol)
        _print(f"  {name}: {score} after {verdict.rounds} rounds: see `recjury replay {stored.id}`")
    for stage, reason in explanation.failures.items():
        _print(f"  stage {stage} failed: {reason}")
    _print("")


def _show_rating(each: "ExplainedRating", explanation: "Explanation") -> None:
    from recjury.results.explanation import evidence_line

    rating = each.rating
    where = "" if rating.turn is None else f", turn {rating.turn + 1}"
    scale = (
        f"{rating.low:g} or more" if rating.high is None else f"{rating.low:g} to {rating.high:g}"
    )
    score = str(rating.status) if rating.score is None else f"{rating.score:.4g}"
    _print(f"  {rating.factor}{where}: {score} ({scale}) by {rating.evaluator}")
    for line in filter(None, (rating.reason, rating.rationale, _repaired(rating.repaired))):
        _print(f"    {line}")
    for evidence in each.evidence:
        _print(f"    - {evidence_line(evidence, explanation.log)}")
    if rating.calls:
        _print(f"    {len(rating.calls)} calls: {', '.join(rating.calls)}")


def _print(line: str) -> None:
    """Print a line on standard output; what could steer a terminal is shown as text."""
    typer.echo(printable(line))


def _repaired(what: str) -> str:
    return f"repaired in the reply: {what}" if what else ""


def _show_call(call: "CallRecord") -> None:
    from recjury.prompts import with_code

    _print(f"call {call.identity}: {call.request.purpose}, {call.request.model}")
    for message in with_code(call.request, call.reply.code).messages:
        _print(f"[{message.role}]")
        _print(message.text)
    for reply in call.reply.each():
        _print("[reply]")
        _print(reply.text)
    _print("")
