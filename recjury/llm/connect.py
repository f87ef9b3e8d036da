"""From a model's specification to the provider that reaches it."""

import os

from recjury.errors import ConfigError
from recjury.llm.aiohttp_transport import AiohttpTransport, HttpSession
from recjury.llm.endpoint import Endpoint
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import Provider, Transport


def connect(spec: ModelSpec, pool: HttpSession) -> Provider:
    """The provider for `spec`; raises ConfigError when its key is not set."""
    key = api_key(spec)
    wire: Transport
    if spec.wire == "sdk":
        from recjury.llm.openai_transport import OpenAITransport  # openai takes 0.6 s to import

        wire = OpenAITransport(spec, key)
    else:
        wire = AiohttpTransport(spec, key, pool)
    return Endpoint(spec, key, wire)


def api_key(spec: ModelSpec) -> str | None:
    """The key of `spec`'s endpoint; raises ConfigError naming the variable if it holds none."""
    if spec.key_env is None:
        return None
    key = os.environ.get(spec.key_env, "").strip()
    if not key:
        raise ConfigError(
            f"model {spec.name} takes its key from the environment variable {spec.key_env}, "
            f"which is not set: set it, or leave key_env out for an endpoint without keys"
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the environment variable {spec.key_env} holds characters that no key has: "
            f"set it again"
        )
    return key
