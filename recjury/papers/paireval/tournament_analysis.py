"""A tournament of a store's systems as an analysis."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import ModelWork, config_of, do_with_models, models_asked
from recjury.judges.paireval.comparison import Comparer
from recjury.judges.paireval.prompts import PairPrompts
from recjury.llm import MAIN_MODEL, Gateway
from recjury.papers.paireval.pair_analysis import PairCalls, comparing
from recjury.papers.paireval.tournament import (
    Meeting,
    TournamentPlan,
    TournamentResult,
    meetings_of,
    run_tournament,
)
from recjury.plugins import Names
from recjury.plugins.extras import require_ranking
from recjury.records import JSON, ConversationLog, ExpectedCalls, Level, digest
from recjury.store import Store
from recjury.tables import Analysis, AnalysisInput, Cell, Column, Findings, Input, table_of

_STANDINGS = (
    Column("system"),
    Column("strength"),
    Column("low", "95 % from"),
    Column("high", "to"),
    Column("wins", "wins", 0, "%"),
    Column("matches", "comparisons"),
    Column("above_next", "above the next", 1, "%"),
)
_NEXT = (Column("one"), Column("other"), Column("scenario"), Column("gain", digits=4))


class Tournament(Analysis):
    """Systems ranked by comparing what they said in the same scenarios, and what to ask next.

    The next comparison is always one that would teach most about the ranking (Bradley and Terry,
    1952). The same command continues; with more `comparisons`, it goes on.
    """

    source: ClassVar[str] = "PairEval's comparison, of systems"
    needs: ClassVar[tuple[Input, ...]] = (Input.CONFIG, Input.CAMPAIGN)
    calls: ClassVar[str] = "two for each comparison"

    model: str = Field(MAIN_MODEL, description="the model that compares, by alias")
    campaigns: Names = Field((), description="only these campaigns (default: the whole store)")
    level: Literal["turn", "dialogue"] = Field("dialogue", description="what is compared")
    comparisons: int | None = Field(None, ge=1, description="the most comparisons in all")
    until_apart: bool = Field(
        False, description="stop when all neighbours are 1.96 standard errors apart"
    )
    at_once: int = Field(8, ge=1, description="comparisons that are planned together")
    seed: int = Field(0, ge=0, description="of the order")

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of all comparisons. Raises UserError."""
        config, meetings = self._read(given)
        most = min(self.comparisons or len(meetings), len(meetings))
        return comparing(config, self.model, PairCalls(most), self.level)

    async def run(self, given: AnalysisInput) -> Findings:
        """The standings, and the comparison that would teach most next."""
        config, meetings = self._read(given)
        settings = self.model_dump(include=set(TournamentPlan.model_fields))
        plan = TournamentPlan.model_validate(settings)

        def watch(done: int, of: int) -> None:
            given.progress.at(done / max(1, of), f"{done} of {of} comparisons")

        async def do(gateway: Gateway) -> TournamentResult:
            return await run_tournament(Comparer(gateway, self.model), meetings, plan, watch)

        known = digest([[each.one, each.other, each.block, each.place] for each in meetings])
        what: dict[str, JSON] = {
            "level": self.level,
            "meetings": known,
            "prompts": PairPrompts().identity,
            "models": models_asked(config, [self.model]),
        }
        work = ModelWork("paireval tournament", what, do)
        return _findings(await do_with_models(work, config, given.store))

    def _read(self, given: AnalysisInput) -> tuple[EvaluationConfig, list[Meeting]]:
        require_ranking("a tournament")
        config = config_of(given)
        models_asked(config, [self.model])
        campaigns = self.campaigns or ((given.campaign,) if given.campaign else ())
        return config, meetings_of(_logs(given.store, campaigns), Level(self.level))


def _logs(url: str, campaigns: tuple[str, ...]) -> list[ConversationLog]:
    with Store.open(url, read_only=True) as store:
        chosen = [store.campaign(each).id for each in campaigns] if campaigns else [None]
        ids = [each.id for one in chosen for each in store.conversations(one)]
        logs = (store.log(each) for each in dict.fromkeys(ids))
        return [log for log in logs if log is not None]


def _findings(found: TournamentResult) -> Findings:
    apart = "all neighbours are" if found.are_apart else "not all neighbours are"
    notes = [
        f"{len(found.matches)} comparisons, {found.left} left; {apart} 1.96 standard errors apart "
        "(a rule to stop by, not a test)"
    ]
    if found.cut:
        notes.append(f"{found.cut} comparisons were too long, and lost their oldest turns")
    made: dict[str, Cell] = {
        "matches": len(found.matches),
        "left": found.left,
        "cut": found.cut,
        "are_apart": found.are_apart,
    }
    following = [] if found.next is None else [found.next._asdict()]
    return Findings(
        tables=(
            table_of("standings", _STANDINGS, [each._asdict() for each in found.standings]),
            table_of("next", _NEXT, following),
            table_of("comparisons", [Column(name) for name in made], [made], detail=True),
        ),
        notes=tuple(notes),
        problems=found.unscored,
    )
