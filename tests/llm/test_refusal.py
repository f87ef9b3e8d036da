"""What an endpoint says about itself reaches messages without the key."""

import asyncio
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from recjury.llm.endpoint_errors import error_of
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.openai_transport import OpenAITransport
from recjury.llm.transport import HttpResponse
from recjury.safe_text import hide_secret

KEY = "sk-very-secret"
SPEC = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="scripted")


@pytest.mark.parametrize("place", [f"/v1?key={KEY}", f"/v1\n?key={KEY}&" + "x" * 500])
def test_where_a_redirect_leads_is_told_without_the_key(place: str) -> None:
    hide_secret(KEY)
    said = str(error_of(ErrorAnswer(302, ""), {"location": place}, SPEC))
    assert KEY not in said
    assert "/v1" in said
    assert "[key]" in said
    assert "\n" not in said
    assert len(said) < 400


def test_the_openai_package_follows_no_redirect() -> None:
    paths: list[str] = []

    class Redirecting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(307)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    async def run(url: str) -> HttpResponse:
        transport = OpenAITransport(url, None, 10)
        try:
            return await transport.send("/models", None)
        finally:
            await transport.aclose()

    with HTTPServer(("127.0.0.1", 0), Redirecting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        response = asyncio.run(run(f"http://127.0.0.1:{server.server_port}/v1"))
        server.shutdown()
    assert (response.status, response.headers["location"]) == (307, "/elsewhere")
    assert paths == ["/v1/models"]
