"""The processes of one system: they are started, asked, and started again after they ended."""

import asyncio
import weakref
from collections.abc import Iterable, Mapping
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from operator import attrgetter
from typing import Any

from pydantic import ValidationError

from recjury.agents.isolation.process import (
    EndedByTurn,
    Launch,
    ProcessEnded,
    SystemProcess,
    shown_text,
)
from recjury.errors import ConfigError, SystemFailed
from recjury.mistakes import first_mistake
from recjury.records import JSON, Conversation, SystemReply

_SECONDS_TO_START = 600.0
_SECONDS_TO_CLOSE = 5.0


class _Place:
    """Where one process runs. `lock` is held while it starts, and while one turn has it alone.

    `turns` counts all turns; `open` has the answers that its process owes.
    """

    def __init__(self) -> None:
        self.process: SystemProcess | None = None
        self.lock = asyncio.Lock()
        self.turns = 0
        self.open: set[asyncio.Future[dict[str, Any]]] = set()


class ProcessPool:
    """Answers turns in processes, many at once in each.

    If a process ends, the only turn that was open in it fails. If there were more, nobody knows
    which of them ended it: each is asked once more, alone. A turn that is late fails, and its
    process is killed; the others in it are asked once more. Systems keep nothing between turns, so
    a new process can answer them.
    """

    def __init__(self, name: str, launch: Launch, *, processes: int, seconds: float):
        """Start the first of the `processes`, and wait until its system is made.

        A turn has `seconds`. Raises ConfigError if the system cannot be made.
        """
        self._name, self._launch, self._seconds = name, launch, seconds
        self._places = [_Place() for _ in range(processes)]
        self._places[0].process = first = SystemProcess(launch)
        weakref.finalize(self, _stop, self._places)  # if nobody closes it
        try:
            self.settings: Mapping[str, JSON] = _settings(first.made.result(_SECONDS_TO_START))
        except NotInTime:
            first.stop()
            raise ConfigError(f"{name} was not made within {_SECONDS_TO_START:g} s") from None
        except ProcessEnded as end:
            raise ConfigError(f"{name} cannot be made: its process {end}") from None

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The reply of a process. Raises SystemFailed with the reason if there is none."""
        request = {"conversation": conversation.model_dump(mode="json")}
        place = min(self._places, key=attrgetter("turns"))
        place.turns += 1
        try:
            message = await self._answer(place, request)
        except ProcessEnded as end:
            raise SystemFailed(f"{self._name}: its process {end}") from None
        finally:
            place.turns -= 1
        if "failed" in message:
            raise SystemFailed(shown_text(message["failed"]))
        try:
            return SystemReply.model_validate(message.get("reply"))
        except ValidationError as error:
            raise SystemFailed(
                f"{self._name}: the answer cannot be used: {first_mistake(error)}"
            ) from None

    async def aclose(self) -> None:
        """Let the systems release what they hold for a few seconds, and kill their processes.

        Raises SystemFailed if one does not close. Nothing waits until the processes are gone.
        """
        running = [place.process for place in self._places if place.process is not None]
        try:
            answers = [asyncio.wrap_future(process.ask({})) for process in running]
            _, pending = await asyncio.wait(answers, timeout=_SECONDS_TO_CLOSE)
            if pending:
                raise SystemFailed(f"{self._name} did not close within {_SECONDS_TO_CLOSE:g} s")
            for answer in answers:
                with suppress(ProcessEnded):
                    if reason := answer.result().get("failed"):
                        raise SystemFailed(shown_text(reason))
        finally:
            _stop(self._places)

    async def _answer(self, place: _Place, request: Mapping[str, object]) -> dict[str, Any]:
        async with place.lock:
            process = await self._running(place)
        try:
            return await self._ask(place, process, request)
        except EndedByTurn:
            raise
        except ProcessEnded:  # another turn may be the reason
            pass
        async with place.lock:
            if place.open:
                await asyncio.wait(place.open)
            return await self._ask(place, await self._running(place), request)

    async def _ask(
        self, place: _Place, process: SystemProcess, request: Mapping[str, object]
    ) -> dict[str, Any]:
        answer = asyncio.wrap_future(process.ask(request))
        place.open.add(answer)
        try:
            done, _ = await asyncio.wait({answer}, timeout=self._seconds)
            if done:
                return answer.result()
        finally:
            place.open.discard(answer)
            answer.cancel()
        process.stop()
        raise SystemFailed(f"{self._name} gave no answer within {self._seconds:g} s")

    async def _running(self, place: _Place) -> SystemProcess:
        """The process of this place; a new one if there is none, or it has ended."""
        if place.process is None or place.process.has_ended:
            place.process = SystemProcess(self._launch)
            try:
                made = asyncio.wrap_future(place.process.made)
                settings = _settings(await asyncio.wait_for(made, _SECONDS_TO_START))
                if settings != self.settings:
                    raise ConfigError("it has changed since the run began")
            except (ConfigError, TimeoutError) as problem:
                place.process.stop()
                raise SystemFailed(f"{self._name} was not made again: {problem}") from None
        return place.process


def _stop(places: Iterable[_Place]) -> None:
    for place in places:
        if place.process is not None:
            place.process.stop()


def _settings(message: Mapping[str, Any]) -> Mapping[str, JSON]:
    """The settings of a system that has been made. Raises ConfigError for one that refused."""
    if "settings" not in message:
        raise ConfigError(shown_text(message.get("refused")))
    return dict(message["settings"])
