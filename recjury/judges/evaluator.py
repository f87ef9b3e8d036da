"""`Evaluator`: the interface of all that rates logs. Its fields are its keys and its identity."""

from collections.abc import Sequence

from pydantic import Field

from recjury.corpora import Part
from recjury.llm import Ask
from recjury.records import ConversationLog, Finding, Metric


class Evaluator(Part):
    """Rates logs. A subclass has its settings as fields, `metrics`, and `rate`.

    `name` stands before each metric in tables. With `judgings`, every log is rated so many times.
    """

    judgings: int = Field(default=1, ge=1)

    @property
    def metrics(self) -> Sequence[Metric]:
        """What `rate` returns ratings of."""
        raise NotImplementedError

    @property
    def drawn(self) -> object:
        """What `prepared` drew from the context and can change ratings: part of the identity."""
        return None

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """What is found in a log. What has no score says why; only bugs and `Stop` are raised."""
        raise NotImplementedError
