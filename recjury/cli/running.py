"""Drive a campaign from the command line: event loop, progress, interruption."""

from collections.abc import Callable, Coroutine

from recjury.campaign import RunResult
from recjury.campaign.progress import Progress
from recjury.cli import output
from recjury.cli.display import watching
from recjury.llm import event_loop

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

Work = Callable[[Progress], Coroutine[None, None, RunResult]]


def drive(work: Work) -> RunResult:
    """Await `work`, showing its progress on standard error."""
    progress = Progress()
    try:
        with watching(progress), event_loop() as runner:
            return runner.run(work(progress))
    except KeyboardInterrupt:
        output.say("recjury: interrupted; what was finished is kept: the same command goes on")
        output.stop(INTERRUPTED)
