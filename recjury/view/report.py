"""A campaign as one file: its page and chosen conversations, with style and script inside."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from recjury.errors import UserError
from recjury.store import Store
from recjury.view.campaign import campaign_page
from recjury.view.conversation import conversation_page
from recjury.view.data import Campaign
from recjury.view.links import Address, linked, main_of, within
from recjury.view.rendering import STATIC, Page, encoded, render

MOST = 4_800_000
"""So many bytes are in a report at most, so that it can be sent by mail."""


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


def _html(store: Store, name: str, ids: Sequence[str]) -> tuple[bytes, int]:
    """The report, and for how many of the conversations it has room."""
    style, script = ((STATIC / each).read_text("utf-8") for each in ("style.css", "pages.js"))
    overview = main_of(render(campaign_page(store, {}, name)))
    room = MOST - sum(len(encoded(each)) for each in (style, script, overview))
    talks: dict[str, str] = {}
    for number, id_ in enumerate(ids, 1):
        talk = within(main_of(render(conversation_page(store, {}, id_))), f"c{number}-")
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
        "overview": linked(overview, to),
        "talks": [linked(talk, to) for talk in talks.values()],
    }
    return encoded(render(Page("report.j2", values))), len(talks)


def _to(inside: dict[str, str], address: Address) -> str | None:
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
