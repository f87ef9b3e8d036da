"""Dialogue quality: equations by planted probabilities, in-context examples, both orders."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from recjury.corpora import Context
from recjury.errors import UserError
from recjury.judges import DialogueQuality, quality
from recjury.judges.rated_dialogues import parted, rated_dialogues
from recjury.records import ConversationLog, Level, Rating, Request, Status, Turn
from tests.judges import likely
from tests.logs import LOG, ask_of, log_of, said

USS = Path(os.environ.get("RECJURY_DATA", "nowhere")) / "uss"
needs_data = pytest.mark.skipif(not USS.is_dir(), reason="RECJURY_DATA has no uss")


def rated(
    script: Any, log: ConversationLog = LOG, logprobs: bool = True, **settings: Any
) -> tuple[list[Rating], list[Request]]:
    ask, model = ask_of(likely.sending(script) if logprobs else script)
    evaluator = DialogueQuality.model_validate(settings).prepared(Context())
    found = asyncio.run(evaluator.rate(log, ask))
    requests = [each for each in model.requests if not likely.is_probe(each)]
    return [each for each in found if isinstance(each, Rating)], requests


def planted(request: Request, code: str) -> Any:
    return likely.word({"1": 0.05, "3": 0.1, "4": 0.4, "5": 0.3, "Well": 0.15})


@pytest.mark.parametrize(
    ("top", "score"),
    [
        (5, (0.05 * 1 + 0.1 * 3 + 0.4 * 4 + 0.3 * 5) / 0.85),
        (2, (0.4 * 4 + 0.3 * 5) / 0.7),
        (1, 4),
    ],
)
def test_ratings_are_weighed_by_the_likeliest_probabilities(top: int, score: float) -> None:
    ratings, requests = rated(planted, top=top)
    assert [each.score for each in ratings] == pytest.approx([score] * 3)
    assert [(each.metric, each.turn) for each in ratings] == [
        ("dialogue", None),
        ("turn", 0),
        ("turn", 2),
    ]
    assert quality({1.0: 0.05, 3.0: 0.1, 4.0: 0.4, 5.0: 0.3}, top) == pytest.approx(score)
    first_turn = said(requests[1])
    assert "No, I said crime." in first_turn
    assert "Then Heat" not in first_turn


@pytest.mark.parametrize("order", ["analysis-first", "rating-first"])
def test_generation_reads_what_is_written(order: str) -> None:
    def script(request: Request, code: str) -> str:
        rating = f'<rating code="{code}">2</rating>'
        return f"{rating} Why." if order == "rating-first" else f"Goal: crime. {rating}"

    ratings, requests = rated(script, method="generation", order=order)
    assert {each.score for each in ratings} == {2}
    assert {each.temperature for each in requests} == {0.7}
    heads = ["analyse it briefly" in said(each) for each in requests]
    assert heads == [order == "analysis-first"] * 3


def test_a_model_that_was_tuned_on_satisfied_or_not(tmp_path: Path) -> None:
    shipped = Path(DialogueQuality().pack.error((), "").args[0].rpartition("/manifest")[0])
    for file in shipped.iterdir():
        text = file.read_text("utf-8").replace('["1", "2", "3", "4", "5"]', '["no", "yes"]')
        (tmp_path / file.name).write_text(text, "utf-8")

    def script(request: Request, code: str) -> Any:
        return likely.word({"no": 0.25, "yes": 0.75})

    ratings, _ = rated(script, prompts=str(tmp_path), level="dialogue")
    assert ratings[0].score == pytest.approx(1 * 0.25 + 5 * 0.75)


SESSIONS = """\
USER\tA slow crime film from France?\t\t4,4,5
SYSTEM\tTry Le Samourai, it is slow and French.\t\t
USER\tThank you so much, that is perfect!\t\t5,5,4
USER\tOVERALL\t\t5,5,5

