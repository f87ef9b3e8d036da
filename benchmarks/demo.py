"""CPU of a demo conversation with `outcome` and `counted`, kept in a store's file.

The figure is what one more conversation takes: a long campaign less a short one.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from recjury.campaign import Config, run
from recjury.store import Store

_SHORT, _LONG = 1, 4  # repeats


def demo_conversation_ms() -> float:
    """Milliseconds of CPU."""
    _play(_SHORT)  # what is imported and compiled at first use
    (few, less), (many, more) = _play(_SHORT), _play(_LONG)
    return (more - less) / (many - few) * 1000


def _play(repeats: int) -> tuple[int, float]:
    """How many conversations were played, and their CPU seconds."""
    config = Config.model_validate({"systems": ["popular", "random"], "repeats": repeats})
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "demo.db") as store:
        began = time.process_time()
        finished = asyncio.run(run(config, store))
        return finished.planned, time.process_time() - began


if __name__ == "__main__":
    print(f"demo_conversation_ms {demo_conversation_ms():.2f}")
