"""What stored prompts show of the items in their lists, so that they can be rendered again.

A store has no catalogue, and the catalogue of today may know other things than that of the day.
"""

import html
import re
from collections.abc import Iterable
from contextlib import suppress

from recjury.errors import StoreError
from recjury.prompts import fence_line
from recjury.records import DebateTranscript, ItemRef
from recjury.store import Store

_SHOWN = "<facts>"
_ROW = re.compile(r"^[0-9]+\. ([^<\n]*) <facts>([^<\n]*)</facts>", re.MULTILINE)


class ShownFacts:
    """The facts of items by their names, as prompts showed them."""

    digest = ""

    def __init__(self, prompts: Iterable[str]):
        """Read the rows of the lists in `prompts`; texts of others in them cannot have tags."""
        rows = (row for prompt in prompts for row in _ROW.findall(prompt))
        self._facts = {name: html.unescape(facts) for name, facts in rows}

    def __call__(self, item: ItemRef) -> str:
        """The facts of an item; empty if no prompt showed any."""
        return self._facts.get(fence_line(item.name), "")


def shown_facts(store: Store, transcript: DebateTranscript) -> ShownFacts | None:
    """The facts that the prompts of a stored debate showed; None if they showed no facts at all.

    Altered calls are left out.
    """
    prompts: list[str] = []
    for identity in dict.fromkeys(call for said in transcript.statements for call in said.calls):
        with suppress(StoreError):
            prompts += [message.text for message in store.call(identity).request.messages]
    return ShownFacts(prompts) if any(_SHOWN in prompt for prompt in prompts) else None
