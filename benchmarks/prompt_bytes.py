"""What the judges' prompts of a dialogue add to the store, replies left out."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.workload import judge_requests, made_up_log, recorded_logs
from recjury.judges import Rubric
from recjury.llm import EndpointSpec, call_context, call_identity
from recjury.llm.call_identity import current_call_context
from recjury.records import CallRecord, ChatRequest, ConversationLog, Reply
from recjury.store import Store

# Fewer characters than this are no test of storing what recurs once.
WRITTEN_OUT = 40_000


class PromptBytes(NamedTuple):
    """Bytes a dialogue's prompts add to the file, mean over dialogues, and what that is about.

    `written_out` is the mean length of the twelve prompts in UTF-8; `different` counts prompts
    that did not come back byte for byte.
    """

    per_dialogue: float
    written_out: float
    dialogues: int
    recorded: bool
    different: int


def measure(folder: Path, data: Path | None, dialogues: int) -> PromptBytes:
    """Record the twelve calls of each log with empty replies, and see how the file has grown.

    The logs are recorded ones with prompts of at least 40 KB where `data` is given, else made up.
    """
    logs = _logs(data, dialogues)
    path = folder / "prompts.db"
    rubric = Rubric()
    spec = EndpointSpec(base_url="http://127.0.0.1/v1", name="fixed-latency")
    requests = [judge_requests(log, rubric) for log in logs]
    with Store.open(f"sqlite:///{path}"):
        pass
    before = _size(path)
    identities = asyncio.run(_record(path, requests, spec))
    grown = _size(path) - before
    asked = [request for twelve in requests for request in twelve]
    return PromptBytes(
        per_dialogue=grown / len(logs),
        written_out=sum(map(_length, requests)) / len(logs),
        dialogues=len(logs),
        recorded=data is not None,
        different=_different(path, asked, identities),
    )


def _logs(data: Path | None, dialogues: int) -> list[ConversationLog]:
    if data is None:
        return [made_up_log(number, rounds=8) for number in range(dialogues)]
    rubric = Rubric()
    long_ones = [
        log
        for log in recorded_logs(data, 4 * dialogues)
        if _length(judge_requests(log, rubric)) >= WRITTEN_OUT
    ]
    return long_ones[:dialogues]


def _length(requests: Sequence[ChatRequest]) -> int:
    return sum(len(m.text.encode()) for request in requests for m in request.messages)


async def _record(
    path: Path, dialogues: Sequence[Sequence[ChatRequest]], spec: EndpointSpec
) -> list[str]:
    identities: list[str] = []
    with Store.open(f"sqlite:///{path}") as store:
        async with store.recorder() as recorder:
            for number, requests in enumerate(dialogues):
                with call_context(f"{number:032x}"):
                    calls = [_finished(request, spec) for request in requests]
                await asyncio.gather(*map(recorder.record, calls))
                identities += [call.identity for call in calls]
    return identities


def _finished(request: ChatRequest, spec: EndpointSpec) -> CallRecord:
    key = call_identity(request, spec)
    reply = Reply(call=key, text="", finish_reason="stop", model=spec.name)
    return CallRecord(key, request, reply, current_call_context().unit, 1.7e9)


def _size(path: Path) -> int:
    """Bytes of the file once everything is in it."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return path.stat().st_size


def _different(path: Path, asked: Sequence[ChatRequest], identities: Sequence[str]) -> int:
    with Store.open(f"sqlite:///{path}", create=False) as store:
        return sum(
            [message.text for message in store.call(key).request.messages]
            != [message.text for message in request.messages]
            for request, key in zip(asked, identities, strict=True)
        )
