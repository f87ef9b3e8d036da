"""A campaign's pages as files: one report, or a folder for any static host."""

import base64
import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape, unescape
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from recjury.errors import UserError
from recjury.store import Store
from recjury.view.campaign import campaign_page
from recjury.view.compare import compare_page
from recjury.view.conversation import calls_page, conversation_page
from recjury.view.data import Campaign
from recjury.view.rendering import STATIC, Page, encoded, render
from recjury.view.trials import trials_page

MOST = 4_800_000
"""So many bytes are in a report at most, so that it can be sent by mail."""


# Pages escape every text, so no text of a conversation looks like an attribute here.
_LINK = re.compile(r'\s(href|src|action|data-(?:up|prev|next|events|load))="([^"]*)"')
_ID = re.compile(r'\s(id|aria-labelledby|data-m|href)="([^"]*)"')
_NAME = re.compile(r'(<details[^>]*?)\sname="[^"]*"')
_MAIN = re.compile(r"<main[^>]*>(.*)</main>", re.DOTALL)


class _Address(NamedTuple):
    """An address of a page: `/t/3f2a?metric=core.novelty#debate` in parts."""

    parts: tuple[str, ...]
    query: Mapping[str, str]
    fragment: str


class Report(NamedTuple):
    """What was written: how many bytes and conversations, and how many did not fit."""

    campaign: str
    size: int
    conversations: int
    left_out: int


def write_report(
    store: Store, out: Path, *, campaign: str = "", conversations: Sequence[str] = ()
) -> Report:
    """Write the page of a campaign, by default of the newest, and conversations to one file.

    `conversations` are ids, or how they begin; by default the highest, the middle and the lowest
    of each system by the leading metric. Raises UserError if the file cannot be written.
    """
    check_file(out)
    name = store.campaign(campaign)
    named = dict.fromkeys(store.conversation(each).id for each in conversations)
    ids = list(named or _examples(store, name))
    html, fits = _html(store, name, ids)
    try:
        out.write_bytes(html)
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}") from None
    return Report(name, len(html), fits, len(ids) - fits)


def check_file(out: Path) -> None:
    """Raise UserError if no file can be there."""
    if not out.parent.is_dir():
        raise UserError(f"{out}: there is no folder {out.parent}: make it first")
    if out.is_dir():
        raise UserError(f"{out} is a folder: name a file, such as {out / 'report.html'}")
    if out.is_file() and not _is_report(out):
        raise UserError(f"{out} is there already and is no report: name another file")


def _is_report(file: Path) -> bool:
    """Whether a file is a report, or empty, so that it may be replaced."""
    with file.open("rb") as opened:
        return b"recjury</title>" in (begins := opened.read(4096)) or not begins


def _html(store: Store, name: str, ids: Sequence[str]) -> tuple[bytes, int]:
    """The report, and for how many of the conversations it has room."""
    style, script = ((STATIC / each).read_text("utf-8") for each in ("style.css", "pages.js"))
    overview = _main_of(render(campaign_page(store, {}, name)))
    room = MOST - sum(len(encoded(each)) for each in (style, script, overview))
    talks: dict[str, str] = {}
    for number, id_ in enumerate(ids, 1):
        talk = _within(_main_of(render(conversation_page(store, {}, id_))), f"c{number}-")
        room -= len(encoded(talk))
        if room < 0:
            break
        talks[id_] = talk
    to = partial(_to, {id_: f"c{number}" for number, id_ in enumerate(talks, 1)})
    values = {
        "name": name,
        "style": style,
        "script": script,
        "hashes": {"style": _hash(style), "script": _hash(script)},
        "overview": _linked(overview, to),
        "talks": [_linked(talk, to) for talk in talks.values()],
    }
    return encoded(render(Page("report.j2", values))), len(talks)


def _to(inside: dict[str, str], address: _Address) -> str | None:
    """Where a link leads within the report; None if what it shows is not there."""
    match address.parts:
        case ("t", id_) if id_ in inside:
            part = address.fragment or address.query.get("metric", "")
            return f"#{inside[id_]}{'-' if part else ''}{part}"
    return None