USER\tI want a funny cartoon for my kids.\t\t3,3,3
SYSTEM\tTry The Exorcist, kids will love it.\t\t
USER\tThat is not for kids at all, stop it!\t\t1,1,2
USER\tOVERALL\t\t1,1,2
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Ten dialogues, of which one is for tests."""
    path = tmp_path / "rated.txt"
    path.write_text("\n".join([SESSIONS] * 5).replace("\n\n\n", "\n\n"), "utf-8")
    return path


def test_similar_examples_stand_before_what_is_rated(file: Path) -> None:
    _, requests = rated(planted, level="dialogue", examples={"number": 1, "file": str(file)})
    assert "Le Samourai" in said(requests[0])
    assert "The judgement: 5\n" in said(requests[0])
    log = log_of(Turn(speaker="system", text="No cartoon for kids."))
    _, requests = rated(planted, log, level="turn", examples={"number": 1, "file": str(file)})
    assert "The judgement: 1\n" in said(requests[0])


def test_random_examples_are_drawn_three_times(file: Path) -> None:
    def script(request: Request, code: str) -> Any:
        return likely.word({"5" if "Samourai" in said(request) else "1": 1.0})

    examples = {"number": 1, "file": str(file), "choose": "random"}
    scores = [
        rated(script, level="dialogue", examples={**examples, "seed": seed})[0][0].score or 0
        for seed in range(9)
    ]
    thirds = {1.0, 1 + 4 / 3, 1 + 8 / 3, 5.0}
    assert all(any(score == pytest.approx(each) for each in thirds) for score in scores)
    assert len(set(scores)) > 1


def test_no_example_is_of_the_dialogue_that_is_rated(file: Path) -> None:
    turns = (
        Turn(speaker="user", text="A slow crime film from France?"),
        Turn(speaker="system", text="Try Le Samourai, it is slow and French."),
        Turn(speaker="user", text="Thank you so much, that is perfect!"),
    )
    _, requests = rated(
        planted, log_of(*turns), level="dialogue", examples={"number": 1, "file": str(file)}
    )
    assert said(requests[0]).count("Samourai") == 1
    assert "The Exorcist" in said(requests[0])


@needs_data
def test_a_tenth_of_the_published_dialogues_is_for_tests() -> None:
    whole = rated_dialogues(USS / "ReDial.txt", Level.DIALOGUE)
    shown, tests = parted(whole, 0)
    assert (len(whole), len(tests)) == (1000, 100)
    assert not {each.dialogue for each in shown} & {each.dialogue for each in tests}
    assert parted(whole, 1)[1] != tests
    turns = rated_dialogues(USS / "ReDial.txt", Level.TURN)
    assert len(turns) < 10_806  # all utterances of users but those that open a dialogue
    assert {each.dialogue for each in parted(turns, 0)[1]} <= {each.dialogue for each in tests}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("USER\tHi.\t4\n", r"rated.txt:1: expected USER or SYSTEM, text, action"),
        ("SYSTEM\tHi.\t\t\nBOT\tHi.\t\t4\n", "rated.txt:2: expected USER or SYSTEM"),
        ("USER\tHi.\t\tfour\n", "ratings such as 4,3,4"),
        ("USER\tOVERALL\t\t7\n", "ratings from 1 to 5"),
        ("SYSTEM\tHi.\t\t\n", "has no rated dialogues"),
        (SESSIONS, "9 are wanted, and .* has 2 rated dialogues"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "rated.txt").write_text(text, "utf-8")
    examples = {"number": 9, "file": str(tmp_path / "rated.txt")}
    with pytest.raises(UserError, match=problem):
        rated(planted, level="dialogue", examples=examples)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"examples": {"number": 1}}, "`file` is missing"),
        ({"top": 0}, "top"),
        ({"order": "last"}, "order"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        DialogueQuality.model_validate(settings)


def test_without_log_probabilities_there_is_no_score() -> None:
    ratings, requests = rated(lambda request, code: "Yes", logprobs=False)
    assert {each.status for each in ratings} == {Status.NOT_APPLICABLE}
    assert not requests
