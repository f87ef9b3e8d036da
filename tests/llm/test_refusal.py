"""What an endpoint says about itself reaches messages without the key."""

import asyncio
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from yarl import URL

from recjury.llm.endpoint_errors import error_of
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.transport import HttpSession, proxy_of
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


def test_requests_go_through_the_proxy_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *arguments: object) -> None:
            pass

    async def ask(url: str) -> bytes:
        session = HttpSession()
        try:
            return (await session.request("GET", URL(url), None, {}, 10)).body
        finally:
            await session.aclose()

    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("no_proxy", "near.example")
        assert asyncio.run(ask("http://far.example/v1/models")) == b"ok"
        found = {host: proxy_of(URL(f"http://{host}/")) for host in ("127.0.0.1", "near.example")}
        server.shutdown()
    assert asked == ["http://far.example/v1/models"]
    assert set(found.values()) == {None}
