"""What every system's settings have, whatever its kind."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import Field, PrivateAttr

from recjury.corpora import Corpus
from recjury.records import LookUp, Record, identity


class SystemSettings(Record):
    """A system's keys in a campaign file.

    `version` labels a system that changed where recjury cannot see it, such as a server. `timeout`
    is for one turn, in seconds: by default 120, or 3,600 for a system that asks. `concurrency`
    counts open conversations. `link` says whether lists are searched for in texts; without it, that
    depends on the kind.
    """

    RENDERING: ClassVar[int] = 1
    """Another number if the same settings lead to other prompts or requests."""

    kind: str
    name: str = ""
    version: str | int | float = ""
    timeout: float | None = Field(default=None, gt=0)
    concurrency: int | None = Field(default=None, ge=1)
    link: bool | None = None
    _corpus: Corpus = PrivateAttr()

    @property
    def title(self) -> str:
        """The system's name: the last part of its kind, if it was given none."""
        return self.name or self.kind.rpartition(":")[2].lower()

    @property
    def links(self) -> bool | None:
        """Whether lists are searched for in texts; None: if an answer has none of its own."""
        return self.link

    def identity(self, look_up: LookUp) -> Mapping[str, object]:
        """The settings that can change what the system says."""
        found = identity(self, look_up)
        kept = found.keys() - {"timeout", "concurrency"}
        own = self.model_extra or {}
        return {key: found[key] for key in kept} | own | {"rendering": self.RENDERING}

    def over(self, corpus: Corpus) -> Self:  # noqa: ARG002 (only some settings depend on it)
        """The settings for a corpus."""
        return self

    def prepared(self, corpus: Corpus) -> Any:
        """The system over a corpus: an object with `respond`, by default the settings themselves.

        Raises UserError.
        """
        ready = self.model_copy()
        ready._corpus = corpus
        return ready
