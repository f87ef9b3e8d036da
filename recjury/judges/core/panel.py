"""The panel: rates twelve factors of a log at the same time, with one or several models.

With several models that rate every factor, their mean is added under the name "mean" for tables. A
debate gets the ratings of one named judge, because reasons have no mean.
"""

from collections.abc import Mapping, Sequence

from recjury.errors import ConfigError
from recjury.judges.core.factor_judge import FactorJudge
from recjury.judges.core.rubric import Rubric
from recjury.llm import Gateway, gather
from recjury.records import JSON, MEAN, ConversationLog, Factor, Rating, Status

_TAKEN = {MEAN: "the mean of several judges", "measured": "the judges without a model"}


class Panel:
    """Twelve factor judges as one evaluator."""

    def __init__(
        self,
        gateway: Gateway,
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
        self._models = tuple(models)
        self._routes = dict(routes) if routes is not None else None
        self._check(source_judge)
        self._source_judge = source_judge or self._models[0]
        self._rubric = rubric or Rubric()
        self._judges = {
            model: FactorJudge(gateway, model, self._rubric, temperature=temperature)
            for model in (*self._models, *(self._routes or {}).values())
        }

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change its ratings, and which of them the debate gets."""
        first = self._judges[self._models[0]].settings
        routes = None if self._routes is None else {str(f): m for f, m in self._routes.items()}
        return {**first, "model": self._models, "routes": routes, "feeds": self._source_judge}

    @property
    def data(self) -> Mapping[str, JSON]:
        """What of the corpus the prompts show besides the log."""
        return self._rubric.data

    async def rate(self, log: ConversationLog) -> tuple[Rating, ...]:
        """All ratings, by factor and then by judge; with several judges, then the twelve means."""
        asked = [(factor, model) for factor in Factor for model in self._raters(factor)]
        ratings = await gather(self._judges[model].rate(log, factor) for factor, model in asked)
        if self._routes is not None or len(self._models) == 1:
            return tuple(ratings)
        return (*ratings, *(_mean(factor, ratings) for factor in Factor))

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings of this panel that the debaters see: one per factor."""
        wanted = {factor: self._source_of(factor) for factor in Factor}
        return tuple(
            rating
            for factor, model in wanted.items()
            for rating in ratings
            if rating.factor == factor and rating.evaluator == model
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
    return Rating(
        evaluator=MEAN,
        factor=factor,
        score=sum(scores) / len(scores) if scores else None,
        status=Status.SCORED if scores else own[0].status,
        reason="" if scores else f"no judge gave a score: {own[0].reason}",
        rationale=given,
        rubric=own[0].rubric,
        calls=tuple(call for rating in own for call in rating.calls),
    )
