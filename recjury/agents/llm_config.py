"""The entries of systems that are language models in a campaign file, and how they are built."""

from typing import Literal

from recjury.agents.chat_messages import ANSWERS
from recjury.agents.system_config import SystemConfig, SystemContext
from recjury.errors import ConfigError
from recjury.llm import MAIN_MODEL
from recjury.records import ExpectedCalls, Recommender

EMBEDDING_OF_CONVERSATION = "embedding/conversation"


class ChatCrsConfig(SystemConfig):
    """An LLM as CRS. `embeddings`: tfidf, minilm, or the alias of an embedding model."""

    kind: Literal["chatcrs"]
    name: str = "chatcrs"
    model: str = MAIN_MODEL
    list_source: Literal["independent", "from_text"] = "independent"
    embeddings: str = "tfidf"

    @property
    def embedding_model(self) -> str | None:
        """The alias of the embedding model; None if embeddings are computed on this machine."""
        return None if self.embeddings in ("tfidf", "minilm") else self.embeddings

    def aliases(self) -> list[tuple[str, str]]:
        """Its model, and the embedding model if it has one."""
        used = [(f"system {self.name}", self.model)]
        if self.embedding_model is not None:
            used.append((f"system {self.name} (embeddings)", self.embedding_model))
        return used

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """One or two calls for each answer, and one for its vector if a model makes it."""
        calls = [ExpectedCalls(self.model, "system", answers, ANSWERS * answers, 700, 120)]
        if self.list_source == "independent" and self.embedding_model is not None:
            vector = (EMBEDDING_OF_CONVERSATION, answers, answers, 80, 0)
            calls.append(ExpectedCalls(self.embedding_model, *vector))
        return calls

    def build(self, context: SystemContext) -> Recommender:
        """Build the system with the campaign's models."""
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
    """An OpenAI-compatible endpoint that is a CRS itself: it receives no prompt from recjury."""

    kind: Literal["openai_crs"]
    model: str
    system_prompt: str = ""

    def aliases(self) -> list[tuple[str, str]]:
        """Its model."""
        return [(f"system {self.name}", self.model)]

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """One or two calls for each answer."""
        return [ExpectedCalls(self.model, "system", answers, ANSWERS * answers, 700, 120)]

    def build(self, context: SystemContext) -> Recommender:
        """Build the system with the campaign's models."""
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
