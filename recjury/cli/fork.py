"""`recjury fork`: run a stored debate again from one of its rounds on, with changes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.errors import ConfigError, DataError, UnitFailed

if TYPE_CHECKING:
    from recjury.campaign.fork_debate import Changes, Forked
    from recjury.debate import Edit
    from recjury.debate.stored_debate import ReplayedDebate
    from recjury.records import JSON, Role
    from recjury.store import Store

_DIGITS = 12  # of an id
_MOST_TEXT = 2**20  # bytes of what a role says


def fork(
    debate: Annotated[
        str,
        typer.Argument(
            metavar="DEBATE",
            help="The id of a debate, of a fork, or of a conversation with one debate.",
        ),
    ],
    start: Annotated[
        int, typer.Option("--from", min=1, metavar="N", help="The first round that differs.")
    ],
    max_rounds: Annotated[
        int | None, typer.Option(min=1, max=20, metavar="N", help="Another round limit.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=ALIAS", help="Another model plays ROLE from there on."),
    ] = None,
    say: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=FILE", help="What ROLE says in round N instead."),
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=0..100", help="ROLE's score in round N instead."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE.yaml", help="A file with models, such as a campaign file."),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Fork a debate: keep the rounds before N, and run the rest again.

    In round N only the given statements and scores are replaced. The fork is stored beside the
    original, and is not part of any mean.

    \b
    recjury fork 3f2a91 --from 2 --say linguist=milder.txt --config campaign.yaml
    recjury fork 3f2a91 --from 4 --max-rounds 8 --config campaign.yaml
    recjury fork 3f2a91 --from 1 --score common-user=20
    """
    from recjury.campaign.config_file import read_models
    from recjury.campaign.fork_debate import Changes, fork_debate
    from recjury.llm import event_loop
    from recjury.store import Store as Kept

    models = None if config is None else read_models(config)
    changes = Changes(start, max_rounds, _edits(say or [], score or []), _pairs(model or []))
    with Kept.open(store, create=False) as kept:
        original = _one(kept, debate)
        try:
            with event_loop() as runner:
                forked = runner.run(fork_debate(original, changes, kept, models))
        except UnitFailed as failure:
            output.say(f"the fork failed: {failure}; run the same command to continue")
            output.stop(output.SOME_FAILED)
        _show(kept, forked, changes, as_json=as_json)


def _one(store: "Store", prefix: str) -> str:
    """The one debate that is named, by its evaluation's whole id."""
    from recjury.debate.lookup import debates_of

    found = debates_of(store, prefix)
    if len(found) > 1:
        ids = ", ".join(each[:_DIGITS] for each in found)
        raise ConfigError(f"{prefix} has {len(found)} debates: name one of {ids}")
    return found[0]


def _pairs(given: list[str]) -> "dict[Role, str]":
    """`ROLE=VALUE` by role; ConfigError for anything else, and for a role that is named twice."""
    from recjury.debate.forking import parse_role

    found: dict[Role, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not value:
            raise ConfigError(f"expected ROLE=..., such as common-user=..., got {each!r}")
        role = parse_role(name)
        if role in found:
            raise ConfigError(f"{role} is given twice: {found[role]} and {value}")
        found[role] = value
    return found


def _edits(say: list[str], score: list[str]) -> "dict[Role, Edit]":
    from recjury.debate import Edit

    texts = {role: _text(Path(path)) for role, path in _pairs(say).items()}
    scores = {role: _score(value) for role, value in _pairs(score).items()}
    return {
        role: Edit(text=texts.get(role), score=scores.get(role))
        for role in sorted({*texts, *scores})
    }


def _text(path: Path) -> str:
    from recjury.input_files import read_text

    text = read_text(path, _MOST_TEXT).strip()
    if not text:
        raise DataError("is empty: write down what the role says", path=path)
    return text


def _score(value: str) -> float:
    from recjury.records import OVERALL_SCALE

    low, high = OVERALL_SCALE
    try:
        score = float(value)
    except ValueError:
        score = float("nan")
    if not low <= score <= high:  # nan is not
        raise ConfigError(f"a score is a number from {low} to {high}, got {value!r}")
    return score


def _show(store: "Store", forked: "Forked", changes: "Changes", *, as_json: bool) -> None:
    from recjury.debate.stored_debate import load_debate

    fork, original = load_debate(store, forked.evaluation), load_debate(store, forked.original)
    if as_json:
        output.emit_json(
            {
                "fork": forked.evaluation,
                "original": forked.original,
                "conversation": fork.conversation,
                "from": changes.round,
                "max_rounds": fork.transcript.max_rounds,
                "verdict": _verdict(fork),
                "verdict_before": _verdict(original),
                "calls": {"sent": forked.calls, "reused": forked.reused},
                "existed": forked.existed,
            }
        )
        return
    from recjury.cli.replay_view import View

    View().rounds(fork, start=changes.round)
    before = output.number(original.verdict.score, 1)
    output.say(f"the original, {forked.original[:_DIGITS]}, came to {before}")
    if forked.existed:
        output.say("the same fork exists already: no model was called")
    else:
        output.say(f"{forked.calls} calls, {forked.reused} reused")
    output.say(f"kept as {forked.evaluation[:_DIGITS]}: recjury replay shows all of it")


def _verdict(debate: "ReplayedDebate") -> "dict[str, JSON]":
    return debate.verdict.model_dump(mode="json")
