"""`Criterion`: what is rated. CoRE's factors, aspects and rubrics of one's own are one thing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from recjury.corpora import Domain
from recjury.judges.evaluator import Evaluator
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Answer, Ask, Score, gather
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
    Finding,
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
        subject = Subject(log, turn)
        if not any(turn.speaker == "system" and not turn.failure for turn in subject.rated):
            return "the system gave no usable answer"
        if "list" in self.inputs and not subject.items:
            return "no item was found in what the system said" if log.linked else "there is no list"
        if "target" in self.inputs and not log.scenario.targets:
            return "the scenario has no target"
        return ""


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


def question(
    pack: Pack,
    criterion: Criterion,
    subject: Subject,
    *,
    facts: Facts,
    domain: Domain | None = None,
    lists: Lists | None = None,
    language: str = "",
) -> list[Message]:
    """The prompt for one rating, in parts: what many prompts share is stored once.

    `facts` is what lists say of items, for packs that show it; `language` is the one to write in,
    by default that of the conversation.
    """
    log, blocks, (low, high) = subject.log, subject.blocks, criterion.scale
    scenario, is_annotated = log.scenario, bool(pack.manifest.get("annotated"))
    shows_all = (lists or pack.manifest.get("lists", "named")) == "all"
    known = facts if is_annotated else None
    items = subject.items if shows_all or "list" in criterion.inputs else ()
    targets = scenario.targets if "target" in criterion.inputs else ()
    asked = pack.render(
        "judge",
        **blocks
        | {"before": blocks["history"], "history": turns_block("history", scenario.history)},
        interaction=turns_block("interaction", log.interaction),
        factor=criterion.name,
        guide=criterion,
        level=str(criterion.level),
        items=list_block(items, known, linked=log.linked) if items else None,
        facts=is_annotated,
        targets=items_block("target", targets, known) if targets else None,
        places=numbers_of(targets, items),
        wishes=wishes_block(scenario.wishes) if scenario.wishes else None,
        dimensions=domain.dimensions if domain and "dimensions" in criterion.inputs else (),
        language=language,
        low=low,
        high=high,
    )
    return [Message("system", pack.render("system")), Message("user", asked)]


class CriteriaEvaluator(Evaluator):
    """Models rate criteria, each for the log or for each of its system turns."""

    temperature: float = Field(default=0.0, ge=0, le=2)

    @property
    def purpose(self) -> str:
        """What calls are for."""
        return "judge"

    @property
    def replies(self) -> int:
        """How many replies a score is the mean of."""
        return 1

    def raters(self) -> Iterable[tuple[Criterion, str]]:
        """Each criterion with each model that rates it."""
        raise NotImplementedError

    def prompt(self, criterion: Criterion, subject: Subject) -> list[Message]:
        """What a model is asked."""
        raise NotImplementedError

    def lacks(self, criterion: Criterion, subject: Subject) -> str:
        """Why nobody can rate it, or nothing."""
        return criterion.lacks(subject.log, subject.turn)

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """By criterion, then by model, then by turn. Raises Stop."""
        return await gather(
            self._rating(criterion, subject, model, ask)
            for criterion, model in self.raters()
            for subject in subjects(log, criterion.level)
        )

    async def _rating(self, criterion: Criterion, subject: Subject, model: str, ask: Ask) -> Rating:
        metric = criterion.metric.name
        if missing := self.lacks(criterion, subject):
            return subject.not_applicable(metric, model, missing)
        return subject.rating(metric, model, await self.answer(criterion, subject, model, ask))

    async def answer(
        self, criterion: Criterion, subject: Subject, model: str, ask: Ask
    ) -> Answer[Score]:
        """A model's score: the mean of `replies`. Raises Stop."""
        return await ask.rating(
            self.prompt(criterion, subject),
            criterion.scale,
            model=model,
            purpose=self.purpose,
            samples=self.replies,
            temperature=self.temperature,
        )
