"""Processes of one class: they are started, asked, and started again after they ended."""

import asyncio
import weakref
from collections.abc import Iterable, Mapping
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from operator import attrgetter
from typing import Any, TypeVar

from pydantic import ValidationError

from recjury.errors import ConfigError, UnitFailed
from recjury.isolation.process import (
    EndedByRequest,
    Launch,
    ProcessEnded,
    WatchedProcess,
    shown_text,
)
from recjury.mistakes import first_mistake
from recjury.records import JSON, Record

RecordT = TypeVar("RecordT", bound=Record)

_SECONDS_TO_START = 600.0
_SECONDS_TO_CLOSE = 5.0


class _Place:
    """Where one process runs. `lock` is held while it starts, and while one request has it alone.

    `requests` counts all requests; `open` has the answers that its process owes.
    """

    def __init__(self) -> None:
        self.process: WatchedProcess | None = None
        self.lock = asyncio.Lock()
        self.requests = 0
        self.open: set[asyncio.Future[dict[str, Any]]] = set()


class ProcessPool:
    """Answers requests in processes, many at once in each: turns of a system, logs of an evaluator.

    If a process ends, the only request that was open in it fails. If there were more, nobody knows
    which of them ended it: each is asked once more, alone. A request that is late fails, and its
    process is killed; the others in it are asked once more. Nothing is kept between requests, so a
    new process can answer them.
    """

    def __init__(
        self,
        name: str,
        launch: Launch,
        *,
        processes: int,
        seconds: float,
        late: str = "gave no answer",
        error: type[UnitFailed] = UnitFailed,
    ):
        """Start the first of the `processes`, and wait until its object is made.

        A request has `seconds`; one that fails raises `error`. Raises ConfigError if the object
        cannot be made.
        """
        self._name, self._launch, self._seconds = name, launch, seconds
        self._late, self._error = late, error
        self._places = [_Place() for _ in range(processes)]
        self._places[0].process = first = WatchedProcess(launch)
        weakref.finalize(self, _stop, self._places)  # if nobody closes it
        try:
            made = first.made.result(_SECONDS_TO_START)
            self.settings: Mapping[str, JSON] = self._settings_in(made)
        except NotInTime:
            first.stop()
            raise ConfigError(f"{name} was not made within {_SECONDS_TO_START:g} s") from None
        except ProcessEnded as end:
            raise ConfigError(f"{name} cannot be made: its process {end}") from None

    async def answer(self, about: JSON, form: type[RecordT]) -> RecordT:
        """The answer of a process. Raises the pool's error with the reason if there is none, or if
        it is no `form`."""
        place = min(self._places, key=attrgetter("requests"))
        place.requests += 1
        try:
            message = await self._answer(place, {"about": about})
        except ProcessEnded as end:
            raise self._error(f"{self._name}: its process {end}") from None
        finally:
            place.requests -= 1
        if "failed" in message:
            raise self._error(shown_text(message["failed"]))
        try:
            return form.model_validate(message.get("answer"))
        except ValidationError as error:
            problem = shown_text(first_mistake(error))
            raise self._error(f"{self._name}: the answer cannot be used: {problem}") from None

    async def aclose(self) -> None:
        """Let the objects release what they hold for a few seconds, and kill their processes.

        Raises the pool's error if one does not close. Nothing waits until the processes are gone.
        """
        running = [place.process for place in self._places if place.process is not None]
        try:
            answers = [asyncio.wrap_future(process.ask({})) for process in running]
            _, pending = await asyncio.wait(answers, timeout=_SECONDS_TO_CLOSE)
            if pending:
                raise self._error(f"{self._name} did not close within {_SECONDS_TO_CLOSE:g} s")
            for answer in answers:
                with suppress(ProcessEnded):
                    if reason := answer.result().get("failed"):
                        raise self._error(shown_text(reason))
        finally:
            self.stop()

    def stop(self) -> None:
        """Kill the processes, without waiting for that."""
        _stop(self._places)

    async def _answer(self, place: _Place, request: Mapping[str, object]) -> dict[str, Any]:
        async with place.lock:
            process = await self._running(place)
        try:
            return await self._ask(place, process, request)
        except EndedByRequest:
            raise
        except ProcessEnded:  # another request may be the reason
            pass
        async with place.lock:
            if place.open:
                await asyncio.wait(place.open)
            return await self._ask(place, await self._running(place), request)

    async def _ask(
        self, place: _Place, process: WatchedProcess, request: Mapping[str, object]
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
        raise self._error(f"{self._name} {self._late} within {self._seconds:g} s")

    async def _running(self, place: _Place) -> WatchedProcess:
        """The process of this place; a new one if there is none, or it has ended."""
        if place.process is None or place.process.has_ended:
            try:
                place.process = WatchedProcess(self._launch)
                made = asyncio.wrap_future(place.process.made)
                message = await asyncio.wait_for(made, _SECONDS_TO_START)
                if self._settings_in(message) != self.settings:
                    raise ConfigError("it has changed since the run began")
            except (ConfigError, OSError) as problem:  # it was late, or there are too many
                _stop([place])
                raise self._error(f"{self._name} was not made again: {problem}") from None
        return place.process

    def _settings_in(self, message: Mapping[str, Any]) -> Mapping[str, JSON]:
        """The settings of an object that has been made. Raises ConfigError if there are none."""
        settings = message.get("settings")
        if not isinstance(settings, dict):
            raise ConfigError(shown_text(message.get("refused", f"{self._name} has no settings")))
        return settings


def _stop(places: Iterable[_Place]) -> None:
    for place in places:
        if place.process is not None:
            place.process.stop()
