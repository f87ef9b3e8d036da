"""`Part`: what users and evaluators have in common, and `Context`, what they may know of items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from pydantic import PrivateAttr

from recjury.corpora.catalogue import Catalogue
from recjury.corpora.corpus import Domain
from recjury.records import Record, Scenario, Turn


def _no_dialogues(corpus: str, split: str) -> Sequence[tuple[Turn, ...]]:  # noqa: ARG001
    return ()


@dataclass(frozen=True)
class Context:
    """What a part may use besides a conversation: catalogues and domains by the names of corpora.

    `dialogues` gives what people said in a split ("valid") of one of these corpora.
    """

    catalogues: Mapping[str, Catalogue] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)
    dialogues: Callable[[str, str], Sequence[tuple[Turn, ...]]] = _no_dialogues


class Part(Record):
    """A part of a campaign whose fields are its keys in the file, and its identity."""

    RENDERING: ClassVar[int] = 1
    """Another number if the same fields and packs lead to other words or prompts."""

    kind: str
    name: str = ""
    _context: Context = PrivateAttr(default_factory=Context)

    @property
    def context(self) -> Context:
        """What was given to `prepared`."""
        return self._context

    def prepared(self, context: Context) -> Self:
        """The part with what it may know of items. Raises UserError."""
        ready = self.model_copy()
        ready._context = context
        return ready

    def catalogue(self, scenario: Scenario) -> Catalogue:
        """The catalogue of the scenario's items; an empty one if none is known."""
        return self._context.catalogues.get(scenario.corpus) or Catalogue()

    def domain(self, scenario: Scenario) -> Domain | None:
        """What the scenario's items are, if that is known."""
        return self._context.domains.get(scenario.corpus)
