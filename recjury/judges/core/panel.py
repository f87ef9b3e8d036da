"""The panel: rates twelve factors of a log at the same time, with one or several models.

With several models that rate every factor, their mean is added under the name "mean" for tables. A
debate gets the ratings of one named judge, because reasons have no mean.
"""

from collections.abc import Mapping, Sequence

from recjury.errors import ConfigError
from recjury.judges.factor_rubric import Rubric
from recjury.llm import Prompt, Question, SupportsComplete, ask_each
from recjury.records import (
    FACTOR_SCALE,
    JSON,
    MEAN,
    ConversationLog,
    Factor,
    Rating,
    RatingSubject,
    StageResult,
    Status,
)

_TAKEN = {MEAN: "the mean of several judges", "measured": "the judges without a model"}


class Panel:
    """Models that judge one factor at a time: first the reason, then the rating (CoRE, 4.1)."""

    def __init__(
        self,
        gateway: SupportsComplete,
        models: Sequence[str],
        *,
        routes: Mapping[Factor, str] | None = None,
        source_judge: str | None = None,
        rubric: Rubric | None = None,
        temperature: float = 0.0,
    ):
        """A panel of `models` (aliases), each of which rates every factor.

        With `routes`, each factor has one judge: the one given there, otherwise the first of
        `models`. The debate gets the ratings of `source_judge`, by default the first model. Raises
        ConfigError if there is no model, if one is given twice or is called "mean" or "measured",
        or if `source_judge` does not rate.
        """
        self._gateway = gateway
        self._models = tuple(models)
        self._routes = dict(routes) if routes is not None else None
        self._check(source_judge)
        self._source_judge = source_judge or self._models[0]
        self._rubric = rubric or Rubric()
        self._temperature = temperature

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The rubric's version."""
        return {"rubric": self._rubric.identity}

    @property
    def data(self) -> Mapping[str, JSON]:
        """What of the corpus the prompts show besides the log."""
        return self._rubric.data

    def questions(self, log: ConversationLog) -> list[Question | Rating]:
        """By factor and then by judge; a rating without a score if the log lacks what it needs."""
        return [
            self._question(log, factor, model)
            for factor in Factor
            for model in self._raters(factor)
        ]

    async def rate(self, log: ConversationLog) -> StageResult:
        """All ratings, by factor and then by judge; with several judges, then the twelve means.

        Raises ProviderError if the endpoint fails in a way that is not specific to this log.
        """
        ratings = await ask_each(self._gateway, self.questions(log))
        if self._routes is not None or len(self._models) == 1:
            return StageResult(ratings)
        return StageResult((*ratings, *(_mean(factor, ratings) for factor in Factor)))

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings of this panel that the debaters see: one per factor."""
        wanted = {factor: self._source_of(factor) for factor in Factor}
        return tuple(
            rating
            for factor, model in wanted.items()
            for rating in ratings
            if rating.factor == factor and rating.evaluator == model
        )

    def _question(self, log: ConversationLog, factor: Factor, model: str) -> Question | Rating:
        low, high = FACTOR_SCALE
        subject = RatingSubject(
            evaluator=model, factor=factor, low=low, high=high, rubric=self._rubric.identity
        )
        missing = self._rubric.lacks(factor, log)
        if missing:
            return subject.unscored(Status.NOT_APPLICABLE, missing)
        return Question(
            subject=subject,
            model=model,
            prompts=(Prompt(self._rubric.messages(factor, log)),),
            purpose=f"judge/{factor}",
            temperature=self._temperature,
        )

    def _raters(self, factor: Factor) -> tuple[str, ...]:
        if self._routes is None:
            return self._models
        return (self._routes.get(factor, self._models[0]),)

    def _source_of(self, factor: Factor) -> str:
        return self._source_judge if self._routes is None else self._raters(factor)[0]

    def _check(self, source_judge: str | None) -> None:
        names = (*self._models, *(self._routes or {}).values())
        if not self._models:
            raise ConfigError("a panel needs at least one model, got none: name one")
        for name in _TAKEN.keys() & names:
            raise ConfigError(f"a judge cannot be called {name!r}: this name means {_TAKEN[name]}")
        if len(set(self._models)) < len(self._models):
            raise ConfigError(f"every judge must be named once, got {', '.join(self._models)}")
        if source_judge is not None and (
            source_judge not in self._models or self._routes is not None
        ):
            raise ConfigError(
                f"feeds must name one of several judges ({', '.join(self._models)}), "
                f"got {source_judge}: with routes, the debate gets each factor's only rating"
            )


def _mean(factor: Factor, ratings: Sequence[Rating]) -> Rating:
    """The mean over the judges with a score; its rationale has each judge's score."""
    own = [rating for rating in ratings if rating.factor == factor]
    scores = [rating.score for rating in own if rating.score is not None]
    given = ", ".join(f"{r.evaluator} {'none' if r.score is None else f'{r.score:g}'}" for r in own)
    calls = tuple(call for rating in own for call in rating.calls)
    subject = RatingSubject(evaluator=MEAN, factor=factor, rubric=own[0].rubric)
    if not scores:
        reason = f"no judge gave a score: {own[0].reason}"
        return subject.unscored(own[0].status, reason, calls=calls)
    return subject.scored(sum(scores) / len(scores), given, calls=calls)
