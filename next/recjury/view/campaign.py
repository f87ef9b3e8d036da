"""A campaign: the answer, means by system, who is ahead of whom, and what is not to be trusted."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from recjury.results import summary
from recjury.results.sentences import rows_of
from recjury.store import Store
from recjury.view.kept import kept
from recjury.view.rendering import Page


def campaign_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002, ARG001
    """The page of a campaign. Raises UserError if there is none."""
    name = store.campaign(id)
    found = kept(store, ("summary", name), lambda: summary(store, name))
    address = f"/c/{quote(id, safe='')}"
    pairs = dict.fromkeys((row["a"], row["b"]) for row in found.data["comparisons"])
    return Page(
        "campaign.j2",
        {
            "name": id,
            "campaign": address,
            "answer": found.answer.splitlines(),
            "tables": {
                heading: (list(map(str, frame.columns)), rows_of(frame))
                for heading, frame in found.tables.items()
            },
            "pairs": [(a, b, f"{address}/compare?{urlencode({'a': a, 'b': b})}") for a, b in pairs],
            "notes": (*found.notes, *found.problems),
        },
    )
