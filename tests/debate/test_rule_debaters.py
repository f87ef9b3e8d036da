"""The debaters without a model: where they begin, how they move, what they say."""

import asyncio
import random
from collections.abc import Iterable, Sequence

import pytest

from recjury.debate import RULE, RatedLog, RuleDebaters, mean_of_round, overall, run_debate
from recjury.debate.opinions import AGREEMENT_DISTANCE, Opinion, moved
from recjury.debate.rule_debaters import rule_statement
from recjury.records import (
    Debate,
    Evidence,
    Factor,
    ItemRef,
    Rating,
    Role,
    Speaker,
    Statement,
    Status,
    Turn,
)
from tests.judges.cases import a_log, ratings_of

SAID = ("I would watch Ronin.", "Ronin is a film.", "Ronin again.")
SEEDS = range(200)


def debate(ratings: Sequence[Rating], evidence: Sequence[Evidence] = (), rounds: int = 4) -> Debate:
    rated = RatedLog(a_log(*SAID), ratings, evidence)
    return asyncio.run(run_debate(rated, RuleDebaters(), max_rounds=rounds))


def unscored(factor: Factor) -> Rating:
    return Rating(
        evaluator="measured",
        factor=factor,
        score=None,
        status=Status.NOT_MEASURED,
        reason="no catalogue",
    )


def rated_by_role(scores: dict[Role, float | None]) -> tuple[Rating, ...]:
    """The same score for a role's three factors; None for none."""
    by_factor = {factor: score for role, score in scores.items() for factor in role.factors}
    return tuple(
        unscored(Factor(each.factor))
        if by_factor[Factor(each.factor)] is None
        else each.model_copy(update={"score": by_factor[Factor(each.factor)]})
        for each in ratings_of()
    )


def findings(role: Role, count: int, turn: int = 0) -> list[Evidence]:
    """Evidence for the role's first factor."""
    return [Evidence(factor=role.factors[0], label=f"finding {n}", turn=turn) for n in range(count)]


def scores_of(statements: Iterable[Statement]) -> list[float | None]:
    return [statement.score for statement in statements]


def drawn(seed: int) -> tuple[list[Rating], list[Evidence]]:
    """Any scores, some missing, and up to 30 findings."""
    lot = random.Random(seed)
    ratings = [
        unscored(Factor(each.factor))
        if lot.random() < 0.3
        else each.model_copy(update={"score": lot.randint(0, 4)})
        for each in ratings_of()
    ]
    evidence = [
        Evidence(factor=lot.choice(list(Factor)), label="said", turn=lot.choice([None, 0, 1, 4]))
        for _ in range(lot.randint(0, 30))
    ]
    return ratings, evidence


def test_a_role_begins_with_the_plain_mean_of_its_factors() -> None:
    for score in range(5):
        assert scores_of(debate(ratings_of(score)).transcript.of_round(1)) == [25 * score] * 4
    mixed = dict(zip(Role.LINGUIST.factors, (4, 1, 0), strict=True))
    ratings = [
        each.model_copy(update={"score": mixed.get(Factor(each.factor), 2)})
        for each in ratings_of()
    ]
    assert scores_of(debate(ratings).transcript.of_round(1)) == [50, 50, 42, 50]


def test_unscored_factors_are_left_out_of_the_mean() -> None:
    ratings = [
        unscored(Factor.COHERENCE) if each.factor == Factor.COHERENCE else each
        for each in ratings_of(4)
    ]
    first = debate(ratings).transcript.statements[0]
    assert first.score == 100
    assert "Coherence" not in first.text


