"""CoRE: twelve factors, each rated by a model (section 4.1), and their debate (4.2)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from recjury.debate import DebateSettings, RolePrompts, run_debate
from recjury.files import nearest
from recjury.judges.criterion import (
    CriteriaEvaluator,
    Criterion,
    Judges,
    Lists,
    criteria_of,
    question,
)
from recjury.judges.subjects import Subject
from recjury.llm import Ask
from recjury.llm.prompts import pack
from recjury.records import (
    ConversationLog,
    Debate,
    Finding,
    Message,
    Metric,
    ModelName,
    PackName,
    Rating,
    Statement,
    ratings_of,
    shipped_in,
)

PACKS = ("core", "core-paper")


class Core(CriteriaEvaluator):
    """Rates twelve factors from 0 to 4 with each of `judges`, and debates them.

    `prompts` is `core`, `core-paper`, or a folder; the debate has the pack of the same name.
    `routes` gives a factor one judge of its own. The debate gets the scores of the judge that
    `feeds` it, by default the first; without a debate there is no verdict.
    """

    RENDERING: ClassVar[int] = 2

    kind: Literal["core"] = "core"
    prompts: Annotated[PackName, AfterValidator(shipped_in("judges", *PACKS))] = "judges/core"
    judges: Judges = ("main",)
    routes: dict[str, ModelName] = Field(default_factory=dict)
    feeds: ModelName = ""
    lists: Lists | None = None
    language: str = ""
    debate: DebateSettings | None = DebateSettings()

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, values: Any) -> Any:
        """The debate has the judges' pack, and the judge that feeds speaks."""
        if not isinstance(values, Mapping) or isinstance(values.get("debate"), DebateSettings):
            return values
        judges = values.get("judges", ("main",))
        judges = [judges] if isinstance(judges, str) else judges
        first = judges[0] if isinstance(judges, list | tuple) and judges else ""
        filled = {**values, "judges": judges, "feeds": values.get("feeds") or first}
        debate = values.get("debate", {})
        if debate is False:
            filled["debate"] = None
        if isinstance(debate, Mapping):
            shared = {"prompts": values["prompts"]} if values.get("prompts") in PACKS else {}
            filled["debate"] = {"model": filled["feeds"], **shared, **debate}
        return filled

    @model_validator(mode="after")
    def _routes_are_factors(self) -> "Core":
        names = [criterion.name for criterion in self.criteria]
        for factor in self.routes:
            if factor not in names:
                near = nearest(factor, names)
                raise ValueError(f"there is no factor {factor!r}{near}: {', '.join(names)}")
        if self.feeds not in self.judges:
            raise ValueError(f"`feeds` names one of the judges, got {self.feeds!r}")
        return self

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The factors of the pack."""
        return criteria_of(pack(self.prompts))

    @property
    def metrics(self) -> Sequence[Metric]:
        """The twelve factors, and `overall` if there is a debate."""
        overall = [Metric(name="overall", title="Overall", high=100)] if self.debate else []
        return [*(criterion.metric for criterion in self.criteria), *overall]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """All ratings, by factor and then by judge, and the debate. Raises Stop."""
        ratings = ratings_of(await super().rate(log, ask))
        if self.debate is None:
            return ratings
        return [*ratings, await self.debated(log, ratings, ask, self.debate)]

    async def debated(
        self,
        log: ConversationLog,
        ratings: Sequence[Rating],
        ask: Ask,
        settings: DebateSettings,
        opening: Sequence[Statement] = (),
    ) -> Debate:
        """The debate over the ratings of the judge that feeds it, after `opening`."""
        routed = {_id(factor): model for factor, model in self.routes.items()}
        own = [each for each in ratings if each.rater == routed.get(each.metric, self.feeds)]
        facts, domain = self.catalogue(log.scenario).facts, self.domain(log.scenario)
        expert = domain.expert.model_dump() if domain and domain.expert else None
        prompts = RolePrompts(
            pack(settings.prompts),
            log,
            own,
            facts=facts,
            expert=expert,
            lists=self.lists,
            language=self.language,
        )
        return await run_debate(prompts, ask, settings, opening)

    def raters(self) -> Iterable[tuple[Criterion, str]]:
        """Each factor with each judge, or with that of its route."""
        for criterion in self.criteria:
            route = self.routes.get(criterion.name)
            for model in (route,) if route else self.judges:
                yield criterion, model

    def prompt(self, criterion: Criterion, subject: Subject) -> list[Message]:
        """The factor, the conversation, and what the factor's inputs name."""
        scenario = subject.log.scenario
        return question(
            pack(self.prompts),
            criterion,
            subject,
            facts=self.catalogue(scenario).facts,
            domain=self.domain(scenario),
            lists=self.lists,
            language=self.language,
        )


def _id(factor: str) -> str:
    return factor.lower().replace(" ", "_")
