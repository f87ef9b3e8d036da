"""Drive a campaign from the command line: store, event loop, progress."""

import contextlib
from collections.abc import Callable, Coroutine, Iterator

from recjury.campaign.progress import Progress
from recjury.campaign.running import RunResult
from recjury.cli import output
from recjury.cli.display import watching
from recjury.llm import event_loop
from recjury.store import Store

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

Work = Callable[[Store, Progress], Coroutine[None, None, RunResult]]


def drive(url: str, work: Work) -> RunResult:
    """Await `work` on the store at `url`, showing its progress on standard error."""
    progress = Progress()
    try:
        with _fresh_or_kept(url) as store, watching(progress), event_loop() as runner:
            return runner.run(work(store, progress))
    except KeyboardInterrupt:
        output.say("recjury: interrupted; what was finished is kept: the same command goes on")
        output.stop(INTERRUPTED)


@contextlib.contextmanager
def _fresh_or_kept(url: str) -> Iterator[Store]:
    """The store; one that was made for a campaign that could not even begin is removed again."""
    was_there = Store.exists(url)
    store = Store.open(url)
    try:
        yield store
    except BaseException:
        if not was_there and not store.campaigns():
            store.remove()
        raise
    finally:
        store.close()
