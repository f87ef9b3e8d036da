"""Options that the commands of `recjury paireval` share, and what they all say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import output

if TYPE_CHECKING:
    from recjury.campaign.config import EvaluationConfig
    from recjury.campaign.paireval import JudgeNotes, PairInput

Config = Annotated[
    Path, typer.Option(metavar="CAMPAIGN.yaml", help="Whose models to use, by alias.")
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="ALIAS", help="A model (default: main); may be repeated."),
]
Data = Annotated[
    Path | None,
    typer.Option(
        envvar="RECJURY_DATA",
        metavar="DIR",
        help="The folder of the sets, or the one that holds dialogue-eval/.",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME", help="Only this set; may be repeated."),
]
RowLimit = Annotated[
    int | None, typer.Option(min=2, metavar="N", help="Only the first N rows of each set.")
]
Draws = Annotated[
    int, typer.Option(min=1, metavar="N", help="How often comparison examples are drawn.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the draws.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only show what would be asked, and what it may cost.")
]

# Tokens of a prompt and of a reply, on average.
_PAIR_TOKENS = {"turn": (500, 4), "dialogue": (1_500, 4)}
_DIRECT_TOKENS = {"turn": (300, 4), "dialogue": (800, 4)}


@dataclass(frozen=True)
class PairEvalOptions:
    """What the options of an analysis say."""

    config: "EvaluationConfig"
    given: "PairInput"
    models: Sequence[str]
    store: str
    as_json: bool


def choose(
    config: Path,
    models: Sequence[str] | None,
    data: Path | None,
    sets: Sequence[str] | None,
    limit: int | None,
    draws: int,
    seed: int,
    store: str,
    budget: object,
    *,
    as_json: bool,
) -> PairEvalOptions:
    """Read the campaign file and the sets. Raises UserError."""
    from recjury.campaign.paireval import read_pair_input
    from recjury.corpora.response_sets import PAIREVAL_SETS
    from recjury.llm import MAIN_MODEL

    aliases = list(dict.fromkeys(models or [MAIN_MODEL]))
    read = read_models(config, aliases, budget)
    given = read_pair_input(
        data, list(dict.fromkeys(sets or PAIREVAL_SETS)), limit=limit, draws=draws, seed=seed
    )
    return PairEvalOptions(read, given, aliases, store, as_json)


def is_dry(chosen: PairEvalOptions, calls: int, *, alone: int = 0, dry_run: bool) -> bool:
    """Whether nothing is asked; what that would cost of each model is printed then.

    `calls` compare two replies, and `alone` are about one (DirectEval).
    """
    if dry_run:
        show_comparisons(chosen.config, chosen.models, calls, alone=alone, as_json=chosen.as_json)
    return dry_run


def show_comparisons(
    config: "EvaluationConfig",
    models: Sequence[str],
    calls: int,
    *,
    alone: int = 0,
    level: str = "turn",
    as_json: bool,
) -> None:
    """Print what `calls` of each model that compare two replies or dialogues may cost, and those
    that are about one `alone`."""
    from recjury.cli.dry_run import show_calls
    from recjury.records import ExpectedCalls

    kinds = {"": (calls, *_PAIR_TOKENS[level]), " alone": (alone, *_DIRECT_TOKENS[level])}
    expected = [
        ExpectedCalls(alias, f"paireval/{level}{kind}", n, config.attempts * n, prompt, reply)
        for alias in models
        for kind, (n, prompt, reply) in kinds.items()
        if n
    ]
    show_calls(config, expected, as_json=as_json)


def read_models(config: Path, aliases: Sequence[str], budget: object) -> "EvaluationConfig":
    """The campaign file with its models. Raises ConfigError if it lacks one of the aliases."""
    from recjury.campaign.config_file import read_models as read_campaign_models
    from recjury.campaign.model_work import check_aliases

    read = read_campaign_models(config)
    check_aliases(read, aliases)
    return read if budget is None else read.model_copy(update={"budget": budget})


def say_notes(notes: "Mapping[str, JudgeNotes]") -> None:
    """Say on standard error what could not be asked as it is; then some of it failed: exit 3."""
    failed = False
    for alias, note in notes.items():
        if note.cut:
            output.say(
                f"{alias}: {note.cut} prompts were too long, and {note.left_out} of the oldest "
                "turns were left out of them"
            )
        for reason, count in note.unscored.items():
            failed = True
            output.say(f"{alias}: {count} without a result: {reason}")
    if failed:
        output.stop(output.SOME_FAILED)
