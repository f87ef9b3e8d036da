"""Pages over many conversations: `python -m benchmarks.pages [CONVERSATIONS]`.

The store of `benchmarks.scale`, by default with 20,000 conversations and 13 metrics. Prints the CPU
seconds of each page when it is opened first and again, and the peak of memory, in one process.
"""

import asyncio
import resource
import sys
import tempfile
import time
from pathlib import Path

import pandas  # noqa: F401 - pages are measured without what they import
import scipy.stats  # noqa: F401

from benchmarks.scale import fill
from recjury.store import Store
from recjury.view.rendering import render
from recjury.view.server import ROUTES

CAMPAIGN = "scale"
QUERIES: tuple[dict[str, str], ...] = (
    {},
    {"sort": "-core.overall"},
    {"system": "two", "from": "100"},
    {"q": "one says"},
)


def opened(path: str, address: str, query: dict[str, str], id_: str) -> float:
    """CPU seconds of a page, from an open store to HTML."""
    begun = time.process_time()
    with Store(path, readonly=True) as store:
        render(ROUTES[address](store, query, **({"id": id_} if "{id}" in address else {})))
    return time.process_time() - begun


def main() -> None:
    conversations = int(sys.argv[1]) if sys.argv[1:] else 20_000
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "scale.db")
        with Store(path) as store:
            asyncio.run(fill(store, conversations))
        with Store(path, readonly=True) as store:
            first = store.conversations(CAMPAIGN)[0].id
        for address in ("/c/{id}", "/c/{id}/trials", "/c/{id}/compare", "/t/{id}", "/"):
            id_ = first if address.startswith("/t/") else CAMPAIGN
            for query in QUERIES if address.endswith("trials") else QUERIES[:1]:
                cold, warm = (opened(path, address, query, id_) for _ in range(2))
                print(f"{address} {query or ''}: {cold:.2f} s, again {warm:.2f} s")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
