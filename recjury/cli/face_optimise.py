"""`recjury face optimise`: better instructions from AB-ReDial's labels, or a new choice of them."""

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from recjury.cli import options, output
from recjury.cli.aspects import aspect_named
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.campaign.config import CampaignConfig
    from recjury.judges.face.optimise.beam import Step
    from recjury.judges.face.optimise.report import Line, Report
    from recjury.judges.face.optimise.running import Optimisation
    from recjury.judges.face.optimise.select import Chosen
    from recjury.judges.face.optimise.settings import OptimiserSettings
    from recjury.judges.face.optimise.training import Training
    from recjury.llm import Gateway
    from recjury.records import Aspect

T = TypeVar("T")

_PLAIN_EVERY = 10.0  # seconds between lines of one step where there is no terminal
_FAILED = 3
_CHANGES_REPLIES = {"base_url", "name", "temperature", "max_tokens", "json_mode", "extra"}


def optimise(
    aspect: Annotated[str, typer.Argument(metavar="ASPECT", help="What to optimise for.")],
    config: Annotated[
        Path, typer.Option(metavar="CAMPAIGN.yaml", help="Whose models to use, by alias.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the journal, report and instructions go.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="RECJURY_DATA", metavar="DIR", help="The folder that holds ab-redial/."
        ),
    ] = None,
    model: Annotated[str, typer.Option(metavar="ALIAS", help="The model that rates.")] = "main",
    rewriter: Annotated[
        str | None,
        typer.Option(
            metavar="ALIAS", help="The model that rewrites (default: the one that rates)."
        ),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="Decompose turns by rules, without the model.")
    ] = False,
    pool: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="FACE*: only choose anew from these instructions (pool.json)."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting, such as iterations=2 (may be repeated)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split and all random draws.")] = 0,
    max_calls: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Send at most N calls in this run.")
    ] = None,
    budget: options.Budget = None,
    concurrency: options.Concurrency = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would ask, and stop.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Optimise FACE's instructions for one aspect: gradients, rewriting, UCB, beam search.

    Interrupted, out of budget, killed: the same command goes on, and sends again only what was
    not yet on disk. Settings (--set) are those of the paper: iterations, beam, candidates,
    gradients, exploration, batches, final, temperature; and ours: gradient_particles,
    sampled_particles, correlation, merged, averaging, tolerated_failures.

    \b
    recjury face optimise relevance --config model.yaml --data DATA --out face --dry-run
    recjury face optimise relevance --config model.yaml --data DATA --out face --budget 5
    recjury face optimise relevance --config other.yaml --data DATA --out star \\
        --pool face/relevance/pool.json
    """
    from recjury.judges.face.optimise.budget import StepFailed
    from recjury.judges.face.optimise.training import read_training

    chosen = aspect_named(aspect)
    wanted = _Wanted(
        config=config,
        changes={"budget": budget, "concurrency": concurrency},
        aspect=chosen,
        training=read_training(_ab_redial(data), chosen, seed=seed),
        settings=_settings(setting or [], seed),
        model=model,
        rewriter=rewriter or model,
        rules=rules,
        folder=out,
        max_calls=max_calls,
    )
    campaign = wanted.campaign()
    if dry_run:
        _show_estimate(wanted, as_json=as_json)
        return
    try:
        if pool is None:
            _show(_run(wanted, campaign, store, lambda one: one.run()), out, as_json=as_json)
        else:
            found = _run(wanted, campaign, store, lambda one: one.reselect(pool))
            _show_chosen(found, as_json=as_json)
    except StepFailed as failure:
        output.say(f"recjury: {failure}")
        output.stop(_FAILED)


@dataclass(frozen=True)
class _Wanted:
    """What the options ask for."""

    config: Path
    changes: Mapping[str, object]
    aspect: "Aspect"
    training: "Training"
    settings: "OptimiserSettings"
    model: str
    rewriter: str
    rules: bool
    folder: Path
    max_calls: int | None

    def campaign(self) -> "CampaignConfig":
        """Whose models to use; raises ConfigError where they are not there."""
        from recjury.campaign.reading import read_config

        campaign = read_config(self.config)
        for alias in (self.model, self.rewriter):
            if alias not in campaign.all_models:
                known = ", ".join(sorted(campaign.all_models)) or "none"
                raise ConfigError(f"{self.config}: has no model {alias!r} (it has: {known})")
        given = {key: value for key, value in self.changes.items() if value is not None}
        return campaign.model_copy(update=given)

    def optimisation(self, campaign: "CampaignConfig", gateway: "Gateway") -> "Optimisation":
        """The run, its calls sent by `gateway`."""
        from recjury.judges.face.optimise.budget import Allowance
        from recjury.judges.face.optimise.running import Optimisation
        from recjury.judges.face.rule_decomposer import RuleDecomposer

        models = {
            alias: campaign.all_models[alias].model_dump(mode="json", include=_CHANGES_REPLIES)
            for alias in (self.model, self.rewriter)
        }
        return Optimisation(
            self.aspect,
            self.training,
            self.settings,
            Allowance(gateway, max_calls=self.max_calls),
            self.model,
            self.rewriter,
            models,
            self.folder,
            RuleDecomposer() if self.rules else None,
            _Shown(),
        )


def _run(
    wanted: _Wanted,
    campaign: "CampaignConfig",
    url: str,
    work: Callable[["Optimisation"], Coroutine[None, None, T]],
) -> T:
    from recjury.campaign.preparation import open_gateway
    from recjury.llm import event_loop
    from recjury.store import Store

    async def with_calls() -> T:
        gateway = open_gateway(campaign)
        assert gateway is not None
        async with gateway:
            await gateway.check()
            with Store.open(url) as store:
                async with store.recorder() as recorder:
                    gateway.record_in(recorder)
                    return await work(wanted.optimisation(campaign, gateway))

    with event_loop() as runner:
        return runner.run(with_calls())


def _ab_redial(data: Path | None) -> Path:
    if data is None:
        raise ConfigError("where is the data? Give --data or set RECJURY_DATA")
    return data / "ab-redial"


def _settings(given: Sequence[str], seed: int) -> "OptimiserSettings":
    import yaml
    from pydantic import ValidationError

    from recjury.corpora.lines import what_is_wrong
    from recjury.judges.face.optimise.settings import OptimiserSettings

    values: dict[str, object] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign:
            raise ConfigError(f"--set: expected NAME=VALUE, got {each!r}")
        values[name.strip()] = yaml.safe_load(value)
    try:
        return OptimiserSettings.model_validate(values | {"seed": seed})
    except ValidationError as error:
        known = ", ".join(name for name in OptimiserSettings.model_fields if name != "seed")
        raise ConfigError(f"--set {what_is_wrong(error)} (settings: {known})") from None


class _Shown:
    """Says how far a run is, on standard error: each step's begin and end, and now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, step: "Step") -> None:
        now = time.monotonic()
        if step.done not in (0, step.of) and now - self._last < _PLAIN_EVERY:
            return
        self._last = now
        where = "" if step.iteration is None else f"iteration {step.iteration}: "
        output.say(f"{where}{step.doing} {step.done}/{step.of}")


