"""The store: all that is kept of campaigns, in SQLite or PostgreSQL."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from recjury.records import Completion, ConversationLog
from recjury.store.calls import Calls
from recjury.store.campaigns import Campaigns
from recjury.store.checking import Checking
from recjury.store.database import Database
from recjury.store.reading import Reading
from recjury.store.saving import Saving


class Store(Calls, Campaigns, Saving, Reading, Checking):
    """What is kept. A remote actor can stand in for the async methods: values in, values out."""

    def __init__(
        self,
        url: str | Path = ":memory:",
        *,
        readonly: bool = False,
        below: "Store | None" = None,
    ):
        """`url` is a file, `sqlite:///` and a path, `:memory:`, or `postgresql://user@host/name`.

        A file that is missing is made, unless `readonly`. `below` is read where this store has no
        call or log; nothing is written there. Raises UserError if it cannot be opened.
        """
        super().__init__(Database(url, readonly=readonly))
        self._below = below

    async def recall(self, calls: Sequence[str]) -> dict[str, Completion]:
        """The stored completions, by call."""
        found = await super().recall(calls)
        if self._below is not None and len(found) < len(calls):
            found |= await self._below.recall([call for call in calls if call not in found])
        return found

    async def log(self, conversation: str) -> ConversationLog | None:
        """The log of a conversation that is done."""
        log = await super().log(conversation)
        if log is None and self._below is not None:
            return await self._below.log(conversation)
        return log

    def close(self) -> None:
        """Finish what is being written, and close the database. A second time does nothing."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
