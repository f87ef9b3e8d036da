"""PairEval and DirectEval: planted probabilities, examples, and ten ways to make a reply worse."""

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from recjury.corpora import Context, open_corpus
from recjury.errors import UserError
from recjury.judges import PairEval, paireval
from recjury.records import ConversationLog, Evidence, Rating, Request, Status, Turn
from tests.judges import likely
from tests.logs import CATALOGUE, LOG, SCENARIO, ask_of, log_of, said


def dialogues(corpus: str, split: str) -> Sequence[tuple[Turn, ...]]:
    return open_corpus(corpus, split=split).dialogues


CONTEXT = Context({"sample": CATALOGUE}, {}, dialogues)
OWN = "Then Heat, for its patience."


def rated(
    script: Any,
    log: ConversationLog = LOG,
    context: Context = CONTEXT,
    logprobs: bool = True,
    **settings: Any,
) -> tuple[list[Rating], list[Evidence], list[Request]]:
    ask, model = ask_of(likely.sending(script) if logprobs else script)
    evaluator = PairEval.model_validate(settings).prepared(context)
    found = asyncio.run(evaluator.rate(log, ask))
    ratings = [each for each in found if isinstance(each, Rating)]
    evidence = [each for each in found if isinstance(each, Evidence)]
    return ratings, evidence, [each for each in model.requests if not likely.is_probe(each)]


def halves(request: Request) -> tuple[str, str]:
    """What a comparison shows first, and second."""
    _, first, second = re.split(r"^[AB]:$", said(request), flags=re.MULTILINE)
    return first, second


def biased(request: Request, code: str) -> Any:
    """The rated turn is better with .8 where it stands first, and with .4 where second."""
    if OWN in halves(request)[0]:
        return likely.word({"A": 0.4, "B": 0.1, "The": 0.5})
    return likely.word({"A": 0.6, "B": 0.4})


@pytest.mark.parametrize(
    ("position", "score", "asked"), [("both", 0.6, 6), ("first", 0.8, 3), ("second", 0.4, 3)]
)
def test_the_score_is_the_mean_over_examples_and_orders(
    position: str, score: float, asked: int
) -> None:
    log = log_of(Turn(speaker="system", text=OWN))
    (rating,), (evidence,), requests = rated(biased, log, level="turn", position=position)
    assert rating.score == pytest.approx(score)
    assert len(requests) == len(rating.calls) == asked
    orders = {"both": [0.8, 0.4], "first": [0.8], "second": [0.4]}[position]
    assert evidence.value == [pytest.approx(orders)] * 3
    assert rating.score == pytest.approx(paireval(evidence.value))


def test_turns_and_dialogues_are_rated() -> None:
    ratings, _, requests = rated(biased, examples={"number": 1})
    assert [(each.metric, each.turn) for each in ratings] == [
        ("dialogue", None),
        ("turn", 0),
        ("turn", 2),
    ]
    whole = [each for each in requests if "two conversations" in said(each)]
    assert all("Yes, thank you." in said(each) for each in whole)
    assert {len(halves(each)) for each in requests} == {2}


def shown(requests: Sequence[Request]) -> list[str]:
    """The other one of each pair."""
    pairs = [halves(request) for request in requests]
    return list(dict.fromkeys(second for first, second in pairs if OWN in first))


def test_examples_are_drawn_by_seed_and_nested() -> None:
    def drawn(**examples: Any) -> list[str]:
        return shown(rated(biased, level="dialogue", examples=examples)[2])

    assert drawn(number=4)[:2] == drawn(number=2) == drawn(number=2)
    assert drawn(number=4, seed=1) != drawn(number=4)
    assert not set(drawn(**{"number": 4, "from": "test"})) & set(drawn(number=4))


def test_what_is_rated_is_not_compared_with_its_own_dialogue() -> None:
    own = open_corpus("sample", split="valid").scenarios
    for scenario in own[:9]:
        log = log_of(Turn(speaker="system", text=OWN), scenario=scenario)
        _, _, requests = rated(biased, log, level="dialogue", examples={"number": 3})
        begins = scenario.history[0].text
        assert not any(begins in other for other in shown(requests))