def _show_estimate(wanted: _Wanted, *, as_json: bool) -> None:
    import asyncio

    from recjury.judges.face.optimise.running import estimate

    spent = asyncio.run(estimate(wanted.training, wanted.settings))
    if as_json:
        output.emit_json(spent._asdict() | {"scored": spent.scored})
        return
    output.say("at most, with as many particles as the rule decomposer finds:")
    rows = [(name.replace("_", " "), f"{value:,}") for name, value in spent._asdict().items()]
    output.show_table(["", "calls"], [*rows, ("scored in all", f"{spent.scored:,}")])


def _show(found: "Report", out: Path, *, as_json: bool) -> None:
    if as_json:
        output.emit_json(found.model_dump(mode="json"))
        return
    head = ["instruction", "iteration", "ancestors", "bandit", "training", "validation", "rank"]
    output.show_table(head, map(_row, (found.initial, *found.pool)))
    output.say(f"the {len(found.chosen)} chosen, pooled: {output.number(found.together, 3)}")
    output.say(f"{out / 'instructions'}: for --instructions of recjury face score")


def _row(line: "Line") -> list[str]:
    return [
        "initial" if line.index is None else f"itr{line.index}",
        str(line.iteration),
        " < ".join(line.parents) or "-",
        output.number(line.value, 3),
        output.number(line.train, 3),
        output.number(line.validation, 3),
        "-" if line.rank is None else str(line.rank),
    ]


def _show_chosen(chosen: "Chosen", *, as_json: bool) -> None:
    ranks = {name: rank for rank, name in enumerate(chosen.names, start=1)}
    if as_json:
        rows = {name: list(one) for name, one in chosen.measured.items()}
        together = list(chosen.together)
        output.emit_json({"chosen": chosen.names, "measured": rows, "together": together})
        return
    output.show_table(
        ["instruction", "validation", "coverage", "rank"],
        (
            [name, output.number(one.correlation, 3), output.number(one.coverage),
             str(ranks.get(name, "-"))]
            for name, one in chosen.measured.items()
        ),
    )  # fmt: skip
    output.say(f"the {len(ranks)} chosen, pooled: {output.number(chosen.together.correlation, 3)}")
