"""What runs in a process: it makes an object of the user's class, and answers until it ends."""

import asyncio
import pickle
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, Protocol, cast

import orjson

from recjury.errors import UnitFailed, UserError
from recjury.isolation.launch import FirstMessage
from recjury.plugins import import_factory
from recjury.records import JSON


class Served(Protocol):
    """What answers in the process. `settings` is all that recjury learns when it was made."""

    settings: Mapping[str, JSON]

    async def answer(self, request: JSON) -> JSON:
        """The answer to one request. Raises UnitFailed."""

    async def close(self) -> None:
        """Release what it holds. Raises UnitFailed."""


def serve(descriptor: int) -> None:
    """Make what the first message names, and answer until the channel is closed."""
    channel = Connection(descriptor)
    first: FirstMessage = pickle.loads(channel.recv_bytes())  # noqa: S301 (recjury's)
    if first.corpus is not None:
        first.corpus.channel = channel
    try:
        made = import_factory(first.maker)(first.entry, first.corpus, **first.further)
    except UserError as error:
        _send(channel, {"id": 0, "refused": str(error)})
        return
    served = cast("Served", made)
    if first.corpus is not None:
        first.corpus.channel = None
    _send(channel, {"id": 0, "settings": served.settings})
    asyncio.run(_answer_all(served, channel))


async def _answer_all(served: Served, channel: Connection) -> None:
    answers = set()
    reader = ThreadPoolExecutor(1)  # the default one may be full of the user's own work
    while True:
        try:
            request = await asyncio.get_running_loop().run_in_executor(reader, channel.recv_bytes)
        except EOFError:
            return
        answer = asyncio.create_task(_answer(served, orjson.loads(request), channel))
        answers.add(answer)
        answer.add_done_callback(answers.discard)


async def _answer(served: Served, request: Mapping[str, Any], channel: Connection) -> None:
    answer = {"id": request["id"]}
    try:
        if "about" in request:
            answer["answer"] = await served.answer(request["about"])
        else:
            await served.close()
    except UnitFailed as failure:
        answer["failed"] = str(failure)
    _send(channel, answer)


def _send(channel: Connection, message: Mapping[str, object]) -> None:
    channel.send_bytes(orjson.dumps(message))
