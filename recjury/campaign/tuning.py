"""Limits that are changed while a campaign runs: read from `recjury tune`, and applied."""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from typing import get_args

from recjury.errors import ConfigError, StoreError, UserError
from recjury.llm import Gateway, Part
from recjury.logs import get_logger
from recjury.records import JSON
from recjury.store import BEAT_SECONDS, Worker

logger = get_logger()

_HIGHEST = 4096
_TOTAL = "concurrency"


def parse_settings(given: Iterable[str], models: Iterable[str]) -> dict[str, JSON]:
    """Settings such as "concurrency=200", "judges=40", "judges=none", "main.concurrency=16".

    `models` are the campaign's aliases. Raises ConfigError for anything else.
    """
    aliases = {f"{alias}.{_TOTAL}" for alias in models}
    names = (_TOTAL, *get_args(Part), *sorted(aliases))
    found: dict[str, JSON] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or name not in names:
            raise ConfigError(f"{each!r} is not NAME=NUMBER with one of: {', '.join(names)}")
        if value == "none" and name in get_args(Part):
            found[name] = None
        elif value.isdecimal() and 1 <= int(value) <= _HIGHEST:
            found[name] = int(value)
        else:
            or_none = ", or none" if name in get_args(Part) else ""
            raise ConfigError(f"{name} must be from 1 to {_HIGHEST}{or_none}, got {value!r}")
    if not found:
        raise ConfigError(f"nothing to change: write NAME=NUMBER with one of: {', '.join(names)}")
    return found


def apply_settings(gateway: Gateway, settings: Mapping[str, JSON]) -> None:
    """Set what `parse_settings` returned; open requests are not ended.

    Raises ConfigError if the gateway lacks a model or its key; then nothing is changed.
    """
    parts: dict[Part, int | None] = {}
    for part in get_args(Part):
        if part in settings:
            limit = settings[part]
            parts[part] = limit if isinstance(limit, int) else None
    total = settings.get(_TOTAL)
    gateway.tune(
        concurrency=total if isinstance(total, int) else None,
        limits=parts,
        models={
            name.removesuffix(f".{_TOTAL}"): limit
            for name, limit in settings.items()
            if name.endswith(f".{_TOTAL}") and isinstance(limit, int)
        },
    )


async def follow_settings(worker: Worker, gateway: Gateway | None) -> None:
    """Say that this process lives, and what is open; apply what is asked for, or answer why not.

    It goes on until it is cancelled. Without a gateway, everything that is asked for is refused.
    """
    try:
        while True:
            try:
                for wish, settings in worker.take_wishes():
                    worker.answer(wish, _refused(gateway, settings))
                await worker.beat({} if gateway is None else gateway.state)
                await _publish(gateway)
            except StoreError as error:
                logger.info("the state of the run cannot be written", reason=str(error))
            await asyncio.sleep(BEAT_SECONDS)
    finally:
        with contextlib.suppress(StoreError):
            await _publish(gateway)


async def _publish(gateway: Gateway | None) -> None:
    """Tell the processes that share the budget what this one has spent."""
    if gateway is not None:
        await gateway.budget.publish()


def _refused(gateway: Gateway | None, wished: Mapping[str, JSON]) -> str | None:
    """Apply what is asked for; why it was not, or None."""
    if gateway is None:
        return "this run asks no models, so there is nothing to limit"
    try:
        apply_settings(gateway, wished)
    except UserError as error:
        return str(error)
    logger.warning("limits changed", **wished)
    return None
