"""The base of all systems under test, and what they are prepared with.

What a system needs is imported when it is prepared: reading a campaign file does not import torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import PrivateAttr

from recjury.errors import ConfigError
from recjury.records import JSON, LIST_LENGTH, Conversation, ExpectedCalls, Record, SystemReply

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.knowledge import Catalogue
    from recjury.llm import Gateway


@dataclass(frozen=True)
class SystemContext:
    """What systems are prepared with: the corpus, the models (if any), and folders.

    `list_length` is the number of items that a system recommends in one turn. `cache` is the folder
    for the items' vectors (None: the user's cache folder). Raises ConfigError for a `list_length`
    below 1.
    """

    corpus: "Corpus"
    gateway: "Gateway | None" = None
    list_length: int = LIST_LENGTH
    cache: Path | None = None

    def __post_init__(self) -> None:
        """Refuse an empty list."""
        if self.list_length < 1:
            raise ConfigError(f"list_length must be at least 1, got {self.list_length}")


class System(Record, ABC):
    """A system under test. Its fields are its keys in a campaign file; once prepared, it answers.

    Results show it under its `name`. One object serves all conversations about one corpus, many at
    once.
    """

    kind: str
    name: str

    _context: SystemContext = PrivateAttr()

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """The models that it calls, each with the key in the file that names it."""
        return []

    @property
    def isolation(self) -> str:
        """Where code of the user's runs for it, and what it can reach; empty for recjury's own."""
        return ""

    def expected(self, answers: int) -> list[ExpectedCalls]:  # noqa: ARG002
        """Its calls to the campaign's models for `answers` answers; by default there are none."""
        return []

    def prepared(self, context: SystemContext) -> Self:
        """A copy that can answer; `{corpus}` in its texts is replaced by the corpus's name.

        Raises ConfigError if a part is missing, and what the system itself raises.
        """
        texts = {
            key: value.replace("{corpus}", context.corpus.name)
            for key in type(self).model_fields
            if key not in ("kind", "name") and isinstance(value := getattr(self, key), str)
        }
        ready = self.model_copy(update=texts)
        ready._context = context
        ready._prepare()
        return ready

    def _prepare(self) -> None:
        """Check and load what it needs. Raises UserError."""

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change its answers: part of each conversation's identity."""

    @abstractmethod
    async def respond(self, conversation: Conversation) -> SystemReply:
        """Answer the conversation so far. Raises UnitFailed if it cannot."""

    async def aclose(self) -> None:
        """Release what it holds: nothing, by default."""

    @property
    def _catalogue(self) -> "Catalogue":
        """The items to recommend."""
        return self._context.corpus.catalogue

    @property
    def _common_settings(self) -> dict[str, JSON]:
        """The part of the settings that all systems of the package have."""
        return {
            "kind": self.kind,
            "catalogue": self._catalogue.digest,
            "list_length": self._context.list_length,
        }
