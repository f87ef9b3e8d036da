"""All pages of a campaign as a folder of files, for any static host."""

import shutil
from collections.abc import Callable, Iterator
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
from recjury.view.rendering import STATIC, Page, encoded, render
from recjury.view.trials import trials_page

Make = Callable[[], Page]


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
            html = linked(render(make()), partial(_link, files=files, page=file))
            (folder / file).write_bytes(encoded(html))
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    return Bundle(own.name, len(pages))


def _pages(campaign: Campaign) -> Iterator[tuple[tuple[str, ...], tuple[str, Make]]]:
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


def _link(address: Address, files: dict[tuple[str, ...], str], page: str) -> str | None:
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
