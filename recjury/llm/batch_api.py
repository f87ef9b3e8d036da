"""OpenAI's Batch API through its SDK: files of calls go in, files of replies come out."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from recjury.errors import Stop
from recjury.keys import one_line
from recjury.llm.endpoint import client_of, key_variable, reason_of
from recjury.llm.models import Model
from recjury.llm.remedies import failure_in, remedy_for

_MARK = "recjury"  # the key of metadata that has a batch's label
_RETRIES = 4  # of the SDK, for what can be asked twice
_OVER = ("completed", "expired", "cancelled")


class State(NamedTuple):
    """A batch at the endpoint. `failure` says why none of its calls was accepted."""

    id: str
    is_over: bool
    failure: str
    progress: str
    files: tuple[str, ...]


class BatchApi:
    """The batches of one endpoint. Whatever it does not do is a Stop: the same command goes on."""

    def __init__(self, model: Model):
        """Nothing is sent. Raises UserError if the key is missing."""
        self._model, self._client = model, client_of(model)
        self._patient = self._client.with_options(max_retries=_RETRIES)

    async def send(self, label: str, lines: Collection[str]) -> None:
        """Make a batch of lines, each of them a call. Raises Stop.

        A batch is asked for once: if the answer is lost, `find` shows whether it was made.
        """
        content = "".join(f"{line}\n" for line in lines).encode()
        with self._in_one_line("no batch was made"):
            file = await self._patient.files.create(
                file=(f"recjury-{label}.jsonl", content), purpose="batch"
            )
            await self._client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_MARK: label},
            )

    async def find(self, labels: Collection[str]) -> dict[str, State]:
        """The batches with these labels; one that was never made is missing. Raises Stop."""
        found: dict[str, State] = {}
        with self._in_one_line("its batches are not shown"):
            async for batch in self._patient.batches.list(limit=100):  # newest first
                label = (batch.metadata or {}).get(_MARK, "")
                if label in labels:
                    found.setdefault(label, _state(batch))
                if len(found) == len(labels):
                    break
        return found

    async def replies(self, state: State) -> dict[str, Any]:
        """The answer, or the error, of each line that the batch has written. Raises Stop."""
        found: dict[str, Any] = {}
        for file in state.files:
            with self._in_one_line(f"file {file} of {state.id} cannot be read"):
                content = await self._patient.files.content(file)
            found |= _lines(content.content)
        return found

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    @contextmanager
    def _in_one_line(self, what: str) -> Iterator[None]:
        import aiohttp
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            said = error.response
            failure = failure_in(said.status_code, error.body or said.text, said.headers)
            reason = remedy_for(
                failure, frozenset(), worked=True, key_env=key_variable(self._model)
            ).reason
        except (openai.OpenAIError, aiohttp.ClientError, ValueError) as error:
            reason = reason_of(error)
        else:
            return
        raise Stop(f"{self._model.name}: {what}: {reason}; the same command goes on")


def line_of(custom_id: str, body: Mapping[str, Any]) -> str:
    """A call as a line of a batch."""
    call = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(call)


def _state(batch: Any) -> State:
    errors = (batch.errors.data or []) if batch.errors else []
    failure = ""
    if batch.status == "failed":
        failure = one_line("; ".join(str(error.message) for error in errors[:3])) or "no reason"
    counts = batch.request_counts
    progress = f"{counts.completed + counts.failed} of {counts.total}" if counts else "none"
    files = tuple(file for file in (batch.error_file_id, batch.output_file_id) if file)
    return State(batch.id, batch.status in _OVER, failure, progress, files)


def _lines(content: bytes) -> Iterator[tuple[str, Any]]:
    """The lines that can be read; calls whose lines cannot count as not answered."""
    for line in content.splitlines():
        try:
            row = json.loads(line)
            yield str(row["custom_id"]), row.get("response") or {"body": row.get("error")}
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
