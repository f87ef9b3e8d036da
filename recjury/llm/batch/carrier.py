"""Carries batches to the endpoint and back: uploads, waits, reads, and deletes what was read."""

from typing import BinaryIO

from recjury.errors import CallFailed, ProviderError
from recjury.llm.batch.api import BatchApi, BatchState, FileTooLargeError, GoneError
from recjury.llm.batch.earlier import EarlierBatches, metadata_of
from recjury.llm.batch.open_batch import OpenBatch
from recjury.llm.batch.persistence import Persistence
from recjury.llm.batch.queue_room import QueueRoom
from recjury.llm.batch.refusal import Refusal, refusal_of
from recjury.llm.batch.request_file import FileLimits, RequestFile, file_name
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.event_loop import Clock
from recjury.llm.provider import Retryable
from recjury.logs import get_logger

logger = get_logger()

_FIRST_POLL = 1.0
_SLOWER = 1.5
_READINGS = 3
_LOOKS = 5  # for a file of answers that is not named yet


class BatchCarrier:
    """Sends the batches of one model, waits for them, and reads them."""

    def __init__(
        self,
        spec: BatchModelSpec,
        api: BatchApi,
        path: str,
        earlier: EarlierBatches,
        clock: Clock,
    ):
        """`path` is that of the endpoint that answers the calls, such as /chat/completions."""
        self._spec, self._api, self._path = spec, api, path
        self._earlier, self._clock = earlier, clock
        self._persistence = Persistence(spec, clock)
        self._under_way: set[OpenBatch] = set()
        self.limits = FileLimits(spec.batch_size, int(spec.batch_mb * 1e6))
        self._room = QueueRoom(spec, self.limits, clock)

    async def send(self, batch: OpenBatch) -> None:
        """Send a batch, and follow it until it is over."""
        file = batch.file
        assert file is not None
        try:
            await self._room.wait()
            if self._is_outdated(batch, file):
                batch.send_again(file.identities)
                batch.end()
                return
            batch.state = await self._begin(file)
        except FileTooLargeError:
            self._split(batch)
            return
        except (ProviderError, CallFailed) as error:
            _fail(batch, error)
            return
        finally:
            file.close()
        logger.info("batch sent", batch=batch.id, requests=len(file))
        await self.follow(batch)

    async def follow(self, batch: OpenBatch) -> None:
        """Ask for a batch until it is over, and read its files."""
        assert batch.state is not None
        wait, number = min(_FIRST_POLL, self._spec.poll), batch.state.id

        async def ask() -> BatchState:
            return await self._api.state(number)

        self._under_way.add(batch)
        try:
            looks = 0
            while batch.state.is_active or (batch.state.lacks_output and looks < _LOOKS):
                looks += not batch.state.is_active
                await self._clock.sleep(wait)
                wait = min(wait * _SLOWER, self._spec.poll)
                batch.state = await self._persistence.insist(f"ask for batch {number}", ask)
                if batch.state.is_accepted:
                    self._room.accepted(batch.file)
            await self.read(batch, batch.state)
        except GoneError:
            _fail(batch, CallFailed(f"batch {number} is no longer at the endpoint: run again"))
        except (ProviderError, CallFailed) as error:
            _fail(batch, error)
        finally:
            self._under_way.discard(batch)

    async def read(self, batch: OpenBatch, state: BatchState) -> None:
        """Read the answers of a batch that has ended. Raises ProviderError and CallFailed."""
        batch.state = state
        if state.status == "failed":
            await self._refused(batch)
            return
        self._room.accepted(batch.file)
        self._room.freed()
        if state.output_file is not None:
            await self._read_file(batch, state.output_file, state.completed)
        if state.error_file is not None:
            await self._read_file(batch, state.error_file, 0)
        missing = max(0, batch.total - len(batch.lines))
        logger.info(
            "batch is over",
            batch=batch.id,
            status=state.status,
            replies=len(batch.lines.answered),
            missing=missing,
        )
        if state.status == "cancelled" and batch.file is not None:
            reason = f"batch {batch.id} was cancelled at the endpoint: run again to send it anew"
            lost = [each for each in batch.file.identities if each not in batch.lines]
            batch.fail_calls(dict.fromkeys(lost, lambda: CallFailed(reason)))
        batch.end()

    async def _read_file(self, batch: OpenBatch, file: str, lines: int) -> None:
        """Read a file that should have so many lines; a shorter one is read again, a few times."""
        tries = 0

        async def fetch(into: BinaryIO) -> None:
            await self._api.download(file, into)

        async def read() -> None:
            nonlocal tries
            tries += 1
            # What is missing is paid for a second time. A file without any line is none at all.
            await batch.lines.add(fetch, lines if tries < _READINGS else min(lines, 1))

        try:
            await self._persistence.insist(f"read batch {batch.id}", read)
        except GoneError:
            logger.warning("a file of a batch is no longer there", batch=batch.id, file=file)

    async def clear(self, batch: OpenBatch) -> None:
        """Delete the files of a batch whose replies are all stored."""
        state = batch.state
        if state is None or self._spec.keep_files:
            return
        # The input file last: as long as it is there, the batch is read again.
        await self._delete(batch, state.output_file, state.error_file, state.input_file)

    async def _delete(self, batch: OpenBatch, *files: str | None) -> None:
        try:
            for file in filter(None, files):
                await self._api.delete(file)
        except Retryable as problem:
            logger.info("files of a batch not deleted", batch=batch.id, reason=problem.reason)

    async def _begin(self, file: RequestFile) -> BatchState:
        """Upload the file and begin its batch, unless the endpoint has them already."""
        batch = self._earlier.next_id(file.digest)
        name = file_name(*batch)
        metadata = metadata_of(batch, self._spec.name, len(file))
        sent = False
        uploaded = self._earlier.uploaded(name)

        async def begin() -> BatchState:
            nonlocal sent, uploaded
            if sent:  # an answer was lost, and perhaps only the answer
                found = await self._earlier.find(batch)
                if found is not None:
                    return found
                uploaded = uploaded or await self._earlier.find_file(name)
            sent = True
            if uploaded is None:
                uploaded = await self._api.upload(file, name)
            return await self._api.create(uploaded, self._path, metadata)

        return await self._persistence.insist("send a batch", begin)

    async def _refused(self, batch: OpenBatch) -> None:
        """The endpoint refused a batch as a whole: some lines, its size, or the account."""
        assert batch.state is not None
        if batch.file is None:
            batch.end()
            return
        found = refusal_of(batch.state, list(batch.file.identities), self._spec)
        logger.warning("batch refused", batch=batch.id, reason=found.reason)
        match found.kind:
            case Refusal.LINES:
                batch.fail_calls(found.calls)
                batch.send_again(batch.file.identities.keys() - found.calls.keys())
                batch.end()
            case Refusal.FULL_QUEUE:
                await self._found_no_room(batch, batch.file)
            case Refusal.TOO_LARGE:
                self._split(batch)
            case _:
                batch.fail(found.failure)

    async def _found_no_room(self, batch: OpenBatch, file: RequestFile) -> None:
        assert batch.state is not None
        self._under_way.discard(batch)
        if not self._room.refused(file, len(self._under_way)):
            reason = f"{self._spec.address}: its queue of batches was full for a day: run again"
            batch.fail(lambda: CallFailed(reason))
            return
        batch.send_again(file.identities)
        batch.end()
        await self._delete(batch, batch.state.input_file)

    def _is_outdated(self, batch: OpenBatch, file: RequestFile) -> bool:
        """Whether the limits have changed so that the calls belong in other files."""
        has_grown = batch.grown is not None and batch.grown < self.limits.grown
        return has_grown or self.limits.are_exceeded(file)

    def _split(self, batch: OpenBatch) -> None:
        """Send the calls of a batch that is too large again in smaller ones."""
        assert batch.file is not None
        if len(batch.file) == 1:
            why = f"refused even as the only request of a batch ({Refusal.TOO_LARGE})"
            batch.fail(lambda: CallFailed(f"{self._spec.name}: {why}"))
            return
        self.limits.halve(batch.file, for_good=True)
        logger.warning("batches are made smaller", requests=self.limits.requests)
        batch.send_again(batch.file.identities)
        batch.end()


def _fail(batch: OpenBatch, error: ProviderError | CallFailed) -> None:
    kind, reason = type(error), str(error)
    batch.fail(lambda: kind(reason))
