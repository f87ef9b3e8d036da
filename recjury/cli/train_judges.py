"""`recjury train dialogue-quality` and `recjury train paireval`: train judges."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recjury.cli import options, output
from recjury.cli.progress_line import progress_line
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.judges.learned.optimising import LearnedStep
    from recjury.judges.learned.training import TrainedJudge

_FOR_MODEL = "is for a causal language model: name one by --model, or leave out {}"
_FOR_SMALL = "is for the small judge: leave out --model or {}"
_EVERY = 30.0  # seconds between lines if there is no terminal

Data = Annotated[
    Path,
    typer.Option(
        envvar="RECJURY_DATA", metavar="DIR", help="The folder that holds dialogue-eval/."
    ),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder to write the judge to.")]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of all random numbers.")]


def dialogue_quality(
    data: Data,
    out: Out,
    subset: Annotated[
        str, typer.Option(metavar="NAME", help="SGD, MWOZ, ReDial, CCPE, or ab-redial.")
    ] = "ReDial",
    seed: Seed = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="How often each is read.")] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A causal language model to fine-tune with LoRA."),
    ] = None,
    labels: Annotated[
        Literal["likert", "binary"] | None,
        typer.Option(help="With --model: ratings from 1 to 5 (default), or satisfied or not."),
    ] = None,
    level: Annotated[
        Literal["turn", "dialogue", "both"] | None,
        typer.Option(help="With --model: what is learned (default: dialogue)."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Train a judge of user satisfaction on rated dialogues, and test it on a tenth of a subset.

    Without --model it is the small judge, which needs no LLM: it learns from all of USS and from
    AB-ReDial, except for the tested tenth and dialogues that share utterances with it. With
    --model, that model gets a LoRA adapter from nine tenths of the subset; the report is JSON.

    \b
    recjury train dialogue-quality --data DATA --subset ReDial --out judges/redial
    recjury train dialogue-quality --data DATA --subset SGD --out judges/sgd --json
    recjury train dialogue-quality --data DATA --subset CCPE --model models/llama --out adapter
    """
    if model is not None:
        from recjury.cli.train_model import tune_dialogue_quality

        _refuse({"--epochs": epochs}, _FOR_SMALL)
        tune_dialogue_quality(model, data, subset, out, seed, labels=labels, level=level)
        return
    _refuse({"--labels": labels, "--level": level}, _FOR_MODEL)
    from recjury.judges.learned.checkpoint import check_output
    from recjury.judges.learned.training import train_satisfaction
    from recjury.plugins.extras import require_minilm

    require_minilm("train dialogue-quality")
    check_output(out)
    from recjury.judges.learned.satisfaction_training import SatisfactionPlan

    changed = {} if epochs is None else {"epochs": epochs}
    plan = SatisfactionPlan(seed=seed, **changed)
    steps: list[LearnedStep] = []
    with progress_line(lambda: _described(steps), lambda: _share(steps), every=_EVERY):
        trained = train_satisfaction(data, subset, out, plan, watch=steps.append)
    _show(trained, as_json=as_json)


def paireval(
    data: Data,
    out: Out,
    seed: Seed = 0,
    examples: Annotated[
        int | None,
        typer.Option(min=100, help="How many replies to draw for training (default: 12000)."),
    ] = None,
    corpus: Annotated[
        Literal["dailydialog", "ievalm"] | None,
        typer.Option(
            help="dailydialog (default; with DailyDialog++), or ievalm (ReDial, OpenDialKG)."
        ),
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(min=1, help="The rank of the changes to the encoder (default: 16)."),
    ] = None,
    test: Annotated[bool, typer.Option(help="Test it on the rated sets.")] = True,
    model: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A causal language model to fine-tune with LoRA."),
    ] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="With --model: how many pairs.")] = None,
    hard: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="With --model: the share of adversarial negatives."),
    ] = None,
    adversarial: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --model: adversarial replies.")
    ] = None,
    direct: Annotated[bool, typer.Option("--direct", help="With --model: DirectEval.")] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="With --model: the longer one is better in half.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Train a judge of replies: without --model the small one, which needs no LLM.

    It is tested on the rated sets in the same folder. No dialogue that holds one of their histories
    is trained on. With --model, that model gets a LoRA adapter as in PairEval; the report is JSON.

    \b
    recjury train paireval --data DATA --out judges/replies
    recjury train paireval --data DATA --seed 1 --examples 5000 --out judges/quick --json
    recjury train paireval --data DATA --model models/llama --out adapter
    """
    if model is not None:
        from recjury.cli.train_model import pair_training, tune_paireval

        small = {"--examples": examples, "--corpus": corpus, "--rank": rank}
        _refuse(small, _FOR_SMALL)
        chosen = pair_training(
            pairs=pairs,
            hard=hard,
            adversarial=adversarial,
            direct=direct,
            balanced=balanced,
            test=test,
        )
        tune_paireval(model, data, out, seed, chosen)
        return
    large = {"--pairs": pairs, "--hard": hard, "--adversarial": adversarial}
    _refuse({**large, "--direct": direct or None, "--balanced": balanced or None}, _FOR_MODEL)
    from recjury.judges.learned.checkpoint import check_output
    from recjury.judges.learned.training import train_comparison
    from recjury.plugins.extras import require_minilm

    require_minilm("train paireval")
    check_output(out)
    from recjury.judges.learned.reply_training import ReplyPlan

    changed = {"examples": examples, "rank": rank}
    given = {name: value for name, value in changed.items() if value is not None}
    plan = ReplyPlan(seed=seed, **given)
    steps: list[LearnedStep] = []
    with progress_line(lambda: _described(steps), lambda: _share(steps), every=_EVERY):
        trained = train_comparison(
            data, out, plan, corpus=corpus or "dailydialog", test=test, watch=steps.append
        )
    _show(trained, as_json=as_json)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Raise ConfigError for an option that was given and would not be used."""
    for name, value in options.items():
        if value is not None:
            raise ConfigError(f"{name} {why.format(name)}")


def _described(steps: "list[LearnedStep]") -> str:
    if not steps:
        return "reading data"
    last = steps[-1]
    recent = [step.loss for step in steps[-20:]]
    return f"step {last.number} of {last.steps}, loss {sum(recent) / len(recent):.3f}"


def _share(steps: "list[LearnedStep]") -> float:
    return steps[-1].number / steps[-1].steps if steps else 0.0


def _show(trained: "TrainedJudge", *, as_json: bool) -> None:
    if as_json:
        output.emit_json(trained.as_json())
        return
    output.say(f"trained on {trained.trained_on}")
    for name, found in trained.test.items():
        output.say(f"{name}: {found}")
    output.say(f"{trained.folder}: {trained.seconds:.0f} s ({trained.cpu_seconds:.0f} s of CPU)")
