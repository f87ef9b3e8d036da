"""The entry of a system behind HTTP in a campaign file."""

from typing import Literal

from pydantic import Field, JsonValue

from recjury.agents.http_settings import HttpSettings
from recjury.agents.system_config import SystemConfig, SystemContext
from recjury.records import Recommender


class HttpSystemConfig(HttpSettings, SystemConfig):
    """A user's own system behind HTTP; docs/systems.md describes request and response."""

    kind: Literal["http"]
    version: str = ""
    options: dict[str, JsonValue] = Field(default_factory=dict)

    def build(self, context: SystemContext) -> Recommender:
        """Build the system at its address."""
        from recjury.agents.http_recommender import HttpRecommender

        return HttpRecommender(
            self,
            context.corpus.catalogue,
            name=self.name,
            version=self.version,
            options=self.options,
            list_length=context.list_length,
        )
