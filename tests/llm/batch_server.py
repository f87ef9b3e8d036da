"""A server of files and batches, as OpenAI documents them, that fails where a test says so.

https://developers.openai.com/api/reference/resources/batches
"""

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion

Line = dict[str, Any]
Lines = Callable[[list[Line]], list[Line | str]]
"""Makes lines of an output file of those that were sent."""


def answered(line: Line, text: str = "") -> Line:
    """A line of an output file: what was asked, said back in capitals."""
    said = text or line["body"]["messages"][-1]["content"].upper()
    return with_response(line, completion(said))


def with_response(line: Line, body: Any, status: int = 200) -> Line:
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": line["custom_id"], "response": response, "error": None}


def with_error(line: Line, message: str, code: str) -> Line:
    error = {"code": code, "message": message}
    return {"id": "b", "custom_id": line["custom_id"], "response": None, "error": error}


def all_answered(lines: list[Line]) -> list[Line | str]:
    return [answered(line) for line in lines]


class BatchServer(ScriptedEndpoint):
    """Batches stay open until `finish` is called. It keeps all that was sent."""

    def __init__(self) -> None:
        super().__init__(lambda body: Reply())
        self.files: dict[str, bytes] = {}
        self.batches: list[Body] = []
        self.faults: list[tuple[str, Reply, bool]] = []
        """For the next requests whose method and path begin so: what is answered, and whether what
        was asked is done all the same."""

    @property
    def sent(self) -> list[list[Line]]:
        """The lines of each batch."""
        return [self.lines(batch) for batch in self.batches if batch["input_file_id"] != "none"]

    def lines(self, batch: Body) -> list[Line]:
        content = self.files[batch["input_file_id"]].splitlines()
        return [json.loads(line) for line in content]

    def finish(
        self,
        output: Lines | None = all_answered,
        *,
        errors: Lines | None = None,
        status: str = "completed",
        failure: str = "",
    ) -> None:
        """End all open batches."""
        for batch in self.batches:
            if batch["status"] == "in_progress":
                batch["status"] = status
                for key, lines in (("output_file_id", output), ("error_file_id", errors)):
                    batch[key] = self._written(lines(self.lines(batch))) if lines else None
                if failure:
                    batch["errors"] = {"object": "list", "data": [{"message": failure}]}

    def _written(self, lines: list[Line | str]) -> str:
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        return self._kept("\n".join(texts).encode())

    def _kept(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        asked = f"{request.method} {request.path.removeprefix('/v1')}"
        fault = next((each for each in self.faults if asked.startswith(each[0])), None)
        if fault is None or fault[2]:
            found = await self._do(request, asked)
        if fault is None:
            return found
        self.faults.remove(fault)
        reply = fault[1]
        if reply.drop and request.transport is not None:
            request.transport.close()
        return web.json_response(reply.body, status=reply.status, headers=reply.headers)

    async def _do(self, request: web.Request, asked: str) -> web.Response:
        match asked.split("/"):
            case ["POST ", "files"]:
                posted = await request.post()
                assert posted["purpose"] == "batch"
                file: Any = posted["file"]
                return web.json_response({"id": self._kept(file.file.read()), "object": "file"})
            case ["GET ", "files", name, "content"]:
                return web.Response(body=self.files[name])
            case ["POST ", "batches"]:
                given = await request.json()
                assert given["completion_window"] == "24h"
                counts = {"total": 1, "completed": 0, "failed": 0}
                batch = {"id": f"batch_{len(self.batches)}", "object": "batch", **given}
                self.batches.append(batch | {"status": "in_progress", "request_counts": counts})
                return web.json_response(self.batches[-1])
            case _:
                listed = {"object": "list", "data": self.batches[::-1], "has_more": False}
                return web.json_response(listed)
