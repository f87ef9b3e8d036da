"""Work that asks the models of a campaign file and has no conversations, as a campaign of its own.

Its calls are recorded in the store, so the same work continues where it stopped, and its budget
limits the total cost of all its runs.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from recjury.campaign.campaign_store import campaign_setup, opened_campaign
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.config_file import read_models
from recjury.errors import ConfigError
from recjury.llm import Gateway, call_context
from recjury.records import JSON, digest
from recjury.store import Store
from recjury.tables import AnalysisInput

T = TypeVar("T")

_DIGITS = 12


class ModelWork(NamedTuple, Generic[T]):
    """Work named `name` that `do` does with a gateway.

    `what` has everything that can change the prompts, and is stored under `key`; `given` is further
    input that is part of the identity alone. `check` raises UserError before anything is written.
    """

    name: str
    what: Mapping[str, JSON]
    do: Callable[[Gateway], Awaitable[T]]
    check: Callable[[Gateway], None] = lambda _: None
    given: Sequence[JSON] = ()
    key: str = "work"

    @property
    def identity(self) -> str:
        """The identity of the campaign that the work is."""
        return digest([self.name, self.what, *self.given])[:_DIGITS]


def check_aliases(config: EvaluationConfig, aliases: Sequence[str]) -> None:
    """Raise ConfigError if `config` lacks a model of one of the aliases."""
    for alias in aliases:
        if alias not in config.all_models:
            known = ", ".join(sorted(config.all_models)) or "none"
            raise ConfigError(f"the campaign file has no model {alias!r} (it has: {known})")


def config_of(given: AnalysisInput) -> EvaluationConfig:
    """The campaign file of an analysis, with its changes. Raises ConfigError."""
    if given.config is None:
        raise ConfigError("which models are asked? Give --config, a campaign file")
    return read_models(given.config).model_copy(update=dict(given.changes))


def models_asked(config: EvaluationConfig, aliases: Sequence[str]) -> dict[str, JSON]:
    """The settings of the models that can change a reply, by alias: a part of `ModelWork.what`.

    Raises ConfigError as `check_aliases`.
    """
    check_aliases(config, aliases)
    return {alias: config.all_models[alias].reply_settings() for alias in sorted(set(aliases))}


async def do_with_models(work: ModelWork[T], config: EvaluationConfig, place: Store | str) -> T:
    """The result of `work`; its calls are recorded for a campaign with its name.

    Raises UserError, before anything is written, for models that cannot be used.
    """
    async with opened_campaign(config, place, work.identity) as opened:
        gateway = opened.gateway
        assert gateway is not None  # there are models: that was checked
        work.check(gateway)
        shown = {**config.model_dump(mode="json"), work.key: work.what}
        setup = campaign_setup(config)
        opened.begin(work.name, setup.model_copy(update={"config": shown}))
        try:
            with call_context(opened.id):
                return await work.do(gateway)
        finally:
            if gateway.learned:
                opened.store.save_learned(opened.id, gateway.learned)