@pytest.mark.parametrize("seed", SEEDS)
def test_what_every_debate_by_rule_has(seed: int) -> None:
    """The verdict lies among the first scores; rounds are bounded; shuffled, all is the same."""
    ratings, evidence = drawn(seed)
    rounds = seed % 6 + 1
    found = debate(ratings, evidence, rounds)
    transcript, verdict = found
    assert found == debate(ratings, evidence, rounds)
    assert transcript.rounds == verdict.rounds <= rounds
    first = [score for score in scores_of(transcript.of_round(1)) if score is not None]
    assert verdict.spoke == len(first)
    assert (verdict.score is None) == (len(first) < 2)
    if verdict.score is not None:
        assert min(first) <= verdict.score <= max(first)
    last = [score for score in scores_of(transcript.of_round(verdict.rounds)) if score is not None]
    near = len(last) > 1 and max(last) - min(last) <= AGREEMENT_DISTANCE
    assert verdict.agreed == near
    assert {statement.speaker for statement in transcript.statements} == {RULE}
    lot = random.Random(seed)
    shuffled = lot.sample(ratings, len(ratings)), lot.sample(evidence, len(evidence))
    assert scores_of(debate(*shuffled, rounds).transcript.statements) == scores_of(
        transcript.statements
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_the_roles_does_not_matter(seed: int) -> None:
    lot = random.Random(seed)
    others = [Opinion(lot.randint(0, 100), lot.randint(0, 9), 9) for _ in range(3)]
    own = lot.randint(0, 100)
    assert len({moved(own, lot.sample(others, 3)) for _ in range(6)}) == 1
    ratings, evidence = drawn(seed)
    rated = RatedLog(a_log(*SAID), ratings, evidence)
    said = debate(ratings, evidence).transcript.of_round(1)
    for role in (statement.role for statement in said if statement.score is not None):
        found = {rule_statement(role, 2, rated, lot.sample(said, 4)).score for _ in range(4)}
        assert len(found) == 1


@pytest.mark.parametrize("score", [0.0, 33.0, 50.5, 100.0])
def test_equal_scores_do_not_move(score: float) -> None:
    assert moved(score, [Opinion(score, 3, 7), Opinion(score, 0, 7), Opinion(score, 7, 7)]) == score


def test_who_cites_more_turns_moves_the_others_further() -> None:
    scores: dict[Role, float | None] = dict.fromkeys(Role, 2)
    ratings = rated_by_role({**scores, Role.LINGUIST: 0, Role.HCI_EXPERT: 4})
    moves = [
        debate(ratings, evidence, rounds=2).transcript.of_round(2)[0].score
        for evidence in (
            [],
            findings(Role.LINGUIST, 9, turn=1),  # a user's turn
            findings(Role.LINGUIST, 1),
            findings(Role.LINGUIST, 9),
            [each for turn in (0, 2, 4) for each in findings(Role.LINGUIST, 1, turn)],
        )
    ]
    # Halfway from 50 to 50, 45 and 37.5: findings in all three turns double the weight.
    assert moves == [50, 50, 47, 47, 44]


def test_evidence_without_a_turn_of_the_log_or_of_an_unscored_factor_does_not_count() -> None:
    ratings = rated_by_role({**dict.fromkeys(Role, 2.0), Role.LINGUIST: 0, Role.HCI_EXPERT: None})
    idle = [
        *(Evidence(factor=Factor.NATURALNESS, label="said", turn=turn) for turn in (None, 6)),
        *findings(Role.HCI_EXPERT, 4),
    ]
    assert debate(ratings, idle) == debate(ratings)


def test_a_role_without_a_scored_factor_says_so_and_only_listens() -> None:
    scores: dict[Role, float | None] = {**dict.fromkeys(Role, 1.0), Role.COMMON_USER: 4}
    with_expert = debate(rated_by_role({**scores, Role.DOMAIN_EXPERT: None}))
    silent = [each for each in with_expert.transcript.statements if each.role is Role.DOMAIN_EXPERT]
    assert {(each.score, each.status) for each in silent} == {(None, Status.ABSTAINED)}
    assert "none of its three factors has a score" in silent[0].reason
    assert with_expert.verdict.spoke == 3


def test_roles_that_are_near_agree_before_the_limit() -> None:
    scores: dict[Role, float | None] = {**dict.fromkeys(Role, 2.0), Role.LINGUIST: 3}
    found = debate(rated_by_role(scores), rounds=20)
    assert found.verdict.agreed
    assert [scores_of(found.transcript.of_round(n)) for n in (1, 2, 3)] == [
        [50, 50, 75, 50],
        [54, 54, 62, 54],
        [55, 55, 58, 55],
    ]
    assert found.verdict.rounds == 3
    assert mean_of_round(found.transcript, 1) == 56.25
    assert found.verdict.score == 55.75


def test_a_statement_names_its_factors_and_quotes_the_turn_that_weighs_most() -> None:
    evidence = [
        Evidence(factor=Factor.COHERENCE, label="no answer", note="asked for more", turn=1),
        Evidence(factor=Factor.COHERENCE, label="repeats", turn=2),
        Evidence(factor=Factor.EFFECTIVENESS, label="a target", turn=2),
    ]
    ratings = rated_by_role({**dict.fromkeys(Role, 2.0), Role.COMMON_USER: 4})
    found = debate(ratings, evidence)
    first, second = found.transcript.of_round(1)[0].text, found.transcript.of_round(2)[0].text
    factors = "My factors: Effectiveness 4 of 4, Recoverability 4 of 4, Coherence 4 of 4. "
    heaviest = "turn 3, system: “Ronin is a film.” (Coherence: repeats)"
    cited = f" I cite 3 findings; what weighs most is {heaviest}."
    assert first == f"{factors}Their plain mean is 100 of 100.{cited}"
    heard = ", ".join(f"{role} 50, citing 0 of 3 turns" for role in list(Role)[1:])
    moves = (
        f"Weighed by what they cite, the others stand at 50 ({heard}), so I move from 100 to 75."
    )
    assert second == f"{factors}{moves}{cited}"
    assert found.transcript.of_round(1)[1].text.endswith("I can cite no turn.")


def test_a_quote_is_short_and_cannot_close_itself() -> None:
    text = '“So” "it" is.\n' + "word " * 200_000
    log = a_log().model_copy(update={"interaction": (Turn(speaker=Speaker.SYSTEM, text=text),)})
    rated = RatedLog(log, ratings_of(), findings(Role.LINGUIST, 1))
    said = rule_statement(Role.LINGUIST, 1, rated, ()).text
    assert "system: “'So' 'it' is. word " in said
    assert said.count("“") == said.count("”") == 1
    assert len(said) < 400


def test_targets_do_not_matter_beyond_their_factors() -> None:
    items = (ItemRef(id="1", name="Heat (1995)"),)
    logs = (a_log(targets=()), a_log(targets=items))
    found = [asyncio.run(run_debate(RatedLog(log, ratings_of(2)), RuleDebaters())) for log in logs]
    assert found[0].verdict == found[1].verdict


def test_nobody_speaks_when_nothing_is_scored() -> None:
    transcript, verdict = debate(tuple(map(unscored, Factor)))
    assert (verdict.score, verdict.status, verdict.spoke) == (None, Status.ABSTAINED, 0)
    assert (verdict.rounds, verdict.agreed, len(transcript.statements)) == (1, False, 4)


def test_one_voice_is_no_debate_and_has_no_verdict() -> None:
    scores: dict[Role, float | None] = {**dict.fromkeys(Role, None), Role.LINGUIST: 3}
    found = debate(rated_by_role(scores))
    verdict = found.verdict
    assert (verdict.score, verdict.spoke, verdict.rounds, verdict.agreed) == (None, 1, 1, False)
    assert verdict.status is Status.ABSTAINED
    assert verdict.reason == "the Linguist alone has scored factors, and a debate needs two roles"
    assert overall(found).reason == verdict.reason


def test_the_transcript_names_log_judges_and_protocol() -> None:
    transcript, _ = debate(ratings_of(evaluator="measured"))
    assert transcript.log == a_log(*SAID).id
    assert transcript.judges == ("measured",)
    assert transcript.protocol == RuleDebaters().protocol == RuleDebaters().settings["protocol"]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 round"):
        debate(ratings_of(), rounds=0)
