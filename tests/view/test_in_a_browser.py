"""Conversation, debate and comparison in a real browser, by keyboard, over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import pytest

from recjury.records import Evidence, Finding, Turn
from recjury.store import Store
from recjury.view.compare import compare_page
from recjury.view.conversation import calls_page, conversation_page
from recjury.view.rendering import STATIC, render
from tests.campaign.campaigns import config, play
from tests.view.browser import browsing
from tests.view.stores import debated, log_of, put, rated, said

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:"
)


@contextmanager
def served(store: Store) -> Iterator[str]:
    """The pages of a store at an address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            where = urlsplit(self.path)
            match where.path.split("/")[1:], dict(parse_qsl(where.query)):
                case ["static", name], _:
                    kind, body = (
                        "css" if name.endswith("css") else "javascript",
                        (STATIC / name).read_bytes(),
                    )
                case ["t", id_], query:
                    kind, body = (
                        "html",
                        render(conversation_page(store, query, id_)).encode("utf-8", "replace"),
                    )
                case ["t", id_, "calls"], query:
                    kind, body = (
                        "html",
                        render(calls_page(store, query, id_)).encode("utf-8", "replace"),
                    )
                case ["c", id_, "compare"], query:
                    kind, body = (
                        "html",
                        render(compare_page(store, query, id_)).encode("utf-8", "replace"),
                    )
                case _:
                    kind, body = "plain", b""
            self.send_response(200)
            self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db") as opened:
        yield opened


def test_a_debate_is_played_by_keyboard(store: Store) -> None:
    ids = [
        put(
            store,
            said("A?", "B."),
            [debated([40, 50, 60, 70], [50, 55, 60, 65], [60, 60, 60, 60])],
            number=number,
        )
        for number in range(2)
    ]
    with served(store) as origin, browsing(origin) as page:
        page.goto(f"{origin}/t/{ids[0]}")
        page.keyboard.press("d")
        assert page.evaluate("document.activeElement.id") == "debate"
        shown = page.locator(".round:visible")
        assert shown.get_attribute("data-round") == "3"
        page.keyboard.press("ArrowLeft")
        assert (shown.get_attribute("data-round"), page.url[-8:]) == ("2", "?round=2")
        assert page.locator(".d.now").count() == 4
        page.keyboard.press("Space")
        assert page.locator(".play").inner_text() == "Pause"
        page.keyboard.press("Space")
        assert page.locator(".play").inner_text() == "Play"
        page.keyboard.press("ArrowRight")
        page.wait_for_function("document.querySelector('.mean:not(.later)')")
        page.locator(".whatif summary").click()
        page.locator("select[name=role]").select_option("hci")
        page.locator("input[name=score]").fill("75")
        command = page.locator("[data-whatif]").inner_text()
        assert command.startswith("recjury replay ")
        assert "--score hci=75 --round 3" in command
        page.goto(f"{origin}/t/{ids[0]}?round=1")
        assert shown.get_attribute("data-round") == "1"
        page.keyboard.press("ArrowRight")  # the debate has no focus: the next conversation
        page.wait_for_url(f"**/t/{ids[1]}**")


def test_an_open_rating_marks_its_evidence(store: Store) -> None:
    text = "Heat is a long night. Ran is a war."
    found: list[Finding] = [
        rated("novelty", 1, 'It says "Heat is a long night".'),
        rated("rounds", 3, 'It says "Ran is a war".'),
        Evidence(name="rounds", value={"turn": 1, "quote": "Heat", "note": "old"}),
    ]
    id_ = put(store, said("A?", text), found)
    with served(store) as origin, browsing(origin) as page:
        page.goto(f"{origin}/t/{id_}?metric=core.novelty")
        marked = page.locator("mark.on")
        assert marked.all_inner_texts() == ["Heat", " is a long night"]
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.wait_for_url("**metric=core.rounds")
        assert marked.all_inner_texts() == ["Heat", "Ran is a war"]
        page.keyboard.press("e")
        assert len(marked.all_inner_texts()) == 3


def test_prompts_and_conversations_are_loaded_when_opened(tmp_path: Path) -> None:
    play(tmp_path / "m.db", config())
    with Store(tmp_path / "m.db", readonly=True) as store, served(store) as origin:
        id_ = store.conversations("small")[0].id
        with browsing(origin) as page:
            page.goto(f"{origin}/t/{id_}?metric=core.novelty")
            page.locator("[id='core.novelty'] details summary").click()
            prompt = page.locator("[id='core.novelty'] pre").filter(has_text="You judge one factor")
            prompt.wait_for()
            page.goto(f"{origin}/c/small/compare")
            page.keyboard.press("j")
            page.keyboard.press("Enter")
            page.locator(".gap[open] .turns").nth(1).wait_for()
            assert page.locator(".gap[open] .turns").count() == 2, "a conversation of each side"


@pytest.mark.parametrize("width", [380, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_texts_leave_the_page_usable(store: Store, width: int, scheme: str) -> None:
    texts = [
        "</script><script>document.title = 'lost'</script>",
        '"><img src=x onerror="document.title = 1">',
        "\u202eright to left",
        "W" * 1_000_000,
        "a b\n" * 20_000,
        "\ud800 \x00 \x1b[31m",
    ]
    turns = [Turn(speaker="system", text=text) for text in texts]
    found: list[Finding] = [rated("novelty", 1, "".join(texts[:3])), debated([1, 2, 3, 4])]
    id_ = put(store, log_of(turns), found, system="W" * 200)
    view = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with served(store) as origin, browsing(origin, **view) as page:
        page.goto(f"{origin}/t/{id_}")
        assert page.title().endswith("· recjury")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.scrollHeight") < 8_000
        page.keyboard.press("d")
        assert page.evaluate("document.activeElement.id") == "debate"
