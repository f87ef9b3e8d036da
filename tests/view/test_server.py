"""The pages over HTTP: what is refused, what is shown, a run watched live, a walk by keyboard."""

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import aiohttp
import pytest

from recjury.campaign import Config, run
from recjury.records import Finding, Rating, Turn
from recjury.store import Store
from recjury.view.server import ROUTES, Server
from tests.view.browser import browsing
from tests.view.stores import debated, log_of, put, rated, said

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>throw Error('out')</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }} {% raw %}",
    "javascript:alert(1)",
    "</td></tr></table><h1>out</h1>",
    "\u202eright to left\u202c עברית العربية",
    "\x00\x1b[31mred\x07",
    "a" * 100_000,
    "\ud800 half a character",
    "<!-- --> <![CDATA[ ]]> &amp; &#x3c;b&#x3e;",
    "' OR 1=1; DROP TABLE campaign; --",
]


TAGS = [
    "<svg onload=alert(1)>",
    "<iframe src='javascript:alert(1)'>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<form action=//evil.example><input autofocus onfocus=alert(1)>",
    "<img src=//evil.example/x.png>",
    "<style>* { display: none }</style>",
]
ENDS = ["", '">', "'>", "</title>", "</script>", "-->"]
HOSTILE += [f"{end}{tag}" for end in ENDS for tag in TAGS]


def demo(path: Path, **changes: Any) -> None:
    """A finished campaign without a model."""
    values = {"name": "films", "scenarios": [{"corpus": "sample", "limit": 3}]}
    config = Config.model_validate(values | {"systems": ["popular", "random"]} | changes)
    with Store(path) as store:
        asyncio.run(run(config, store))


@contextmanager
def serving(path: Path, **options: Any) -> Iterator[Server]:
    """A server in a thread of its own."""
    server, ready, over = Server(str(path), port=0, **options), Event(), Event()

    async def serve() -> None:
        async with server.open():
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        over.set()
        thread.join(10)


def got(address: str, **headers: str) -> tuple[int, str, Any]:
    """Status, text and headers of an answer."""

    async def get() -> tuple[int, str, Any]:
        async with (
            aiohttp.ClientSession() as session,
            session.get(address, headers=headers, allow_redirects=False) as answer,
        ):
            return answer.status, await answer.text(), answer.headers

    return asyncio.run(get())


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("view") / "s.db"
    demo(path)
    return path


def test_each_page_is_there_and_safe(films: Path) -> None:
    with Store(films, readonly=True) as store:
        ids = [row.id for row in store.conversations("films")]
    with serving(films) as server:
        for route in ROUTES:
            id_ = ids[0] if route.startswith("/t/") else "films"
            status, text, headers = got(server.address + route.replace("{id}", id_)[1:])
            assert status == 200, route
            assert "default-src 'none'" in headers["Content-Security-Policy"]
            assert " style=" not in text
            assert "<script>" not in text
        assert got(server.address + "static/style.css")[0] == 200
        for missing in ("c/none", "t/none", "nowhere", "static/../server.py", "c/films/trials/x"):
            status, text, _ = got(server.address + missing)
            assert status == 404, missing
            assert "Traceback" not in text


def test_another_host_and_other_methods_are_refused(films: Path) -> None:
    """A page of another site that resolves to this machine names its own host."""
    with serving(films) as server:
        assert got(server.address, Host="evil.example")[0] == 403
        assert got(server.address, Host="localhost")[0] == 200

        async def post() -> int:
            async with aiohttp.ClientSession() as session, session.post(server.address) as answer:
                return answer.status

        assert asyncio.run(post()) == 405


def test_nothing_is_changed_by_looking(films: Path) -> None:
    before = films.read_bytes()
    with serving(films) as server:
        for path in (
            "",
            "c/films",
            "c/films/trials?q=heat&sort=-outcome.success",
            "c/films/compare",
            "c/films/compare?by=evaluator",
        ):
            assert got(server.address + path)[0] == 200
    assert films.read_bytes() == before


def test_elsewhere_a_token_is_asked_for_once(films: Path) -> None:
    with serving(films, host="0.0.0.0", token="secret") as server:
        origin = f"http://127.0.0.1:{server.port}/"
        assert got(origin)[0] == 403
        assert got(f"{origin}?token=wrong")[0] == 403
        status, _, headers = got(f"{origin}?token=secret")
        assert status == 200
        cookie = headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert got(f"{origin}c/films", Cookie=cookie.partition(";")[0])[0] == 200


