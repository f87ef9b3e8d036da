"""What the endpoint has of earlier runs: batches and files with an id of our own.

The id is a digest of the identities of a batch's calls, with the number of the attempt. It is in
the metadata of the batch and in the name of its file. As a file is deleted once all replies of its
batch are stored, the files that are left say which batches still have to be read.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

from recjury.errors import ProviderError
from recjury.llm.batch.api import BatchApi, BatchState, GoneError
from recjury.llm.batch.lines import identities_in
from recjury.logs import get_logger

logger = get_logger()

_ID, _ATTEMPT, _MODEL, _REQUESTS = (
    "recjury_batch",
    "recjury_attempt",
    "recjury_model",
    "recjury_requests",
)
_KEPT_SECONDS = 31 * 86_400  # files of batches expire after 30 days
_ENDED_WITH_REPLIES = frozenset({"completed", "expired", "cancelled"})


class BatchId(NamedTuple):
    """The id of a batch: a digest of the identities of its calls, and the number of the attempt."""

    digest: str
    attempt: int


def metadata_of(batch: BatchId, model: str, requests: int) -> dict[str, str]:
    """The metadata of a batch: at most 512 characters each."""
    return {
        _ID: batch.digest,
        _ATTEMPT: str(batch.attempt),
        _MODEL: model[:512],
        _REQUESTS: str(requests),
    }


def batch_id(metadata: Mapping[str, str]) -> BatchId | None:
    """The id in a batch's metadata; None if it is not one of ours."""
    attempt = metadata.get(_ATTEMPT, "")
    if _ID not in metadata or not attempt.isdecimal():
        return None
    return BatchId(metadata[_ID], int(attempt))


class EarlierBatches:
    """Looks up the batches of one model at its endpoint."""

    def __init__(self, api: BatchApi, model: str):
        """`model` is the model's name."""
        self._api, self._model = api, model
        self._attempts: dict[str, int] = {}
        self._files: dict[str, str] | None = {}

    async def look_up(self) -> list[BatchState]:
        """The batches that are under way, and those that have replies to read, oldest first.

        Raises Retryable and ProviderError.
        """
        self._files = await self._list_files()
        found: list[BatchState] = []
        async for state in self._api.batches():
            if state.created_at and state.created_at < time.time() - _KEPT_SECONDS:
                break
            known = batch_id(state.metadata)
            if known is None or state.metadata.get(_MODEL) != self._model[:512]:
                continue
            self._attempts[known.digest] = max(known.attempt, self._attempts.get(known.digest, 0))
            if state.is_active or (
                state.status in _ENDED_WITH_REPLIES
                and state.output_file is not None
                and (self._files is None or state.input_file in self._files.values())
            ):
                found.append(state)
        return found[::-1]

    def next_id(self, digest: str) -> BatchId:
        """The id of a batch of these calls that is sent now."""
        attempt = self._attempts.get(digest, 0) + 1
        self._attempts[digest] = attempt
        return BatchId(digest, attempt)

    def uploaded(self, name: str) -> str | None:
        """The id of a file that an earlier run uploaded under this name."""
        return None if self._files is None else self._files.get(name)

    async def find_file(self, name: str) -> str | None:
        """The id of the file with this name, looked up now."""
        return (await self._list_files() or {}).get(name)

    async def find(self, batch: BatchId) -> BatchState | None:
        """The batch with this id, looked up now."""
        async for state in self._api.batches():
            if batch_id(state.metadata) == batch:
                return state
            if state.created_at and state.created_at < time.time() - _KEPT_SECONDS:
                break
        return None

    async def identities(self, state: BatchState) -> set[str] | None:
        """The calls of a batch that is under way; None if its file cannot be read."""
        try:
            found = await identities_in(lambda into: self._api.download(state.input_file, into))
        except (GoneError, ProviderError):
            found = set()
        return found or None

    async def _list_files(self) -> dict[str, str] | None:
        """Files of ours by name; None if the endpoint does not list files."""
        try:
            return await self._api.files()
        except ProviderError as error:
            logger.info("files cannot be listed", reason=str(error))
            return None
