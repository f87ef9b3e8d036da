"""The requests that are measured: the judges' own prompts over conversation logs."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from recjury.judges import Rubric
from recjury.records import (
    ChatRequest,
    ConversationLog,
    Ending,
    Factor,
    ItemRef,
    Scenario,
    Speaker,
    Turn,
)

MODEL = "judge"
_SYSTEMS = ("kbrd", "barcor", "unicrs", "chatgpt")
_CORPORA = ("opendialkg", "redial")
_TALK = (
    "I would like something quiet with a good story and a strong ending perhaps from the nineties "
    "by a director who takes his time with people more than with plot and not too sad either "
)


def data_folder() -> Path | None:
    """The folder with the recorded conversations, if there is one."""
    named = os.environ.get("RECJURY_DATA") or "../shared/data"
    folder = Path(named)
    return folder if (folder / "concept").is_dir() else None


def made_up_log(number: int, *, rounds: int = 5) -> ConversationLog:
    """A log of `rounds` rounds in the shape of a recorded one, different for each number."""
    turns = []
    for round_ in range(rounds):
        items = tuple(_film(number * 31 + round_ * 7 + place) for place in range(10))
        turns.append(Turn(speaker=Speaker.SYSTEM, text=_talk(number, round_), items=items))
        turns.append(Turn(speaker=Speaker.USER, text=_talk(number, round_ + 100)))
    scenario = Scenario(corpus="made-up", record=str(number), targets=(_film(number),))
    return ConversationLog(
        system="made-up", scenario=scenario, interaction=tuple(turns), ending=Ending.ROUND_LIMIT
    )


def _film(number: int) -> ItemRef:
    return ItemRef(
        id=str(number % 6000), name=f"The Film Number {number % 6000} ({1950 + number % 70})"
    )


def _talk(number: int, turn: int) -> str:
    start = (number * 13 + turn * 5) % len(_TALK)
    return f"{_TALK[start:]}{_TALK[:start]}({number}, {turn})."


def recorded_logs(folder: Path, count: int) -> Iterator[ConversationLog]:
    """`count` recorded conversations, taken in turn from the four systems on both corpora."""
    from recjury.corpora.concept import read_concept

    files = [
        folder / "concept" / f"{system}_{corpus}.jsonl.gz"
        for system in _SYSTEMS
        for corpus in _CORPORA
    ]
    each = -(-count // len(files))
    logs = [list(read_concept(path, folder, limit=each)) for path in files]
    return islice((log for row in zip(*logs, strict=True) for log in row), count)


def judge_requests(log: ConversationLog, rubric: Rubric) -> tuple[ChatRequest, ...]:
    """The twelve calls that one judge makes for a log (fewer where the log lacks an input)."""
    return tuple(
        ChatRequest(
            model=MODEL, messages=rubric.messages(factor, log), purpose=f"judge/{factor.value}"
        )
        for factor in Factor
        if not rubric.lacks(factor, log)
    )


def many_requests(count: int) -> list[ChatRequest]:
    """`count` different judge calls, over made-up logs: the same ones on every machine."""
    rubric = Rubric()
    requests: list[ChatRequest] = []
    number = 0
    while len(requests) < count:
        requests += judge_requests(made_up_log(number), rubric)
        number += 1
    return requests[:count]
