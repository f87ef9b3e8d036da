"""What runs in the process of a system: it makes the system, and answers turns until it ends."""

import asyncio
import pickle
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import orjson

from recjury.agents.isolation.launch import FirstMessage
from recjury.agents.python_system import PythonSystem
from recjury.agents.system import SystemContext
from recjury.errors import UnitFailed, UserError
from recjury.records import Conversation


def serve(descriptor: int) -> None:
    """Make the system of the first message, and answer until the channel is closed."""
    channel = Connection(descriptor)
    first: FirstMessage = pickle.loads(channel.recv_bytes())  # noqa: S301 (recjury's)
    first.corpus.channel = channel
    # Recjury looks at the clock, because this process may be stuck.
    entry = PythonSystem.model_validate({**first.entry, "isolate": "thread", "timeout": 1e9})
    try:
        system = entry.prepared(SystemContext(first.corpus, list_length=first.list_length))
    except UserError as error:
        _send(channel, {"id": 0, "refused": str(error)})
        return
    first.corpus.channel = None
    _send(channel, {"id": 0, "settings": system.settings})
    asyncio.run(_answer_all(system, channel))


async def _answer_all(system: PythonSystem, channel: Connection) -> None:
    answers = set()
    reader = ThreadPoolExecutor(1)  # the default one may be full of the system's own work
    while True:
        try:
            request = await asyncio.get_running_loop().run_in_executor(reader, channel.recv_bytes)
        except EOFError:
            return
        answer = asyncio.create_task(_answer(system, orjson.loads(request), channel))
        answers.add(answer)
        answer.add_done_callback(answers.discard)


async def _answer(system: PythonSystem, request: Mapping[str, Any], channel: Connection) -> None:
    answer = {"id": request["id"]}
    try:
        if "conversation" in request:
            conversation = Conversation.model_validate(request["conversation"])
            answer["reply"] = (await system.respond(conversation)).model_dump(mode="json")
        else:
            await system.close_own()
    except UnitFailed as failure:
        answer["failed"] = str(failure)
    _send(channel, answer)


def _send(channel: Connection, message: Mapping[str, object]) -> None:
    channel.send_bytes(orjson.dumps(message))
