"""`Criterion`: what is rated. CoRE's factors, aspects and rubrics of one's own are one thing."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from recjury.judges.evaluator import not_applicable, rating_of
from recjury.llm import Ask
from recjury.llm.prompts import (
    Facts,
    Pack,
    items_block,
    list_block,
    numbers_of,
    turns_block,
    wishes_block,
)
from recjury.mistakes import Mistake, made
from recjury.records import (
    ConversationLog,
    ItemRef,
    Level,
    Message,
    Metric,
    ModelName,
    Rating,
    Record,
)

Input = Literal["list", "target", "dimensions"]
Lists = Literal["all", "named"]
"""Which prompts show the session's list: all, or those whose criterion names it."""


def _each_once(judges: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(judges)) < len(judges):
        raise ValueError(f"each judge is named once, got {', '.join(judges)}")
    return judges


Judges = Annotated[
    tuple[ModelName, ...],
    Field(min_length=1),
    BeforeValidator(lambda names: (names,) if isinstance(names, str) else names),
    AfterValidator(_each_once),
]
"""The models that rate; one may stand alone."""


class Criterion(Record):
    """What is rated: definition, anchors, steps, scale, level.

    `inputs` are shown besides the conversation: the session's list and the targets, which are
    needed, and the dimensions of the domain, if they are known. With `between`, whole numbers
    without an anchor may be given, too.
    """

    name: str
    definition: str
    anchors: dict[int, str]
    steps: tuple[str, ...] = ()
    scale: tuple[int, int] = (0, 4)
    level: Level = Level.DIALOGUE
    inputs: tuple[Input, ...] = ()
    between: bool = False

    @model_validator(mode="after")
    def _scale_without_a_hole(self) -> Self:
        low, high = self.scale
        if low >= high:
            raise ValueError(f"the scale goes from the lowest to the highest, got {low} to {high}")
        scores = range(low, high + 1)
        if outside := sorted(self.anchors.keys() - scores):
            raise ValueError(f"the anchor {outside[0]} is not on the scale, {low} to {high}")
        bare = [score for score in scores if score not in self.anchors]
        if bare and not self.between:
            raise ValueError(f"{bare[0]} has no anchor: add one, or say `between: true`")
        return self

    @property
    def metric(self) -> Metric:
        """The metric; its name is the id ("semantic_relevance")."""
        low, high = self.scale
        id_ = self.name.lower().replace(" ", "_")
        return Metric(name=id_, title=self.name, low=low, high=high, level=self.level)

    def lacks(self, log: ConversationLog, turn: int | None = None) -> str:
        """Why it cannot be rated here, or nothing."""
        rated = log.interaction if turn is None else (log.interaction[turn],)
        if not any(each.speaker == "system" and not each.failure for each in rated):
            return "the system gave no usable answer"
        if "list" in self.inputs and not listed(log, turn):
            return "no item was found in what the system said" if log.linked else "there is no list"
        if "target" in self.inputs and not log.scenario.targets:
            return "the scenario has no target"
        return ""


def listed(log: ConversationLog, turn: int | None = None) -> tuple[ItemRef, ...]:
    """The list that is rated: the session's, or that of the turn at an index."""
    return log.session_list if turn is None else log.interaction[turn].items


def criteria_of(pack: Pack) -> tuple[Criterion, ...]:
    """The criteria of a pack's manifest, in its order. Raises UserError for a mistake in it."""
    factors = pack.manifest.get("factors")
    if not isinstance(factors, Mapping):
        raise pack.error((), "`factors` is wanted: a mapping of names to guidelines")
    return tuple(_criterion(pack, name, guide) for name, guide in factors.items())


def _criterion(pack: Pack, name: str, guide: Any) -> Criterion:
    if not isinstance(guide, Mapping):
        raise pack.error(("factors", name), "a guideline is wanted: definition, anchors, steps")
    shared = {"scale": pack.manifest["scale"]} if "scale" in pack.manifest else {}
    own = {key: value for key, value in guide.items() if key != "dimension"}
    try:
        return made(Criterion, {"name": name} | shared | own)
    except Mistake as mistake:
        raise pack.error(("factors", name, *mistake.keys), mistake.message) from None


class JudgePrompts(NamedTuple):
    """How a pack asks for ratings.

    `facts` is what lists say of items, for packs that show it; `language` is the one to write in,
    by default that of the conversation; `dimensions` are those in which items may differ.
    """

    pack: Pack
    facts: Facts | None = None
    lists: Lists | None = None
    language: str = ""
    dimensions: Sequence[str] = ()

    def render(self, criterion: Criterion, log: ConversationLog) -> list[Message]:
        """The prompt for one rating, in parts: what many prompts share is stored once."""
        facts = self.facts if self.pack.manifest.get("annotated") else None
        lists = self.lists or self.pack.manifest.get("lists", "named")
        scenario, (low, high) = log.scenario, criterion.scale
        items = log.session_list if "list" in criterion.inputs or lists == "all" else ()
        targets = scenario.targets if "target" in criterion.inputs else ()
        question = self.pack.render(
            "judge",
            factor=criterion.name,
            guide=criterion,
            history=turns_block("history", scenario.history),
            interaction=turns_block("interaction", log.interaction),
            items=list_block(items, facts, linked=log.linked) if items else None,
            facts=facts is not None,
            targets=items_block("target", targets, facts) if targets else None,
            places=numbers_of(targets, items),
            wishes=wishes_block(scenario.wishes) if scenario.wishes else None,
            dimensions=self.dimensions if "dimensions" in criterion.inputs else (),
            language=self.language,
            low=low,
            high=high,
        )
        return [Message("system", self.pack.render("system")), Message("user", question)]


async def judge(
    criterion: Criterion,
    log: ConversationLog,
    ask: Ask,
    *,
    model: str,
    prompts: JudgePrompts,
    temperature: float = 0.0,
) -> Rating:
    """One judge's rating of one criterion, or the reason why there is none. Raises Stop."""
    metric = criterion.metric.name
    if missing := criterion.lacks(log):
        return rating_of(metric, model, not_applicable(missing))
    said = await ask.rating(
        prompts.render(criterion, log),
        criterion.scale,
        model=model,
        purpose="judge",
        temperature=temperature,
    )
    return rating_of(metric, model, said)
