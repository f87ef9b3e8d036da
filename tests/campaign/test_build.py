"""What was built is closed, whatever fails."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any, cast

import pytest

import recjury.campaign.build as module
from recjury.campaign import CampaignConfig
from recjury.campaign.build import Components
from recjury.errors import ConfigError
from recjury.knowledge import Catalogue


class _Closing:
    """A system that counts how often it is closed, and cannot be."""

    def __init__(self) -> None:
        self.closed = 0

    async def aclose(self) -> None:
        self.closed += 1
        raise OSError("broken")


def _components(*systems: _Closing) -> Components:
    recommenders = cast("Any", {str(place): each for place, each in enumerate(systems)})
    return Components(Catalogue("c", ()), recommenders, None, {})


def test_all_systems_are_closed_even_if_one_raises() -> None:
    systems = _Closing(), _Closing()
    with pytest.raises(OSError, match="broken"):
        asyncio.run(_components(*systems).aclose())
    assert [each.closed for each in systems] == [1, 1]


def test_what_is_built_for_one_corpus_is_closed_if_another_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = _Closing()

    def components(_config: object, corpus: object, *_others: object) -> Components:
        if corpus == "second":
            raise ConfigError("no checkpoint")
        return _components(system)

    monkeypatch.setattr(module, "_components", components)

    async def run() -> None:
        corpora = cast("Any", {"a": "first", "b": "second"})
        async with AsyncExitStack() as stack:
            module.build(cast("CampaignConfig", None), corpora, None, stack)

    with pytest.raises((ConfigError, OSError)):
        asyncio.run(run())
    assert system.closed == 1