def _examples(store: Store, name: str) -> Iterator[str]:
    """The conversations with the highest, the middle and the lowest score of each system."""
    campaign = Campaign(store, name)
    if not campaign.lead:
        return
    trials = campaign.trials[campaign.trials[campaign.lead].notna()]
    ranked = trials.sort_values(campaign.lead, ascending=False, kind="stable")
    for _, ids in ranked.groupby("system", observed=True)["id"]:
        for place in dict.fromkeys((0, len(ids) // 2, len(ids) - 1)):
            yield str(ids.iloc[place])


def _hash(text: str) -> str:
    """How a content security policy names a text that is allowed."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class Bundle(NamedTuple):
    """What was written: the campaign, and how many pages."""

    campaign: str
    pages: int


def write_bundle(store: Store, folder: Path, *, campaign: str = "") -> Bundle:
    """Write the pages of a campaign, by default of the newest, to a new folder.

    `index.html` is the campaign's page. Raises UserError if the folder has files, or cannot be
    written.
    """
    own = Campaign(store, campaign)
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: name a new folder, or delete that one")
    pages = dict(_pages(own))
    files = {address: file for address, (file, _) in pages.items()} | {(): "index.html"}
    try:
        folder.mkdir(exist_ok=True)
        (folder / "t").mkdir()
        shutil.copytree(STATIC, folder / "static")
        for file, make in pages.values():
            html = _linked(render(make()), partial(_link, files=files, page=file))
            (folder / file).write_bytes(encoded(html))
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    return Bundle(own.name, len(pages))


def _pages(campaign: Campaign) -> Iterator[tuple[tuple[str, ...], tuple[str, Callable[[], Page]]]]:
    """What is at each address: the name of the file, and what makes the page.

    A comparison's address ends with its sides by name. It has the scenarios by the leading metric.
    """
    store, name = campaign.store, campaign.name
    rows = store.conversations(name)
    here = ("c", name)
    yield here, ("index.html", partial(campaign_page, store, {}, name))
    whole = partial(trials_page, store, {}, name, part=len(rows))
    yield (*here, "trials"), ("trials.html", whole)
    systems = campaign.ratings["system"][campaign.ratings["score"].notna()].unique()
    for number, (a, b) in enumerate(combinations(map(str, systems), 2), 1):
        make = partial(compare_page, store, {"a": a, "b": b}, name)
        yield (*here, "compare", *sorted((a, b))), (f"compare-{number}.html", make)
    for row in rows:
        yield ("t", row.id), (f"t/{row.id}.html", partial(conversation_page, store, {}, row.id))
        calls = partial(calls_page, store, {}, row.id)
        yield ("t", row.id, "calls"), (f"t/{row.id}-calls.html", calls)


def _link(address: _Address, files: dict[tuple[str, ...], str], page: str) -> str | None:
    """A relative link from a page to what an address shows; None if the bundle lacks it."""
    parts, query = address.parts, dict(address.query)
    if parts[2:] == ("compare",) and "metric" not in query:
        parts = (*parts, *sorted((query.get("a", ""), query.get("b", ""))))
    target = "/".join(parts) if parts[:1] == ("static",) else files.get(parts)
    if target is None:
        return None
    query.pop("in", None)
    tail = f"?{urlencode(query)}" if query and target.endswith(".html") else ""
    hash_ = f"#{address.fragment}" if address.fragment else ""
    return f"{'../' * page.count('/')}{target}{tail}{hash_}"


def _main_of(html: str) -> str:
    """What a page shows, without its head and its navigation."""
    found = _MAIN.search(html)
    return found[1] if found else html


def _linked(html: str, to: Callable[[_Address], str | None]) -> str:
    """The page with each address of its own changed by `to`; a link to None is dropped."""

    def changed(found: re.Match[str]) -> str:
        name, value = found[1], unescape(found[2])
        if not value.startswith("/"):
            return found[0]
        new = to(_address(value))
        return "" if new is None else f' {name}="{escape(new)}"'

    return _LINK.sub(changed, html)


def _within(html: str, prefix: str) -> str:
    """A part of a larger page: ids and what refers to them begin with `prefix`.

    All its ratings can be open at once, so that they can be printed.
    """

    def changed(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if name == "href":
            return f' href="#{prefix}{value[1:]}"' if value.startswith("#") else found[0]
        return f' {name}="{" ".join(prefix + word for word in value.split())}"'

    return _NAME.sub(r"\1", _ID.sub(changed, html))


def _address(value: str) -> _Address:
    where = urlsplit(value)
    parts = tuple(unquote(part) for part in where.path.split("/") if part)
    return _Address(parts, dict(parse_qsl(where.query)), where.fragment)
