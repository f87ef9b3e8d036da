"""A whole campaign without a model: a script speaks for user, system, judges and debaters.

Run `python -m examples.scripted_campaign`. It shows how a campaign goes; its scores mean nothing.
"""

import asyncio
import hashlib
import json
import re
import tempfile
from pathlib import Path

from recjury.campaign import Config, run
from recjury.cli.show import show
from recjury.corpora import open_corpus
from recjury.llm import ScriptedModel
from recjury.records import Request
from recjury.results import summary
from recjury.store import Store

FILMS = [item.ref.name for item in open_corpus("sample").catalogue]


def reply(request: Request, code: str) -> str:
    """A reply in the form that is asked for, drawn from the prompt."""
    prompt = "".join(message.text for message in request.messages).replace(code or "-", "")
    number = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16)
    match request.purpose:
        case "user":
            return "Not quite. Something older, please, and not too long."
        case "system":
            return f"You may like {FILMS[number % len(FILMS)]}: it is short and old."
        case "debate":
            score = 50 + number % 3
            return json.dumps({"statement": f"I say {score}.", "score": score, "code": code})
        case _:
            high = 4 if re.search(r"from 0 to 4", prompt) else 2
            return f'So it seems. <rating code="{code}">{number % (high + 1)}</rating>'


def main() -> None:
    """Play ten scenarios with two systems, judge and debate them, and show the means."""
    config = Config.model_validate(
        {
            "name": "scripted",
            "scenarios": [{"corpus": "sample", "limit": 10}],
            "systems": ["popular", {"kind": "chatcrs", "list_source": "from_text"}],
            "model": {"name": "scripted", "price_in": 0, "price_out": 0},
        }
    )
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "scripted.db") as store:
        asyncio.run(run(config, store, open_provider=lambda _: ScriptedModel(reply)))
        show(summary(store, "scripted"))


if __name__ == "__main__":
    main()
