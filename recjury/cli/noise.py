"""`recjury doctor --repeat N`: how far each model of a campaign repeats itself."""

import time
from collections.abc import Mapping
from pathlib import Path

from recjury.cli import output
from recjury.cli.async_work import await_work
from recjury.errors import ConfigError
from recjury.records import JSON


def measure(path: Path, store: str, repeats: int) -> dict[str, JSON]:
    """Measure all models of the campaign file that write text, and store what came; by alias."""
    from recjury.campaign.config_file import read_config

    config = read_config(path)
    if not config.has_models:
        raise ConfigError(f"{path} has no model to repeat a request to")
    return await_work(_measured(config.all_models, store, repeats))


async def _measured(models: Mapping[str, "object"], store: str, repeats: int) -> dict[str, JSON]:
    from recjury.cli.noise_floor import KIND, as_json, measure_noise
    from recjury.llm import ModelSpec, running_servers
    from recjury.store import Measurement, Store

    found: dict[str, JSON] = {}
    async with running_servers():
        for alias, spec in models.items():
            assert isinstance(spec, ModelSpec)
            if spec.embedding:
                continue
            output.say(f"{alias}: {repeats} equal requests at temperature 0")
            rows = await measure_noise(spec, repeats, watch=lambda what: output.say(f"  {what}"))
            body: dict[str, JSON] = {"model": spec.reply_settings(), "rows": as_json(rows)}
            with Store.at(store) as kept:
                kept.create()
                subject = f"{spec.address} ({spec.name})"
                kept.save_measurement(
                    Measurement(kind=KIND, subject=subject, measured_at=time.time(), body=body)
                )
            found[alias] = body["rows"]
    return found


def show(found: Mapping[str, JSON]) -> None:
    """A table for each model."""
    from recjury.cli.noise_floor import HEADER, Repeats, described

    for alias, rows in found.items():
        assert isinstance(rows, list)
        output.say(f"noise floor of {alias} at temperature 0")
        output.show_table(list(HEADER), (described(Repeats.model_validate(row)) for row in rows))
