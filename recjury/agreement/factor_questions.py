"""CoRE's four questions (section 5), asked of what judges and people said."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.agreement import factors as work
from recjury.agreement.agreement import AspectAgreement
from recjury.agreement.factor_scores import JudgedFactors
from recjury.agreement.factors import BestJudge, MeanScore, NamedCoupling
from recjury.agreement.label_sets import LabelSet
from recjury.errors import ConfigError


class FactorAnswers(NamedTuple):
    """What was found for each question; empty or None where nothing can be said.

    `coupling` is by judge and for people (RQ1), `agreement` and `best` by factor (RQ2), `overall`
    is about people's overall score (RQ3), and `systems` has each system's factors and roles (RQ4).
    """

    coupling: Mapping[str, NamedCoupling]
    agreement: Mapping[str, AspectAgreement]
    best: Mapping[str, BestJudge]
    overall: AspectAgreement | None
    systems: Mapping[str, Mapping[str, MeanScore]]


def answer_questions(
    judged: JudgedFactors | None,
    people: LabelSet | None,
    *,
    resamples: int = 1_000,
    seed: int = 0,
) -> FactorAnswers:
    """What judges and people say, or only one of the two.

    Raises ConfigError if both are given, and people rated no conversations of a store, and
    DataError as `factor_agreement`.
    """
    coupled: dict[str, NamedCoupling | None] = {}
    if people is not None:
        subsets = dict.fromkeys(people.subsets.values())
        for subset in (None, *(subsets if len(subsets) > 1 else ())):
            own = {
                aspect: {
                    place: label
                    for place, label in given.items()
                    if subset is None or people.subsets[place.conversation] == subset
                }
                for aspect, given in work.people_factors(people).items()
            }
            name = "people" if subset is None else f"people, {subset}"
            coupled[name] = work.couple(own, people.clusters, resamples=resamples, seed=seed)
    for judge, scores in ({} if judged is None else judged.judges).items():
        assert judged is not None
        coupled[judge] = work.couple(scores, judged.records, resamples=resamples, seed=seed)
    known = {name: each for name, each in coupled.items() if each is not None}
    if judged is None:
        return FactorAnswers(known, {}, {}, None, {})
    usual = work.usual_judge(judged)
    if people is None:
        return FactorAnswers(known, {}, {}, None, work.system_scores(judged, usual))
    if not people.by_log:
        raise ConfigError(
            "labels of a store's conversations are needed (annotations:FILE); for how other "
            "people's labels move together, add --people-only"
        )
    agreement = work.factor_agreement(judged, people, resamples=resamples, seed=seed)
    best = work.best_judges(judged, people, agreement)
    overall = work.overall_agreement(judged, people, resamples=resamples, seed=seed)
    chosen = {**usual, **{factor: each.judge for factor, each in best.items()}}
    return FactorAnswers(known, agreement, best, overall, work.system_scores(judged, chosen))
