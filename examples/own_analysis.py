"""Own analysis: `recjury analyse own_analysis:Turns --set least=2` prints its table."""

from collections import Counter

from pydantic import Field

from recjury.store import Store
from recjury.tables import Analysis, AnalysisInput, Cell, Column, Findings, table_of


class Turns(Analysis):
    """How many turns the conversations of each system have."""

    least: int = Field(1, ge=1, description="leave out shorter conversations")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each system and number of turns."""
        counts: Counter[tuple[str, int]] = Counter()
        with Store.open(given.store, create=False) as store:
            for conversation in store.conversations():
                log = store.log(conversation.id)
                if log is not None and len(log.interaction) >= self.least:
                    counts[log.system, len(log.interaction)] += 1
        columns = (Column("system"), Column("turns"), Column("conversations"))
        rows: list[dict[str, Cell]] = [
            {"system": system, "turns": turns, "conversations": count}
            for (system, turns), count in sorted(counts.items())
        ]
        return Findings(tables=(table_of("turns", columns, rows),))
