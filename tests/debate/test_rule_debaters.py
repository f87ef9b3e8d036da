"""The rule of the debaters without a model, and the round loop around it."""

import asyncio

import pytest

from recjury.debate import RULE, RuleDebaters, run_debate
from recjury.records import (
    ConversationLog,
    DebateTranscript,
    Factor,
    Rating,
    Role,
    Speaker,
    Status,
    Turn,
    Verdict,
)
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


def opening(ratings: tuple[Rating, ...]) -> list[float | None]:
    """The four scores of the first round."""
    transcript, _ = debate(ratings)
    return [statement.score for statement in transcript.of_round(1)]


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (4, [88, 86, 75, 93]),
        (3, [50, 65, 56, 70]),
        (2, [33, 44, 38, 47]),
        (1, [17, 22, 19, 23]),
        (0, [0, 0, 0, 0]),
    ],
)
def test_what_equal_factors_mean_to_the_roles(score: float, expected: list[float]) -> None:
    """Nothing wrong with the language is worth 75; without a target, 3 of 4 is worth 45."""
    transcript, _ = debate(ratings_of(score))
    assert opening(ratings_of(score)) == expected
    assert len(transcript.of_round(1)) == 4
    assert {s.speaker for s in transcript.statements} == {RULE}


def with_scores(**scores: float) -> tuple[Rating, ...]:
    """All factors at 3, but for those named (with "_" for a space)."""
    return tuple(
        rating.model_copy(update={"score": scores.get(rating.factor.replace(" ", "_"), 3)})
        for rating in ratings_of()
    )


def test_a_bad_factor_weighs_more_than_a_good_one() -> None:
    transcript, _ = debate(with_scores(Effectiveness=4, Recoverability=4, Coherence=0))
    first = transcript.of_round(1)[0]
    # Values 1, 0.75 and 0 with weights 4 * 1, 1 * 1.25 and 2 * 2: 4.9375 of 9.25.
    assert (first.role, first.score) == (Role.COMMON_USER, 53)
    assert "Coherence 0 of 4; Effectiveness weighs most" in first.text


def test_a_served_user_raises_the_verdict_most() -> None:
    """Of all single factors, a target in the list changes the verdict most, by 20 points."""
    base = debate(with_scores())[1].score
    gains = {
        factor: (debate(with_scores(**{factor.replace(" ", "_"): 4}))[1].score or 0) - (base or 0)
        for factor in Factor
    }
    assert max(gains, key=lambda factor: gains[factor]) is Factor.EFFECTIVENESS
    assert gains[Factor.EFFECTIVENESS] > 10
    assert all(gain >= 0 for gain in gains.values())


def test_the_common_user_moves_the_others_more_than_it_moves() -> None:
    ratings = tuple(
        r.model_copy(update={"score": 4 if r.factor in Role.COMMON_USER.factors else 0})
        for r in ratings_of()
    )
    transcript, verdict = debate(ratings)
    scores = [[s.score for s in transcript.of_round(n)] for n in range(1, 5)]
    # The user moves by an eighth; it is three of the five voices that the others hear.
    assert scores[:2] == [[88, 0, 0, 0], [77, 26, 26, 26]]
    assert scores[3] == [67, 50, 50, 50]
    assert (verdict.score, verdict.agreed, verdict.rounds) == (54.25, False, 4)


def of_people(*replies: str) -> ConversationLog:
    """A log without a target, whose user says these after the system's first turn."""
    log = a_log(targets=())
    said = tuple(Turn(speaker=Speaker.USER, text=text) for text in replies)
    return log.model_copy(update={"interaction": (*log.interaction[:1], *said)})


def test_without_targets_what_the_user_said_counts() -> None:
    openings = {}
    for reply in ("I'll watch it, thanks!", "Hm.", "That is not what I asked for. Stop!"):
        transcript, _ = asyncio.run(run_debate(of_people(reply), ratings_of(2), RuleDebaters()))
        openings[reply] = [statement.score for statement in transcript.of_round(1)]
    taken, unclear, refused = openings.values()
    assert (taken[0], unclear[0], refused[0]) == (50, 39, 30)
    assert taken[1:] == unclear[1:] == refused[1:] == [44, 38, 47]


def test_a_debater_says_what_the_user_said() -> None:
    transcript, _ = asyncio.run(run_debate(of_people("Great idea!"), ratings_of(4), RuleDebaters()))
    user, expert = transcript.of_round(1)[:2]
    assert "Of the user's replies 1 takes a suggestion, 0 refuse." in user.text
    assert "replies" not in expert.text


def test_without_targets_and_replies_all_roles_move_alike() -> None:
    """Then the Common User is one of four."""
    ratings = tuple(
        r.model_copy(update={"score": 4 if r.factor in Role.COMMON_USER.factors else 0})
        for r in ratings_of()
    )
    transcript, _ = asyncio.run(run_debate(of_people(), ratings, RuleDebaters(), max_rounds=2))
    assert [s.score for s in transcript.of_round(2)] == [44, 15, 15, 15]


def test_near_roles_agree_before_the_limit() -> None:
    transcript, verdict = debate(with_scores(Effectiveness=4), rounds=40)
    assert verdict.agreed
    assert 1 < verdict.rounds < 40
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
    assert (verdict.spoke, verdict.agreed) == (3, False)


def test_unscored_factors_are_left_out_of_the_weighing() -> None:
    ratings = tuple(
        unscored(Factor.COHERENCE) if r.factor == "Coherence" else r for r in ratings_of(4)
    )
    transcript, _ = debate(ratings)
    # 1 and 0.75 with weights 4 and 1.25.
    assert transcript.statements[0].score == 94
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
    assert (verdict.score, verdict.spoke, verdict.rounds, verdict.agreed) == (56, 1, 1, False)


def test_the_transcript_names_log_judges_and_protocol() -> None:
    transcript, _ = debate(ratings_of(evaluator="measured"))
    assert transcript.log == a_log().id
    assert transcript.judges == ("measured",)
    assert transcript.protocol == RuleDebaters().protocol == RuleDebaters().settings["protocol"]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 round"):
        debate(ratings_of(), rounds=0)
