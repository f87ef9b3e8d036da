"""The entry of a system behind HTTP in a campaign file, and how it is reached."""

from typing import Literal

from pydantic import Field, JsonValue

from recjury.agents.system_config import Count, NonEmpty, Seconds, SystemConfig, SystemContext
from recjury.records import Recommender, Record


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
