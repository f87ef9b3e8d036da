"""The systems under test, as a campaign file names them."""

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from recjury.records import Record

MAIN_MODEL = "main"


class RetrievalConfig(Record):
    """A retrieval CRS that needs no model."""

    kind: Literal["retrieval"]
    name: str = "retrieval"


class _NeuralConfig(Record):
    """A neural system from a checkpoint folder; `{corpus}` in it stands for the corpus.

    Without a `checkpoint` it has the weights that ship for the sample corpus.
    `fidelity` is by default what the checkpoint was trained as, and for published ones "ievalm".
    `device` is where torch computes.
    """

    checkpoint: str | None = None
    fidelity: Literal["corrected", "ievalm"] | None = None
    device: str = "cpu"


class KbrdConfig(_NeuralConfig):
    """KBRD. `backbones` may name the tokenizer of its generator (`bart`)."""

    kind: Literal["kbrd"]
    name: str = "kbrd"
    backbones: dict[Literal["bart"], str] = Field(default_factory=dict)


class BarcorConfig(_NeuralConfig):
    """BARCOR. `backbones` may name its tokenizer (`bart`)."""

    kind: Literal["barcor"]
    name: str = "barcor"
    backbones: dict[Literal["bart"], str] = Field(default_factory=dict)


class UnicrsConfig(_NeuralConfig):
    """UniCRS. `backbones` may name the models it builds on (`gpt2`, `roberta`)."""

    kind: Literal["unicrs"]
    name: str = "unicrs"
    backbones: dict[Literal["gpt2", "roberta"], str] = Field(default_factory=dict)


class ChatCrsConfig(Record):
    """An LLM as CRS. `embeddings`: tfidf, minilm, or the alias of an embedding model."""

    kind: Literal["chatcrs"]
    name: str = "chatcrs"
    model: str = MAIN_MODEL
    list_source: Literal["independent", "from_text"] = "independent"
    embeddings: str = "tfidf"


class OpenAiCrsConfig(Record):
    """An OpenAI-compatible endpoint that is a CRS already: no prompt of ours is sent to it."""

    kind: Literal["openai_crs"]
    name: str
    model: str
    system_prompt: str = ""


class PythonConfig(Record):
    """Anyone's own system: `path` is "module:Class" or an entry point's name.

    `timeout` is in seconds, for one answer. From Python, `instance` may be the system itself.
    """

    kind: Literal["python"]
    name: str
    path: str
    options: dict[str, object] = Field(default_factory=dict)
    instance: Any = Field(default=None, exclude=True)
    timeout: float = Field(default=300, gt=0)


class HttpConfig(Record):
    """Anyone's own system behind HTTP; docs/systems.md says what is sent and answered.

    `retries` are made where the system cannot have taken the request up; with `idempotent` also
    after time-outs, broken connections and errors of the server.
    """

    kind: Literal["http"]
    name: str
    url: str
    health: str | None = None
    version: str = ""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    key_env: str | None = None
    key_header: str = "Authorization"
    timeout: float = Field(default=60, gt=0)
    retries: int = Field(default=2, ge=0, le=20)
    idempotent: bool = False
    concurrency: int = Field(default=8, ge=1, le=1024)
    max_bytes: int = Field(default=1_000_000, ge=1)


SystemConfig = Annotated[
    RetrievalConfig
    | KbrdConfig
    | BarcorConfig
    | UnicrsConfig
    | ChatCrsConfig
    | OpenAiCrsConfig
    | PythonConfig
    | HttpConfig,
    Field(discriminator="kind"),
]
