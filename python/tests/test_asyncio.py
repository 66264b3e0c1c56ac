"""Tasks of asyncio: order, cancelling, timeouts, closed loops, and one thread for all of them."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fairdoorway import ClosedError, Lock, Permit, ReleaseError, Semaphore

from conftest import LONG, Child

Start = Callable[..., Child]


async def eventually(holds: Callable[[], object]) -> None:
    async def poll() -> None:
        while not holds():
            await asyncio.sleep(0.002)

    await asyncio.wait_for(poll(), LONG)


def test_tasks_enter_in_order_and_take_one_thread() -> None:
    lock, entered, threads = Lock("lock"), [], set()

    async def enter(number: int) -> None:
        async with lock as permit:
            assert isinstance(permit, Permit) and permit.index == 0
            entered.append(number)
            threads.add(threading.active_count())
            await asyncio.sleep(0)

    async def main() -> None:
        async with lock:
            before = len(native_threads())
            tasks = [asyncio.create_task(enter(number)) for number in range(100)]
            await eventually(lambda: len(lock.waiters()) == 100)
            # One waits for the tasks, and one may watch the processes ahead.
            assert len(native_threads()) <= before + 2
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert entered == list(range(100))
    assert lock.holders() == [] and lock.waiters() == []


def native_threads() -> list[str]:
    return [task.name for task in Path("/proc/self/task").iterdir()]


def test_at_most_k_tasks_are_holders() -> None:
    gpu, inside = Semaphore("gpu", 3), set()

    async def enter() -> None:
        for _ in range(20):
            async with gpu as permit:
                assert permit.index not in inside
                inside.add(permit.index)
                await asyncio.sleep(0)
                inside.remove(permit.index)

    async def main() -> None:
        await asyncio.gather(*(enter() for _ in range(12)))

    asyncio.run(main())
    assert gpu.holders() == []


def test_cancelling_leaves_the_queue_wherever_it_waits() -> None:
    lock, entered = Lock("lock"), []

    async def enter(number: int) -> None:
        async with lock:
            entered.append(number)

    async def main() -> None:
        async with lock:
            tasks = [asyncio.create_task(enter(number)) for number in range(6)]
            await eventually(lambda: len(lock.waiters()) == 6)
            for number in (0, 3, 5):  # the first, one within, the last
                tasks[number].cancel()
            await eventually(lambda: len(lock.waiters()) == 3)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(result, asyncio.CancelledError) for result in results] == [True, False, False, True, False, True]

    asyncio.run(main())
    assert entered == [1, 2, 4]
    assert lock.holders() == [] and lock.waiters() == []


def test_cancelling_at_the_moment_of_admission_loses_no_permit() -> None:
    lock = Lock("lock")

    async def main() -> None:
        for turn in range(200):
            assert await lock.acquire_async()
            task = asyncio.create_task(lock.acquire_async())
            await asyncio.sleep(0)
            lock.release()
            for _ in range(turn % 5):
                await asyncio.sleep(0)
            task.cancel()
            try:
                if await task:
                    lock.release()
            except asyncio.CancelledError:
                pass
            async with lock.hold(timeout=LONG):
                pass

    asyncio.run(main())
    assert lock.holders() == [] and lock.waiters() == []


def test_timeouts_name_the_holders_and_leave_the_queue() -> None:
    lock = Lock("lock", description="the first")

    async def main() -> None:
        async with lock:
            assert not await lock.acquire_async(timeout=0.01)
            with pytest.raises(TimeoutError, match=r"it is held by process \d+ \(the first\)"):
                async with lock.hold(timeout=0.01):
                    pass
            await eventually(lambda: not lock.waiters())
        async with lock.hold(timeout=LONG) as permit:
            assert permit.index == 0

    asyncio.run(main())


def test_each_task_releases_its_own_permit() -> None:
    gpu = Semaphore("gpu", 2)

    async def hold(entered: asyncio.Event, leave: asyncio.Event) -> None:
        assert await gpu.acquire_async()
        entered.set()
        await leave.wait()
        gpu.release()

    async def main() -> None:
        events = [asyncio.Event() for _ in range(4)]
        first = asyncio.create_task(hold(events[0], events[1]))
        await events[0].wait()
        second = asyncio.create_task(hold(events[2], events[3]))
        await events[2].wait()
        events[1].set()
        await first
        assert [holder.index for holder in gpu.holders()] == [1]
        events[3].set()
        await second
        with pytest.raises(ReleaseError):
            gpu.release()

    asyncio.run(main())


def test_threads_and_tasks_share_one_queue(until: Callable[[Callable[[], object]], None]) -> None:
    lock, entered = Lock("lock"), []

    def block() -> None:
        with lock:
            entered.append("thread")

    async def wait() -> None:
        async with lock:
            entered.append("task")

    async def main() -> None:
        tasks, threads = [], []
        async with lock:
            for number in range(3):
                tasks.append(asyncio.create_task(wait()))
                await eventually(lambda: len(lock.waiters()) == 2 * number + 1)
                threads.append(threading.Thread(target=block))
                threads[-1].start()
                await eventually(lambda: len(lock.waiters()) == 2 * number + 2)
        await asyncio.gather(*tasks)
        for thread in threads:
            await asyncio.to_thread(thread.join)

    asyncio.run(main())
    assert entered == ["task", "thread"] * 3


def test_a_loop_that_is_closed_meanwhile_loses_nothing() -> None:
    lock = Lock("lock")
    lock.acquire()
    loop = asyncio.new_event_loop()
    task = loop.create_task(lock.acquire_async())
    loop.run_until_complete(asyncio.sleep(0))
    assert len(lock.waiters()) == 1
    loop.close()
    lock.release()
    # The closed loop cannot be told; its task is passed over.
    with lock.hold(timeout=LONG):
        pass
    del task, loop
    gc.collect()
    assert lock.acquire(timeout=LONG)


def test_a_loop_that_is_closed_before_it_learns_of_the_permit_loses_nothing(
    until: Callable[[Callable[[], object]], None],
) -> None:
    lock = Lock("lock")
    lock.acquire()
    loop = asyncio.new_event_loop()
    task = loop.create_task(lock.acquire_async())
    loop.run_until_complete(asyncio.sleep(0))
    lock.release()
    until(lambda: not lock.waiters())
    loop.close()
    del task, loop
    gc.collect()
    assert lock.acquire(timeout=LONG)


def test_closing_tells_the_tasks_that_wait() -> None:
    lock, other = Lock("lock"), Lock("lock")

    async def main() -> None:
        other.acquire()
        tasks = [asyncio.create_task(lock.acquire_async()) for _ in range(3)]
        await eventually(lambda: len(other.waiters()) == 3)
        lock.close()
        for task in tasks:
            with pytest.raises(ClosedError, match="closed while this task waited"):
                await task
        with pytest.raises(ClosedError):
            async with lock:
                pass

    asyncio.run(main())
    assert other.waiters() == []


def test_a_process_that_ends_with_waiting_tasks_ends(child: Start) -> None:
    lock = Lock("lock")
    lock.acquire()
    waiter = child(
        """
        import asyncio, sys
        from fairdoorway import Lock
        lock = Lock("lock")
        loop = asyncio.new_event_loop()
        task = loop.create_task(lock.acquire_async())
        loop.run_until_complete(asyncio.sleep(0))
        print(len(lock.waiters()), flush=True)
        """
    )
    assert waiter.line() == "1"
    assert waiter.ends() == 0
    lock.release()
    assert lock.acquire(timeout=LONG)


def test_two_loops_in_two_threads_share_a_semaphore() -> None:
    lock, entered = Lock("lock"), []

    async def enter(name: str) -> None:
        for _ in range(50):
            async with lock:
                entered.append(name)

    def run(name: str) -> None:
        async def main() -> None:
            await asyncio.gather(*(enter(name) for _ in range(4)))

        asyncio.run(main())

    threads = [threading.Thread(target=run, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(entered) == 400 and lock.holders() == []
