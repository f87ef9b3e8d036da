"""All pages of a campaign as a folder of files, for any static host."""

import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from recjury.errors import UserError
from recjury.store import Store
from recjury.view.calls import calls_page
from recjury.view.campaign import campaign_page
from recjury.view.compare import compare_page
from recjury.view.conversation import conversation_page
from recjury.view.data import Campaign
from recjury.view.links import Address, linked
from recjury.view.rendering import STATIC, Page, render
from recjury.view.trials import trials_page


class Bundle(NamedTuple):
    """What was written: the campaign, and how many pages."""

    campaign: str
    pages: int


def write_bundle(store: Store, folder: Path, *, campaign: str = "") -> Bundle:
    """Write the pages of a campaign, by default of the newest, to a new folder.

    `index.html` is the campaign's page. Raises UserError if the folder has files, or cannot be
    written.
    """
    name = store.campaign(campaign)
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: name a new folder, or delete that one")
    files = _Files(store, name)
    pages = 0
    try:
        folder.mkdir(exist_ok=True)
        (folder / "t").mkdir()
        shutil.copytree(STATIC, folder / "static")
        for file, page in files.pages():
            html = linked(render(page), partial(files.link, file=file))
            (folder / file).write_bytes(html.encode("utf-8", "replace"))
            pages += 1
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    return Bundle(name, pages)


class _Files:
    """Which pages there are, and in which file each of them is."""

    def __init__(self, store: Store, campaign: str):
        self._store, self._campaign = store, campaign
        self._rows = store.conversations(campaign)
        self._ids = {row.id for row in self._rows}
        frame = Campaign(store, campaign).ratings
        systems = map(str, frame["system"][frame["score"].notna()].unique())
        self._pairs = {
            frozenset(pair): (pair, f"compare-{number}.html")
            for number, pair in enumerate(combinations(systems, 2), 1)
        }

    def pages(self) -> Iterator[tuple[str, Page]]:
        """Each file's name, and its page."""
        store, name = self._store, self._campaign
        yield "index.html", campaign_page(store, {}, name)
        yield "trials.html", trials_page(store, {}, name, part=len(self._rows))
        for (a, b), file in self._pairs.values():
            yield file, compare_page(store, {"a": a, "b": b}, name)
        for row in self._rows:
            yield f"t/{row.id}.html", conversation_page(store, {}, row.id)
            yield f"t/{row.id}-calls.html", calls_page(store, {}, row.id)

    def link(self, address: Address, file: str) -> str | None:
        """A relative link from a file to what an address shows; None if the bundle lacks it."""
        target = self._file(address)
        if target is None:
            return None
        up = "../" * file.count("/")
        query = {key: value for key, value in address.query.items() if key != "in"}
        tail = f"?{urlencode(query)}" if query and target.endswith(".html") else ""
        return f"{up}{target}{tail}{'#' if address.fragment else ''}{address.fragment}"

    def _file(self, address: Address) -> str | None:
        match address.parts:
            case () | ("c", self._campaign):
                return "index.html"
            case ("static", *parts):
                return "/".join(("static", *parts))
            case ("t", id_) if id_ in self._ids:
                return f"t/{id_}.html"
            case ("t", id_, "calls") if id_ in self._ids:
                return f"t/{id_}-calls.html"
            case ("c", self._campaign, "trials"):
                return "trials.html"
            case ("c", self._campaign, "compare"):
                return self._compare(address.query)
        return None

    def _compare(self, query: Mapping[str, str]) -> str | None:
        """The page of two systems, which has the scenarios by the leading metric alone."""
        pair = frozenset((query.get("a", ""), query.get("b", "")))
        return self._pairs[pair][1] if pair in self._pairs and "metric" not in query else None
