"""The analyses on small made-up scores, whose results are known."""

import pytest

from recjury.alignment.biases import Preference, length_bias, self_bias
from recjury.alignment.contrast import by_aspect, by_turn
from recjury.alignment.pairs import pair_scores
from recjury.alignment.system_ranking import ranking_correlation, system_means
from recjury.records import Aspect, ConversationLog, Ending, Scenario, ScoreTarget, Speaker, Turn

SYSTEMS = ("kbrd_redial", "barcor_redial", "unicrs_opendialkg")


def _places(count: int = 4) -> list[ScoreTarget]:
    return [ScoreTarget(f"{system}_{n}") for system in SYSTEMS for n in range(count)]


def test_pairs_are_what_has_both() -> None:
    scores = {place: float(n) for n, place in enumerate(_places())}
    labels = dict.fromkeys(_places()[2:], 1)
    assert len(pair_scores(scores, labels).scores) == 10
    some = pair_scores(scores, labels, "opendialkg")
    assert set(some.systems) == {"unicrs_opendialkg"}
    assert some.scores.tolist() == [8, 9, 10, 11]


def test_rankings_hold_means_against_means() -> None:
    labels = {place: n % 4 + n // 4 for n, place in enumerate(_places())}
    scores = {place: float(n % 4 - n // 4) for n, place in enumerate(_places())}
    assert system_means(labels) == {
        "barcor_redial": 2.5,
        "kbrd_redial": 1.5,
        "unicrs_opendialkg": 3.5,
    }
    found = ranking_correlation(pair_scores(scores, labels), resamples=50)
    assert found.pearson.value == pytest.approx(-1)
    assert found.systems == 3


def test_length_bias_is_beside_that_of_people() -> None:
    logs, scores, labels = {}, {}, {}
    for length, system in enumerate(SYSTEMS, start=1):
        name = f"{system}_x"
        turns = [(Speaker.USER, "hello"), (Speaker.SYSTEM, "word " * length)]
        logs[name] = ConversationLog(
            system=system,
            scenario=Scenario(corpus="c", record=name),
            interaction=tuple(Turn(speaker=who, text=text) for who, text in turns),
            ending=Ending.RECORDED,
        )
        scores[ScoreTarget(name)] = float(length)
        labels[ScoreTarget(name)] = 3 - length
    found = length_bias(logs, scores, labels)
    assert found.words["kbrd_redial"] == 2
    assert found.evaluator.pearson == pytest.approx(1)
    assert found.people.pearson == pytest.approx(-1)


def test_self_bias_is_agreement_by_what_people_prefer() -> None:
    pairs = [Preference(0.5, 1), Preference(-0.5, 2), Preference(0.1, 0.2), Preference(0, 1),
             Preference(-1, -1), Preference(0.3, -1), Preference(5, 0)]  # fmt: skip
    assert self_bias(pairs) == (0.5, 0.5, 4, 2)
    assert self_bias([]) == (None, None, 0, 0)


def test_contrasts_are_shares_of_the_scale() -> None:
    aspect = Aspect.DIALOGUE_OVERALL
    scores = {aspect: {ScoreTarget("kbrd_redial_1"): 1.0, ScoreTarget("kbrd_opendialkg_1"): 3.0}}
    labels = {str(aspect): {ScoreTarget("kbrd_redial_1"): 0, ScoreTarget("barcor_redial_1"): 4}}
    both = by_aspect("kbrd", scores, labels)[aspect]
    assert both.scores.value == 0.5
    assert both.labels == (0.0, None, None, 1)
    assert by_aspect("kbrd", scores, labels, subset="redial")[aspect].scores.value == 0.25
    assert by_aspect("chatgpt", scores, labels) == {}


def test_a_turn_without_scores_keeps_its_number() -> None:
    turns = {
        ScoreTarget("kbrd_redial_1", 1): {0: {"itr1": 2.0, "itr2": 1.0}},
        ScoreTarget("kbrd_redial_1", 3): {},
        ScoreTarget("kbrd_redial_1", 5): {0: {"itr1": 0.0}},
        ScoreTarget("kbrd_redial_2", 1): {0: {"itr1": 0.5}},
        ScoreTarget("kbrd_redial_2", 3): {0: {"itr1": 2.0}},
        ScoreTarget("barcor_redial_2", 1): {0: {"itr1": 2.0}},
    }
    found = by_turn("kbrd", turns, Aspect.UNDERSTANDING, fewest=1)
    assert [(mean.value, mean.n) for mean in found] == [(0.5, 2), (1.0, 1), (0.0, 1)]
    assert len(by_turn("kbrd", turns, Aspect.UNDERSTANDING, fewest=2)) == 1
