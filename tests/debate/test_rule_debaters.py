"""The rule of the debaters without a model, and the round loop around it."""

import asyncio

import pytest

from recjury.debate import RULE, RuleDebaters, run_debate
from recjury.records import DebateTranscript, Factor, Rating, Role, Status, Verdict
from tests.judges.cases import a_log, ratings_of


def debate(ratings: tuple[Rating, ...], rounds: int = 4) -> tuple[DebateTranscript, Verdict]:
    return asyncio.run(run_debate(a_log(), ratings, RuleDebaters(), max_rounds=rounds))


def unscored(factor: Factor) -> Rating:
    return Rating(
        evaluator="measured",
        factor=factor,
        score=None,
        status=Status.NOT_MEASURED,
        reason="no catalogue",
    )


@pytest.mark.parametrize(("score", "expected"), [(4, 100), (3, 75), (2, 50), (1, 25), (0, 0)])
def test_equal_factors_agree_at_once(score: float, expected: float) -> None:
    transcript, verdict = debate(ratings_of(score))
    assert (verdict.score, verdict.agreed, verdict.rounds, verdict.spoke) == (expected, True, 1, 4)
    assert len(transcript.statements) == 4
    assert {s.speaker for s in transcript.statements} == {RULE}


def test_a_bad_factor_weighs_more_than_a_good_one() -> None:
    ratings = tuple(
        r.model_copy(update={"score": 0}) if r.factor == Factor.COHERENCE else r
        for r in ratings_of(4)
    )
    transcript, _ = debate(ratings)
    first = transcript.of_round(1)[0]
    # Shares 1, 1 and 0 with weights 1, 1 and 2.
    assert (first.role, first.score) == (Role.COMMON_USER, 50)
    assert "Coherence 0 of 4; Coherence weighs most" in first.text


def test_each_role_moves_half_the_way_to_the_mean_of_the_others() -> None:
    ratings = tuple(
        r.model_copy(update={"score": 4 if r.factor in Role.COMMON_USER.factors else 0})
        for r in ratings_of()
    )
    transcript, verdict = debate(ratings)
    scores = [[s.score for s in transcript.of_round(n)] for n in range(1, 5)]
    assert scores[0] == [100, 0, 0, 0]
    # Half of (0 - 100), and half of (33.3 - 0) rounded.
    assert scores[1] == [50, 17, 17, 17]
    assert scores[2] == [33, 23, 23, 23]
    assert scores[3] == [28, 25, 25, 25]
    assert verdict.score == 25.75
    assert not verdict.agreed
    assert verdict.rounds == 4


def test_near_roles_agree_before_the_limit() -> None:
    ratings = tuple(
        r.model_copy(update={"score": 2.4 if r.factor in Role.LINGUIST.factors else 2.2})
        for r in ratings_of()
    )
    transcript, verdict = debate(ratings, rounds=10)
    assert verdict.agreed
    assert 1 < verdict.rounds < 10
    assert len(transcript.statements) == 4 * verdict.rounds


def test_a_debate_is_deterministic() -> None:
    ratings = tuple(r.model_copy(update={"score": n % 5}) for n, r in enumerate(ratings_of()))
    assert debate(ratings) == debate(ratings)


def test_a_role_without_a_scored_factor_abstains() -> None:
    ratings = tuple(
        unscored(Factor(r.factor)) if r.factor in Role.DOMAIN_EXPERT.factors else r
        for r in ratings_of(3)
    )
    transcript, verdict = debate(ratings)
    silent = transcript.of_round(1)[1]
    assert (silent.role, silent.score, silent.status) == (
        Role.DOMAIN_EXPERT,
        None,
        Status.ABSTAINED,
    )
    assert (verdict.score, verdict.spoke, verdict.agreed) == (75, 3, True)


def test_unscored_factors_are_left_out_of_the_weighing() -> None:
    ratings = tuple(
        unscored(Factor.COHERENCE) if r.factor == "Coherence" else r for r in ratings_of(4)
    )
    transcript, _ = debate(ratings)
    assert transcript.statements[0].score == 100
    assert "Coherence" not in transcript.statements[0].text


def test_nobody_speaks_when_nothing_is_scored() -> None:
    transcript, verdict = debate(tuple(map(unscored, Factor)))
    assert (verdict.score, verdict.status, verdict.spoke, verdict.rounds) == (
        None,
        Status.ABSTAINED,
        0,
        1,
    )
    assert not verdict.agreed
    assert len(transcript.statements) == 4


def test_one_voice_ends_the_debate_without_agreement() -> None:
    ratings = tuple(
        r if r.factor in Role.LINGUIST.factors else unscored(Factor(r.factor))
        for r in ratings_of(3)
    )
    _, verdict = debate(ratings)
    assert (verdict.score, verdict.spoke, verdict.rounds, verdict.agreed) == (75, 1, 1, False)


def test_the_transcript_names_log_judges_and_protocol() -> None:
    transcript, _ = debate(ratings_of(evaluator="measured"))
    assert transcript.log == a_log().id
    assert transcript.judges == ("measured",)
    assert transcript.protocol == RuleDebaters().protocol == RuleDebaters().settings["protocol"]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 round"):
        debate(ratings_of(), rounds=0)
