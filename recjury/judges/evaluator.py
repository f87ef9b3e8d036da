"""`Evaluator`: the interface of all that rates logs. Its fields are its keys and its identity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from pydantic import Field, PrivateAttr

from recjury.corpora import Catalogue, Domain
from recjury.llm import Ask
from recjury.records import ConversationLog, Finding, Metric, Record, Turn


def _no_dialogues(corpus: str, split: str) -> Sequence[tuple[Turn, ...]]:  # noqa: ARG001
    return ()


@dataclass(frozen=True)
class Context:
    """What an evaluator may use besides a log: catalogues and domains by the names of corpora.

    `dialogues` gives what people said in a split ("valid") of one of these corpora.
    """

    catalogues: Mapping[str, Catalogue] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)
    dialogues: Callable[[str, str], Sequence[tuple[Turn, ...]]] = _no_dialogues

    def catalogue(self, log: ConversationLog) -> Catalogue:
        """The catalogue that the log's items are of; an empty one if none is known."""
        return self.catalogues.get(log.scenario.corpus) or Catalogue()

    def domain(self, log: ConversationLog) -> Domain | None:
        """What the log's items are, if that is known."""
        return self.domains.get(log.scenario.corpus)


class Evaluator(Record):
    """Rates logs. A subclass has its settings as fields, `metrics`, and `rate`.

    `name` stands before each metric in tables. With `judgings`, every log is rated so many times.
    """

    RENDERING: ClassVar[int] = 1
    """Another number for prompts that differ with the same fields and packs."""

    kind: str
    name: str = ""
    judgings: int = Field(default=1, ge=1)
    _context: Context = PrivateAttr(default_factory=Context)

    @property
    def metrics(self) -> Sequence[Metric]:
        """What `rate` returns ratings of."""
        raise NotImplementedError

    @property
    def context(self) -> Context:
        """What was given to `prepared`."""
        return self._context

    @property
    def drawn(self) -> object:
        """What `prepared` drew from the context and can change ratings: part of the identity."""
        return None

    def prepared(self, context: Context) -> Self:
        """The evaluator with what it may use besides a log."""
        ready = self.model_copy()
        ready._context = context
        return ready

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """What is found in a log. What has no score says why; only bugs and `Stop` are raised."""
        raise NotImplementedError
