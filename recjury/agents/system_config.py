"""What every system's entry in a campaign file has, and the entries of `retrieval` and `python`.

What a system needs is imported when it is built: reading a campaign file does not import torch.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field

from recjury.records import LIST_LENGTH, ExpectedCalls, Recommender, Record

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.llm import Gateway


@dataclass(frozen=True)
class SystemContext:
    """What systems are built from: the corpus, the models (if any), and folders.

    `list_length` is the number of items that a system recommends in one turn. `cache` is the folder
    for the items' vectors (None: the user's cache folder).
    """

    corpus: "Corpus"
    gateway: "Gateway | None" = None
    list_length: int = LIST_LENGTH
    cache: Path | None = None


def _not_empty(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty: fill it in, or leave it out")
    return value


def _no_truth_value(value: object) -> object:
    # In Python `true` is the number 1; to the author of a campaign file it is not.
    if isinstance(value, bool):
        raise ValueError(f"must be a number, got {value}")
    return value


NonEmpty = Annotated[str, AfterValidator(_not_empty)]
Seconds = Annotated[float, BeforeValidator(_no_truth_value), Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_no_truth_value)]


class SystemConfig(Record):
    """The entry of a system in a campaign file; results show it under its `name`."""

    kind: str
    name: str

    def for_corpus(self, corpus: str) -> Self:
        """This entry with `{corpus}` in its texts replaced by the corpus's name."""
        texts = {
            key: value.replace("{corpus}", corpus)
            for key in type(self).model_fields
            if key not in ("kind", "name") and isinstance(value := getattr(self, key), str)
        }
        return self.model_copy(update=texts)

    def aliases(self) -> list[tuple[str, str]]:
        """The models that it calls, each with the key in the file that names it."""
        return []

    def build(self, context: SystemContext) -> Recommender:
        """Build the system. Raises ConfigError if a part is missing, and what the system itself
        raises."""
        raise NotImplementedError

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """Its calls to the campaign's models for `answers` answers; by default there are none."""
        del answers
        return []


class RetrievalConfig(SystemConfig):
    """A retrieval CRS that needs no model."""

    kind: Literal["retrieval"]
    name: str = "retrieval"

    def build(self, context: SystemContext) -> Recommender:
        """Build the system on the catalogue of the corpus."""
        from recjury.agents.retrieval import Retrieval

        catalogue = context.corpus.catalogue
        return Retrieval(catalogue, name=self.name, list_length=context.list_length)


class PythonSystemConfig(SystemConfig):
    """A user's own system: `path` is "module:Class" or an entry point's name.

    `timeout` is in seconds, for one answer. From Python, `instance` may be the system itself.
    """

    kind: Literal["python"]
    path: str
    options: dict[str, object] = Field(default_factory=dict)
    instance: Any = Field(default=None, exclude=True)
    timeout: Seconds = 300

    def build(self, context: SystemContext) -> Recommender:
        """Build the system, guarded: its errors fail one turn and not the campaign."""
        from recjury.agents.python_system import guard_python_system, load_python_system

        corpus, name, timeout = context.corpus, self.name, self.timeout
        if self.instance is not None:
            return guard_python_system(self.instance, corpus, name=name, timeout=timeout)
        return load_python_system(
            self.path, corpus, name=name, options=self.options, timeout=timeout
        )
