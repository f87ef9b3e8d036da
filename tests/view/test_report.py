"""Reports and bundles: real files, opened in a real browser without a server and over a host."""

import re
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from recjury.errors import UserError
from recjury.records import Finding
from recjury.store import Store
from recjury.view.files import write_bundle, write_report
from tests.campaign.campaigns import config, play
from tests.view.browser import browsing
from tests.view.stores import debated, put, rated, said


class Links(HTMLParser):
    """Where a page leads, and its ids."""

    def __init__(self, html: str):
        super().__init__()
        self.to: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.to += [
            value or "" for name, value in attrs if name in ("href", "src") or name == "data-load"
        ]
        self.ids += [value or "" for name, value in attrs if name == "id"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems, two scenarios, twelve factors, a debate of two rounds."""
    file = tmp_path_factory.mktemp("campaign") / "s.db"
    play(file, config())
    return file


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path, readonly=True) as opened:
        yield opened


def test_a_report_is_one_file_that_plays_its_debates(store: Store, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = write_report(store, out)
    links = Links(out.read_text("utf-8"))
    assert (done.campaign, done.conversations, done.left_out) == ("small", 4, 0)
    assert done.size == out.stat().st_size
    assert {link[0] for link in links.to if link != "data:,"} == {"#"}
    assert {link[1:] for link in links.to if link != "data:,"} <= set(links.ids)
    assert len(links.ids) == len(set(links.ids))
    with browsing(out.as_uri()) as page:
        page.goto(out.as_uri())
        second = page.locator(".debate").nth(1)
        second.focus()
        page.keyboard.press("ArrowLeft")
        assert second.locator(".round:visible").get_attribute("data-round") == "1"
        assert page.locator(".debate").nth(0).locator(".d.now").first.get_attribute("data-r") == "2"
        page.emulate_media(media="print")
        assert page.locator(".round").filter(visible=True).count() == 8


def test_chosen_conversations_are_in_the_report(store: Store, tmp_path: Path) -> None:
    ids = [row.id for row in store.conversations("small")][:2]
    done = write_report(store, tmp_path / "r.html", conversations=[ids[0][:8], ids[0], ids[1]])
    assert done.conversations == 2
    html = (tmp_path / "r.html").read_text("utf-8")
    assert all(id_[:8] in html for id_ in ids)


def test_what_has_no_room_is_left_out_and_said(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        for number, size in enumerate((100, 6_000_000)):
            found: list[Finding] = [rated("novelty", 3, "Why not."), debated([90 - number])]
            put(store, said("A?", "word " * (size // 5)), found, number=number, system=f"s{number}")
        done = write_report(store, tmp_path / "r.html")
    assert (done.conversations, done.left_out) == (1, 1)
    assert done.size < 5_000_000


def test_hostile_texts_stay_text_in_a_report(tmp_path: Path) -> None:
    texts = [
        "</script><script>alert(1)</script>",
        "</style></main>",
        ' href="/t/1" id="x" name="rating"',
        "\ud800",
        "<!--",
    ]
    with Store(tmp_path / "s.db") as store:
        id_ = put(store, said(*texts), [rated("novelty", 3, texts[2])])
        write_report(store, tmp_path / "r.html", conversations=[id_])
    out = (tmp_path / "r.html").as_uri()
    with browsing(out) as page:
        page.goto(out)
        shown = page.locator(".text").all_inner_texts()
        assert shown == [text.replace("\ud800", "?").strip() for text in texts]
        assert page.locator("dialog#help").count() == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [("no/r.html", "there is no folder"), ("", "is a folder: name a file, such as")],
)
def test_where_no_report_can_be_is_said(
    store: Store, tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        write_report(store, tmp_path / name)


def test_a_bundle_has_all_pages_and_no_link_leads_nowhere(store: Store, tmp_path: Path) -> None:
    done = write_bundle(store, tmp_path / "site")
    files = {
        file.relative_to(tmp_path / "site").as_posix()
        for file in (tmp_path / "site").rglob("*.html")
    }
    assert len(files) == done.pages == 3 + 2 * 4
    for name in files:
        file = tmp_path / "site" / name
        for link in Links(file.read_text("utf-8")).to:
            where = urlsplit(link)
            if where.scheme:
                continue
            target = (file.parent / where.path).resolve() if where.path else file
            assert target.is_file(), (name, link)
            if where.fragment and not re.match(r"t\d", where.fragment):
                assert where.fragment in Links(target.read_text("utf-8")).ids, (name, link)


def test_a_bundle_works_on_a_static_host(store: Store, tmp_path: Path) -> None:
    write_bundle(store, tmp_path / "site")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = partial(Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}"
        with browsing(origin) as page:
            page.goto(f"{origin}/trials.html")
            page.keyboard.press("j")
            page.keyboard.press("Enter")
            page.wait_for_url("**/t/*.html")
            page.keyboard.press("d")
            page.keyboard.press("ArrowLeft")
            assert page.locator(".round:visible").get_attribute("data-round") == "1"
            page.keyboard.press("u")
            page.wait_for_url("**/trials.html")
            page.goto(f"{origin}/compare-1.html")
            page.keyboard.press("j")
            page.keyboard.press("Enter")
            page.locator(".gap[open] .turns").nth(1).wait_for()
        server.shutdown()


def test_a_folder_with_files_is_no_place_for_a_bundle(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep", "utf-8")
    with pytest.raises(UserError, match="is not empty: name a new folder"):
        write_bundle(store, tmp_path)
    with pytest.raises(UserError, match="cannot write to"):
        write_bundle(store, tmp_path / "no" / "site")