def test_examples_may_be_of_a_file(tmp_path: Path) -> None:
    rows = [
        {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": t}]}
        for t in ("Try Up.", "Try It.")
    ]
    file = tmp_path / "other.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    nowhere = log_of(*LOG.interaction, scenario=SCENARIO.model_copy(update={"corpus": "none"}))
    examples = {"number": 2, "file": str(file)}
    ratings, _, requests = rated(biased, nowhere, Context(), level="turn", examples=examples)
    assert {each.status for each in ratings} == {Status.OK}
    assert any("Try Up." in said(each) for each in requests)
    ratings, _, requests = rated(biased, nowhere, level="turn")
    assert {each.status for each in ratings} == {Status.NOT_APPLICABLE}
    assert not requests


def test_direct_is_the_probability_of_yes() -> None:
    def script(request: Request, code: str) -> Any:
        return likely.word({"Yes": 0.6, "No": 0.2})

    ratings, evidence, requests = rated(script, method="direct")
    assert [each.score for each in ratings] == pytest.approx([0.75] * 3)
    assert (len(requests), evidence) == (3, [])


def test_without_log_probabilities_there_is_no_score() -> None:
    ratings, _, requests = rated(lambda request, code: "Yes", logprobs=False)
    assert {each.status for each in ratings} == {Status.NOT_APPLICABLE}
    assert "log-probabilities" in ratings[0].reason
    assert not requests
    failed = log_of(Turn(speaker="system", failure="no answer"))
    ratings, _, requests = rated(biased, failed)
    assert ([each.status for each in ratings], requests) == ([Status.NOT_APPLICABLE] * 2, [])


def test_one_comparison_that_cannot_be_read_leaves_no_score() -> None:
    def script(request: Request, code: str) -> Any:
        first, _ = halves(request)
        return biased(request, code) if OWN in first else likely.word({"Well": 1.0})

    log = log_of(Turn(speaker="system", text=OWN))
    (rating,), evidence, _ = rated(script, log, level="turn")
    assert (rating.status, evidence) == (Status.UNREADABLE, [])


def pack_with(folder: Path, words: str) -> str:
    (folder / "manifest.yaml").write_text(f"pair: {words}\n", "utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("[Good, Goods]", "manifest.yaml:1.*begin alike"),
        ("[A, a]", "begin alike"),
        ("[very good, bad]", "one word"),
        ("[A]", "at least 2 words"),
        ("[yes, true]", "words in quotes"),
    ],
)
def test_words_that_cannot_be_told_apart(tmp_path: Path, words: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        PairEval(prompts=pack_with(tmp_path, words))


def test_two_responses_to_one_history_are_compared(tmp_path: Path) -> None:
    """The file has the rated response, another one, and one to another history."""
    log = log_of(*LOG.interaction[:1])
    history = [turn.model_dump(include={"speaker", "text"}) for turn in log.scenario.history]
    own = log.interaction[0].model_dump(include={"speaker", "text"})
    rows = [
        {
            "id": str(n),
            "system": "s",
            "history": before,
            "interaction": [{**own, "text": text}],
        }
        for n, (before, text) in enumerate(
            [(history, own["text"]), (history, "Corrupted."), ([*history, *history], "Elsewhere.")]
        )
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    examples = {"number": 1, "from": "pair", "file": str(file)}

    def better(request: Request, code: str) -> Any:
        first, second = halves(request)
        assert {own["text"] in first, own["text"] in second} == {True, False}
        assert "Corrupted." in first + second
        return likely.word({"A": 0.9, "B": 0.1} if own["text"] in first else {"A": 0.3, "B": 0.7})

    (rating,), _, asked = rated(better, log, level="turn", examples=examples)
    assert rating.score == pytest.approx(0.8)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"examples": {"number": 0}}, "number"),
        ({"examples": {"from": "train"}}, "'corpus', 'test' or 'pair'"),
        ({"examples": {"from": "pair"}}, "`file` is missing"),
        ({"examples": {"number": 900}}, "900 are wanted, and the split 'valid' of sample has"),
        ({"examples": {"file": "none.jsonl"}}, "there is no file none.jsonl"),
        ({"level": "word"}, "level"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises((ValidationError, UserError), match=problem):
        PairEval.model_validate(settings).prepared(CONTEXT)
    with pytest.raises(UserError, match="no corpus that has any"):
        PairEval().prepared(Context())


GOOD = "You could see Heat. Al Pacino plays a tired detective, and it takes its time."
WORSE = {
    "dullness": "That is interesting. Tell me more.",
    "pronoun": "You could see Heat. Al Pacino plays a tired detective, and she take her time.",
    "repetition": "You could see Heat, see Heat, see Heat. A tired tired tired detective.",
    "entailment": "The bakery on the corner opens at seven, but the bread is gone by eight.",
    "contradiction": "You should not see Heat. It is no crime film and nothing in it is slow.",
    "speaker": "I like slow crime films. You could see Heat.",
    "entrainment": "You could see Heat. It is a leisurely felony movie with Al Pacino.",
    "named entities": "You could see Paris. Rex Harrison plays a tired detective in Lima.",
    "bad paraphrase": "You could view Warmth. Al Pacino gambles a weary spy and takes its hour.",
    "vocabulary diversity": "You could see slow crime films. I like slow crime films, slow films.",
}
"""The ten kinds of table 7, made from `GOOD`."""


def worth(text: str) -> float:
    """What a careful judge makes of the last thing that is said; of people's, the same always."""
    response = text.partition("<response>")[2]
    if GOOD in response:
        return 4.0
    return 1.0 if any(worse in response for worse in WORSE.values()) else 2.0


@pytest.mark.parametrize("kind", WORSE)
def test_a_reply_that_is_made_worse_has_a_lower_score(kind: str) -> None:
    def script(request: Request, code: str) -> Any:
        first, second = map(worth, halves(request))
        share = first / (first + second)
        return likely.word({"A": share, "B": 1 - share})

    good, worse = (
        rated(script, log_of(Turn(speaker="system", text=text)), level="turn")[0][0].score or 0
        for text in (GOOD, WORSE[kind])
    )
    assert [good, worse] == pytest.approx([4 / 6, 1 / 3])