def test_a_port_in_use_is_passed_over(films: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        wanted = taken.getsockname()[1]

        async def opened() -> int:
            server = Server(str(films), port=wanted)
            async with server.open():
                return server.port

        assert asyncio.run(opened()) > wanted


def test_an_empty_store_and_one_that_vanishes(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Store(path).close()
    with serving(path) as server:
        assert "recjury demo" in got(server.address)[1]
        path.unlink()
        status, text, _ = got(server.address)
        assert status == 404
        assert "s.db" in text


def test_trials_are_filtered_searched_and_sorted(films: Path) -> None:
    with serving(films) as server:
        address = f"{server.address}c/films/trials"

        def shown(query: str) -> str:
            return got(f"{address}?{query}")[1].split("data-count>")[1].split("<")[0]

        assert shown("") == "6"
        assert shown("system=popular") == "3"
        assert shown("q=zzzz") == "0"
        assert shown("q=you+like") == "6"
        assert shown("q=100%25") == "0"
        assert shown("status=failed") == "0"
        assert shown("agreed=yes") != shown("agreed=no")
        assert shown("sort=-counted.overall&from=3") == "6"


def test_a_walk_by_keyboard_from_the_campaign_to_its_debate(films: Path) -> None:
    with serving(films) as server, browsing(server.address.rstrip("/")) as page:
        page.goto(server.address)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/c/films")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/trials?**")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/t/**")
        page.keyboard.press("d")
        assert page.evaluate("document.activeElement.id") == "debate"
        page.keyboard.press("Space")
        assert page.locator(".play").inner_text() == "Pause"
        page.keyboard.press("Space")
        page.keyboard.press("u")
        page.wait_for_url("**/trials**")
        page.keyboard.press("u")
        page.wait_for_url("**/c/films")


@pytest.mark.parametrize("width", [380, 1280])
def test_nothing_scrolls_sideways(films: Path, width: int) -> None:
    size = {"width": width, "height": 800}
    with serving(films) as server, browsing(server.address.rstrip("/"), viewport=size) as page:
        for path in ("", "c/films", "c/films/trials", "c/films/compare"):
            page.goto(server.address + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_text_has_contrast(tmp_path: Path, scheme: str) -> None:
    """WCAG 2.2, level AA, on pages with each colour of scores, a failure and marks."""
    contrast = Path(__file__).with_name("contrast.js").read_text("utf-8")
    path = tmp_path / "s.db"
    demo(path, systems=["popular", "random", "retrieval"])
    with Store(path) as store:
        found: list[Finding] = [
            rated(f"f{step}", step / 2, "It says “a heist and a chase”") for step in range(9)
        ]
        found += [rated("lost", None), debated([50, 60], [55, None])]
        metrics = [{"name": each.metric, "high": 4} for each in found if isinstance(each, Rating)]
        broken = log_of([Turn(speaker="system", failure="HTTP 502")], ending="system failed")
        ids = [
            store.conversations("films")[0].id,
            put(store, said("Hi", "It has a heist and a chase."), found, metrics=metrics),
            put(store, broken, number=1, metrics=metrics),
        ]
    paths = ["", "c/films", "c/films/trials?sort=core.f1", "c/films/compare?a=popular"]
    options = {"color_scheme": scheme}
    with serving(path) as server, browsing(server.address.rstrip("/"), **options) as page:
        for where in (*paths, *(f"t/{id_}?metric=core.f1" for id_ in ids), f"t/{ids[0]}/calls"):
            page.goto(server.address + where)
            assert page.evaluate(contrast) == [], where


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        ids = [
            put(
                store,
                said(*HOSTILE[number : number + 6], id=HOSTILE[number][:500]),
                [rated("novelty", 2, HOSTILE[number]), debated([50, 60])],
                system=f"s{number}",
                number=number,
            )
            for number in range(0, len(HOSTILE), 6)
        ]
    with serving(path) as server, browsing(server.address.rstrip("/")) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        for where in ("", "c/films", "c/films/trials", *(f"t/{id_}" for id_ in ids)):
            answer = page.goto(server.address + where)
            assert answer is not None
            assert answer.status == 200, where
            assert page.locator("h1").count() == 1, where


def test_hostile_names_stay_texts(tmp_path: Path) -> None:
    names = [text for text in HOSTILE[:12] if text.isprintable() and len(text) < 100]
    systems = [{"kind": "popular", "name": name, "version": name} for name in names]
    demo(tmp_path / "s.db", name="<b>&\"'/?#%", systems=systems, repeats=2)
    with serving(tmp_path / "s.db") as server, browsing(server.address.rstrip("/")) as page:
        page.goto(server.address)
        page.locator("a.go").click()
        page.wait_for_selector("h1")
        assert page.locator("h1").inner_text() == "<b>&\"'/?#%"
        assert page.locator("table.systems tbody tr").count() == len(names)
        page.locator("table.systems a.go").last.click()
        page.wait_for_selector("table.trials tbody tr")
        assert page.locator("table.trials tbody tr").count() == 6


def test_a_run_is_watched_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures change without a reload, and the page is read again when the run has ended."""
    (tmp_path / "waits.py").write_text(
        "import time\n"
        "from pathlib import Path\n"
        "def talk(conversation):\n"
        "    while not Path(__file__).with_name('go').exists() and len(conversation.turns) > 4:\n"
        "        time.sleep(0.02)\n"
        "    return 'Heat (1995)'\n"
    )
    from playwright.sync_api import expect

    path = tmp_path / "s.db"
    with ThreadPoolExecutor(1) as thread:
        systems = ["popular", "waits:talk"]
        work = thread.submit(demo, path, systems=systems, folder=str(tmp_path))
        try:
            while not _running(path):
                assert not work.done(), work.result()
            with serving(path) as server, browsing(server.address.rstrip("/")) as page:
                page.goto(f"{server.address}c/films")
                expect(page.locator("[data-live=done]")).to_have_text("3")
                (tmp_path / "go").touch()
                expect(page.locator(".live")).to_have_count(0, timeout=20_000)
                assert page.locator("table.systems tbody tr").count() == 2
        finally:
            (tmp_path / "go").touch()
        work.result()


def _running(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return False
    with Store(path, readonly=True) as store:
        return bool(store.campaigns()) and store.counts("films").conversations.get("done", 0) > 0
