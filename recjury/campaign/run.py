"""Run a campaign: draw its scenarios, build, plan, and let the runner do the work that is left."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from recjury.agents import System
from recjury.campaign.batch_models import check_players
from recjury.campaign.build import Prepare, build
from recjury.campaign.campaign_store import campaign_setup, opened_campaign
from recjury.campaign.config import CampaignConfig
from recjury.campaign.identity import campaign_id
from recjury.campaign.plan import ALL, draw_scenarios, plan_campaign
from recjury.campaign.progress import Progress, RunResult
from recjury.campaign.retry import Retry
from recjury.campaign.runner import Runner
from recjury.campaign.stopping import Stopping
from recjury.errors import ConfigError
from recjury.store import ConversationResult, NothingFailedError, Selection, Store


async def run_campaign(
    config: CampaignConfig,
    place: Store | str,
    *,
    limit: int | None = None,
    retry: Retry = Retry.UNSCORED,
    progress: Progress | None = None,
    selection: Selection = ALL,
    prepare: Prepare = System.prepared,
) -> RunResult:
    """Run `config`, or continue it if the store at `place` already has a part of it.

    If `place` is a URL or path, that store is opened after the models have been tried; a new store
    is made after everything else has been checked. `limit` draws that many scenarios from each
    source instead of the file's limit. `selection` says which of the planned conversations are
    played and evaluated. `retry` says what of earlier runs is asked for again. `prepare` makes the
    systems answer. Raises UserError for an error that the user can correct. If it is raised before
    the first conversation, no result has been written; if later (for example, because an endpoint
    starts to refuse), everything that was finished is kept.
    """
    if config.stop is not None and selection.shard.of > 1:
        raise ConfigError(
            "a campaign that may stop early decides over all of it: leave out --shard"
        )
    check_players(config)
    drawn = draw_scenarios(config, limit)
    async with opened_campaign(config, place, campaign_id(config)) as opened:
        store, campaign = opened.store, opened.id
        built = build(config, drawn.corpora, opened.gateway, opened.stack, prepare)
        try:
            some = selection.failed and store.exists
            failed = store.selected(campaign, selection) if some else ()
        except NothingFailedError:
            return RunResult(campaign, planned=0, done=0)
        plan = plan_campaign(config, drawn, built.components, selection, failed or ())
        await built.check_systems(plan.unplayed(store))
        setup = campaign_setup(config, drawn.corpora.values(), drawn.skipped, selection.shard)
        worker = opened.begin(config.name, setup)
        set_aside = store.plan(campaign, plan.places)
        stopping = None
        if config.stop is not None:
            metric = config.stop_metric(config.stop)
            read = partial(_results, store, campaign)
            stopping = Stopping(config.stop, *metric, tuple(plan.units()), read)
        session = replace(config.simulator.session, list_length=config.list_length)
        runner = Runner(store, built, config, progress, session, retry, stopping=stopping)
        result = await runner.run(worker, plan.units)
    return result._replace(skipped=drawn.skipped, set_aside=set_aside)


def _results(
    store: Store, campaign: str, conversations: Sequence[str]
) -> Iterator[ConversationResult]:
    return store.results(campaign, conversations=conversations)
