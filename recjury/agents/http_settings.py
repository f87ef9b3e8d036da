"""How requests are sent to a system behind HTTP."""

from pydantic import Field

from recjury.agents.system_config import Count, NonEmpty, Seconds
from recjury.records import Record


class HttpSettings(Record):
    """How requests are sent to a system behind HTTP.

    `timeout` is in seconds for one attempt. `retries` is the number of attempts after the first. A
    request is sent again if the system cannot have processed it (no connection, 429, 503); with
    `idempotent`, also after a time-out, a broken connection or another 5xx. `concurrency` is the
    largest number of open requests. `max_bytes` is the largest answer in bytes. `key_env` names the
    environment variable whose value is sent as `key_header`: after "Bearer " in Authorization,
    unchanged in any other header.
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
