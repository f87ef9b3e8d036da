"""The systems under test: what a campaign file says of each kind, and how each is built.

What a kind needs is imported when it is built: reading a campaign file takes no torch.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from recjury.agents.extras import require_neural
from recjury.errors import ConfigError
from recjury.llm import MAIN_MODEL
from recjury.records import LIST_LENGTH, ExpectedCalls, Recommender, Record

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.llm import Gateway

EMBEDDING_OF_CONVERSATION = "embedding/conversation"


@dataclass(frozen=True)
class SystemContext:
    """What systems are built from: the corpus, the models if there are any, and places.

    `list_length` is the number of items a system recommends in one turn. `cache` is the folder for
    the vectors of items (None: the user's cache folder).
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
Fidelity = Literal["corrected", "ievalm"]


class SystemConfig(Record):
    """A system as a campaign file has it; `name` is what results call it."""

    kind: str
    name: str

    def for_corpus(self, corpus: str) -> Self:
        """This entry with `{corpus}` in its texts replaced by the name of the corpus."""
        texts = {
            key: value.replace("{corpus}", corpus)
            for key in type(self).model_fields
            if key not in ("kind", "name") and isinstance(value := getattr(self, key), str)
        }
        return self.model_copy(update=texts)

    def aliases(self) -> list[tuple[str, str]]:
        """The models that it asks, each with the place in the file that names it."""
        return []

    def build(self, context: SystemContext) -> Recommender:
        """The system. Raises ConfigError for what is missing, and what the system itself raises."""
        raise NotImplementedError

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """Its calls to the campaign's models for `answers` answers; none by default."""
        del answers
        return []


class RetrievalConfig(SystemConfig):
    """A retrieval CRS that needs no model."""

    kind: Literal["retrieval"]
    name: str = "retrieval"

    def build(self, context: SystemContext) -> Recommender:
        """The system on the catalogue of the corpus."""
        from recjury.agents.retrieval import Retrieval

        catalogue = context.corpus.catalogue
        return Retrieval(catalogue, name=self.name, list_length=context.list_length)


class NeuralConfig(SystemConfig):
    """A neural system from a checkpoint folder; `{corpus}` in it stands for the corpus.

    Without a `checkpoint` it has the weights that ship for the sample corpus.
    `fidelity` is by default what the checkpoint was trained as, and for published ones "ievalm".
    `device` is where torch computes.
    """

    checkpoint: NonEmpty | None = None
    fidelity: Fidelity | None = None
    device: str = "cpu"

    def folder(self, context: SystemContext) -> Path:
        """The checkpoint's folder, or that of the weights that ship. Raises ConfigError."""
        from recjury.agents.shipped import shipped_checkpoint

        if self.checkpoint is not None:
            return Path(self.checkpoint).expanduser()
        return shipped_checkpoint(self.kind, context.corpus, name=self.name)

    def usable_device(self) -> str:
        """The device, tried with one number. Raises ConfigError where torch cannot use it."""
        import torch

        try:
            # Some torch devices (such as "meta") store no values.
            torch.zeros(1, device=self.device).tolist()
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(
                f"system {self.name}: device {self.device!r} cannot be used: {reason}"
            ) from error
        return self.device


class KbrdConfig(NeuralConfig):
    """KBRD. `backbones` may name the tokenizer of its generator (`bart`)."""

    kind: Literal["kbrd"]
    name: str = "kbrd"
    backbones: dict[Literal["bart"], NonEmpty] = Field(default_factory=dict)

    def build(self, context: SystemContext) -> Recommender:
        """The system from its checkpoint."""
        require_neural(f"system {self.name}: kind kbrd")
        from recjury.agents.kbrd.recommender import KBRD

        return KBRD.load(
            self.folder(context),
            context.corpus,
            name=self.name,
            list_length=context.list_length,
            fidelity=self.fidelity,
            backbone=self.backbones.get("bart"),
            device=self.usable_device(),
        )


class BarcorConfig(NeuralConfig):
    """BARCOR. `backbones` may name its tokenizer (`bart`)."""

    kind: Literal["barcor"]
    name: str = "barcor"
    backbones: dict[Literal["bart"], NonEmpty] = Field(default_factory=dict)

    def build(self, context: SystemContext) -> Recommender:
        """The system from its checkpoint."""
        require_neural(f"system {self.name}: kind barcor")
        from recjury.agents.barcor.recommender import BARCOR

        return BARCOR.load(
            self.folder(context),
            context.corpus,
            name=self.name,
            list_length=context.list_length,
            fidelity=self.fidelity,
            backbone=self.backbones.get("bart"),
            device=self.usable_device(),
        )


class UnicrsConfig(NeuralConfig):
    """UniCRS. `backbones` may name the models it builds on (`gpt2`, `roberta`)."""

    kind: Literal["unicrs"]
    name: str = "unicrs"
    backbones: dict[Literal["gpt2", "roberta"], NonEmpty] = Field(default_factory=dict)

    def build(self, context: SystemContext) -> Recommender:
        """The system from its checkpoint."""
        require_neural(f"system {self.name}: kind unicrs")
        from recjury.agents.unicrs.recommender import UniCRS

        return UniCRS.load(
            self.folder(context),
            context.corpus,
            name=self.name,
            list_length=context.list_length,
            fidelity=self.fidelity,
            backbones={str(kind): place for kind, place in self.backbones.items()},
            device=self.usable_device(),
        )


class ChatCrsConfig(SystemConfig):
    """An LLM as CRS. `embeddings`: tfidf, minilm, or the alias of an embedding model."""

    kind: Literal["chatcrs"]
    name: str = "chatcrs"
    model: str = MAIN_MODEL
    list_source: Literal["independent", "from_text"] = "independent"
    embeddings: str = "tfidf"

    @property
    def embedding_model(self) -> str | None:
        """The alias of the embedding model; None where embeddings are computed here."""
        return None if self.embeddings in ("tfidf", "minilm") else self.embeddings

    def aliases(self) -> list[tuple[str, str]]:
        """Its model, and the embedding model if it has one."""
        used = [(f"system {self.name}", self.model)]
        if self.embedding_model is not None:
            used.append((f"system {self.name} (embeddings)", self.embedding_model))
        return used

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """A call for each answer, and one for its vector if an embedding model makes it."""
        calls = [ExpectedCalls(self.model, "system", answers, answers, 700, 120)]
        if self.list_source == "independent" and self.embedding_model is not None:
            vector = (EMBEDDING_OF_CONVERSATION, answers, answers, 80, 0)
            calls.append(ExpectedCalls(self.embedding_model, *vector))
        return calls

    def build(self, context: SystemContext) -> Recommender:
        """The system on the campaign's models."""
        from recjury.agents.chatcrs import ChatCRS
        from recjury.agents.embedding import make_embedder
        from recjury.agents.item_vectors import ItemVectors

        if context.gateway is None:
            raise ConfigError(f"system {self.name}: chatcrs needs a model")
        catalogue = context.corpus.catalogue
        embedder = make_embedder(self.embeddings, catalogue, context.gateway)
        return ChatCRS(
            context.gateway,
            self.model,
            ItemVectors(catalogue, embedder, context.cache),
            name=self.name,
            list_source=self.list_source,
            list_length=context.list_length,
        )


class OpenAiCrsConfig(SystemConfig):
    """An OpenAI-compatible endpoint that is a CRS already: no prompt of ours is sent to it."""

    kind: Literal["openai_crs"]
    model: str
    system_prompt: str = ""

    def aliases(self) -> list[tuple[str, str]]:
        """Its model."""
        return [(f"system {self.name}", self.model)]

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """A call for each answer."""
        return [ExpectedCalls(self.model, "system", answers, answers, 700, 120)]

    def build(self, context: SystemContext) -> Recommender:
        """The system on the campaign's models."""
        from recjury.agents.endpoint_crs import EndpointCRS

        if context.gateway is None:
            raise ConfigError(f"system {self.name}: openai_crs needs a model")
        return EndpointCRS(
            context.gateway,
            self.model,
            context.corpus.catalogue,
            name=self.name,
            system_prompt=self.system_prompt,
            list_length=context.list_length,
        )


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
        """The system, guarded: its mistakes fail one turn and not the campaign."""
        from recjury.agents.python_system import guard_python_system, load_python_system

        corpus, name, timeout = context.corpus, self.name, self.timeout
        if self.instance is not None:
            return guard_python_system(self.instance, corpus, name=name, timeout=timeout)
        return load_python_system(
            self.path, corpus, name=name, options=self.options, timeout=timeout
        )


class HttpSettings(Record):
    """How a system behind HTTP is reached.

    `timeout` is in seconds and covers one attempt. `retries` counts the attempts after the first;
    they are made where the request cannot have been taken up (no connection, 429, 503), and with
    `idempotent` also after a time-out, a broken connection or another 5xx. `concurrency` is the
    number of requests open at once, `max_bytes` the largest answer that is read. `key_env` names
    the environment variable whose value is sent as `key_header`: after "Bearer " in
    Authorization, unchanged in any other header.
    """

    url: str
    health: NonEmpty | None = None
    key_env: NonEmpty | None = None
    key_header: str = "Authorization"
    timeout: Seconds = 60
    retries: Count = Field(default=2, ge=0, le=20)
    idempotent: bool = False
    concurrency: Count = Field(default=8, ge=1, le=1024)
    max_bytes: Count = Field(default=1_000_000, ge=1)


class HttpSystemConfig(HttpSettings, SystemConfig):
    """A user's own system behind HTTP; docs/systems.md says what is sent and answered."""

    kind: Literal["http"]
    version: str = ""
    options: dict[str, JsonValue] = Field(default_factory=dict)

    def build(self, context: SystemContext) -> Recommender:
        """The system at its address."""
        from recjury.agents.http_recommender import HttpRecommender

        return HttpRecommender(
            self,
            context.corpus.catalogue,
            name=self.name,
            version=self.version,
            options=self.options,
            list_length=context.list_length,
        )
