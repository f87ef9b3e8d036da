"""Conversations share batches, and nothing of one reaches another."""

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest
import torch
from torch import nn

from recjury.agents.batching import Batcher
from recjury.errors import SystemFailed

LONG = 20.0
REFUSED = 1313


class Doubling:
    """Doubles numbers, refuses negative ones, and keeps what it was asked, by batch."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.threads: set[int] = set()
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.entered = threading.Semaphore(0)

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        self.threads.add(threading.get_ident())
        self.entered.release()
        assert self.may_go_on.wait(LONG)
        if any(number < 0 for number in numbers):
            raise ValueError(f"negative: {numbers}")
        if REFUSED in numbers:
            raise SystemFailed("refused")
        return [2 * number for number in numbers]

    async def busy(self) -> None:
        """Return once a batch is being answered."""
        assert await asyncio.to_thread(self.entered.acquire, timeout=LONG)


def run(work: Callable[[Doubling, Batcher[int, int]], Awaitable[None]], most: int = 32) -> Doubling:
    """Run `work` with a new batcher, and close that."""
    doubling = Doubling()

    async def all_of_it() -> None:
        batcher: Batcher[int, int] = Batcher(doubling, name="doubling", most=most)
        try:
            await asyncio.wait_for(work(doubling, batcher), LONG)
        finally:
            doubling.may_go_on.set()
            await batcher.aclose()

    asyncio.run(all_of_it())
    return doubling


def test_questions_at_the_same_time_share_one_batch_in_their_order() -> None:
    async def work(_: Doubling, batcher: Batcher[int, int]) -> None:
        found = await asyncio.gather(*(batcher.ask(number) for number in range(32)))
        assert found == [2 * number for number in range(32)]

    doubling = run(work)
    assert doubling.batches == [list(range(32))]


def test_more_than_a_batch_are_served_first_come_first_served() -> None:
    async def work(_: Doubling, batcher: Batcher[int, int]) -> None:
        await asyncio.gather(*(batcher.ask(number) for number in range(10)))

    assert run(work, most=4).batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_what_comes_while_the_model_is_busy_is_the_next_batch() -> None:
    async def work(doubling: Doubling, batcher: Batcher[int, int]) -> None:
        doubling.may_go_on.clear()
        first = asyncio.create_task(batcher.ask(1))
        await doubling.busy()
        others = [asyncio.create_task(batcher.ask(number)) for number in (2, 3, 4)]
        await asyncio.sleep(0)
        doubling.may_go_on.set()
        assert await asyncio.gather(first, *others) == [2, 4, 6, 8]

    assert run(work).batches == [[1], [2, 3, 4]]


def test_one_thread_owns_the_model_and_it_is_not_the_event_loops() -> None:
    async def work(_: Doubling, batcher: Batcher[int, int]) -> None:
        for number in range(5):
            await asyncio.gather(batcher.ask(number), batcher.ask(number))

    threads = run(work).threads
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_only_the_question_to_blame_fails() -> None:
    async def work(_: Doubling, batcher: Batcher[int, int]) -> None:
        asked = [1, 2, 3, -4, 5, 6, -7, 8]
        found = await asyncio.gather(*map(batcher.ask, asked), return_exceptions=True)
        assert [str(each) for each in found] == [
            "2", "4", "6", "negative: [-4]", "10", "12", "negative: [-7]", "16",
        ]  # fmt: skip

    run(work)


@pytest.mark.parametrize("raised", [SystemExit(3), StopIteration(), KeyboardInterrupt()])
def test_nobody_waits_for_ever_whatever_is_raised(raised: BaseException) -> None:
    def infer(numbers: Sequence[int]) -> list[int]:
        if 0 in numbers:
            raise raised
        return list(numbers)

    async def work() -> None:
        batcher: Batcher[int, int] = Batcher(infer, name="raising")
        asked = asyncio.gather(*map(batcher.ask, [0, 1]), return_exceptions=True)
        found = await asyncio.wait_for(asked, LONG)
        assert (str(found[0]), found[1]) == (f"the model raised {type(raised).__name__}", 1)
        assert await asyncio.wait_for(batcher.ask(2), LONG) == 2
        await batcher.aclose()

    asyncio.run(work())


def test_a_wrong_number_of_answers_is_told() -> None:
    async def work() -> None:
        batcher: Batcher[int, int] = Batcher(lambda _: [], name="silent")
        with pytest.raises(RuntimeError, match="expected 1 answers, got 0"):
            await batcher.ask(1)
        await batcher.aclose()

    asyncio.run(work())


def test_cancelling_does_not_disturb_the_others() -> None:
    async def work(doubling: Doubling, batcher: Batcher[int, int]) -> None:
        doubling.may_go_on.clear()
        running = [asyncio.create_task(batcher.ask(number)) for number in (1, 2)]
        await doubling.busy()
        waiting = [asyncio.create_task(batcher.ask(number)) for number in (3, 4, 5)]
        await asyncio.sleep(0)
        running[0].cancel()
        waiting[1].cancel()
        await asyncio.sleep(0)
        doubling.may_go_on.set()
        found = await asyncio.gather(*running, *waiting, return_exceptions=True)
        assert [isinstance(each, asyncio.CancelledError) for each in found] == [
            True, False, False, True, False,
        ]  # fmt: skip
        assert [found[1], found[2], found[4]] == [4, 6, 10]

    assert run(work).batches == [[1, 2], [3, 5]]


def test_closing_answers_what_waits_ends_the_thread_and_refuses_later_questions() -> None:
    before = threading.active_count()

    async def work() -> None:
        doubling = Doubling()
        doubling.may_go_on.clear()
        batcher: Batcher[int, int] = Batcher(doubling, name="closing", most=1)
        asked = [asyncio.create_task(batcher.ask(number)) for number in (1, 2, 3)]
        await doubling.busy()
        closing = asyncio.create_task(batcher.aclose())
        await asyncio.sleep(0)
        doubling.may_go_on.set()
        await closing
        assert await asyncio.gather(*asked) == [2, 4, 6]
        with pytest.raises(SystemFailed, match="closing is closed"):
            await batcher.ask(4)
        await batcher.aclose()

    asyncio.run(work())
    assert threading.active_count() == before


def test_it_outlives_event_loops() -> None:
    doubling = Doubling()
    batcher: Batcher[int, int] = Batcher(doubling, name="doubling")

    async def leave_one_behind() -> None:
        doubling.may_go_on.clear()
        left = asyncio.create_task(batcher.ask(100))
        await doubling.busy()
        left.cancel()

    async def ask(number: int) -> int:
        return await asyncio.wait_for(batcher.ask(number), LONG)

    assert asyncio.run(ask(1)) == 2
    assert doubling.entered.acquire(timeout=LONG)
    asyncio.run(leave_one_behind())
    doubling.may_go_on.set()
    assert asyncio.run(ask(3)) == 6
    asyncio.run(batcher.aclose())
    gc.collect()  # what nobody fetched would be complained about here


def test_two_event_loops_share_a_batch() -> None:
    doubling = Doubling()
    doubling.may_go_on.clear()
    batcher: Batcher[int, int] = Batcher(doubling, name="doubling")
    found: list[int] = []

    async def ask(number: int) -> None:
        found.append(await asyncio.wait_for(batcher.ask(number), LONG))

    threads = [threading.Thread(target=asyncio.run, args=(ask(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    doubling.may_go_on.set()
    for thread in threads:
        thread.join(LONG)
    asyncio.run(batcher.aclose())
    assert sorted(found) == [0, 2, 4, 6]
    assert sorted(number for batch in doubling.batches for number in batch) == [0, 1, 2, 3]


def test_an_idle_batcher_uses_no_processor_and_does_not_keep_the_process() -> None:
    import subprocess
    import sys

    program = (
        "import asyncio, time\n"
        "from recjury.agents.batching import Batcher\n"
        "batcher = Batcher(lambda numbers: numbers, name='idle')\n"
        "asyncio.run(batcher.ask(1))\n"
        "before = time.process_time(); time.sleep(0.5)\n"
        "print(time.process_time() - before)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert float(ended.stdout) < 0.05


def test_a_torch_module_answers_as_if_alone() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3)).eval()
    rows = torch.randn(20, 8)
    rows[7] = torch.nan

    def infer(asked: Sequence[int]) -> list[int]:
        with torch.inference_mode():
            scores = model(rows[list(asked)])
        if not bool(torch.isfinite(scores).all()):
            raise SystemFailed("the model gives scores that are not finite numbers")
        return list(scores.argmax(1).tolist())

    async def work() -> list[int | BaseException]:
        batcher: Batcher[int, int] = Batcher(infer, name="torch", most=8)
        found = await asyncio.gather(*map(batcher.ask, range(20)), return_exceptions=True)
        await batcher.aclose()
        return found

    found = asyncio.run(work())
    assert [number for number, each in enumerate(found) if isinstance(each, SystemFailed)] == [7]
    assert [each for number, each in enumerate(found) if number != 7] == [
        each for number in range(20) if number != 7 for each in infer([number])
    ]


def test_a_batch_has_room_for_one_at_least() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        Batcher(list, name="none", most=0)
