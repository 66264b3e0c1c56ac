"""Several processes: order, deaths, signals, forks and multiprocessing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fairdoorway import ForkedError, Lock, Permit, ReleaseError, Semaphore

from conftest import LONG, Child

Start = Callable[..., Child]
Until = Callable[[Callable[[], object]], None]

HOLD = """
    import sys
    from fairdoorway import Semaphore
    with Semaphore(sys.argv[1], int(sys.argv[2])) as permit:
        print("inside", permit.index, flush=True)
        sys.stdin.readline()
"""


def test_processes_enter_in_order_of_arrival(child: Start, until: Until) -> None:
    gpu = Semaphore("gpu", 1)
    gpu.acquire()
    children = []
    for number in range(5):
        children.append(child(HOLD, "gpu", 1))
        until(lambda: len(gpu.waiters()) == number + 1)
    assert [waiter.pid for waiter in gpu.waiters()] == [it.pid for it in children]
    gpu.release()
    for it in children:
        assert it.line() == "inside 0"
        assert [holder.pid for holder in gpu.holders()] == [it.pid]
        it.tell()


def test_a_killed_holder_releases_its_permit(child: Start) -> None:
    holder = child(HOLD, "gpu", 2)
    holder.line()
    second = child(HOLD, "gpu", 2)
    second.line()
    gpu = Semaphore("gpu", 2)
    assert not gpu.acquire(blocking=False)
    os.kill(holder.pid, signal.SIGKILL)
    with gpu.hold(timeout=LONG) as permit:
        assert permit.index == 0


def test_a_killed_waiter_leaves_the_queue(child: Start, until: Until) -> None:
    lock = Semaphore("gpu", 1)
    lock.acquire()
    first, second = child(HOLD, "gpu", 1), None
    until(lambda: len(lock.waiters()) == 1)
    second = child(HOLD, "gpu", 1)
    until(lambda: len(lock.waiters()) == 2)
    os.kill(first.pid, signal.SIGKILL)
    lock.release()
    assert second.line() == "inside 0"


@pytest.mark.parametrize("wait", ["lock.acquire()", "lock.acquire(timeout=1000)", "lock.hold(1000).__enter__()"])
def test_ctrl_c_ends_a_wait_and_leaves_the_queue(child: Start, until: Until, wait: str) -> None:
    lock = Lock("lock")
    lock.acquire()
    waiter = child(
        f"""
        from fairdoorway import Lock
        lock = Lock("lock")
        print("ready", flush=True)
        try:
            {wait}
        except KeyboardInterrupt:
            print("interrupted", [waiter.pid for waiter in lock.waiters()], flush=True)
        """
    )
    waiter.line()
    until(lambda: lock.waiters())
    os.kill(waiter.pid, signal.SIGINT)
    assert waiter.line() == "interrupted []"
    assert waiter.ends() == 0


def test_a_signal_handler_runs_during_a_wait_that_goes_on(child: Start, until: Until) -> None:
    lock = Lock("lock")
    lock.acquire()
    waiter = child(
        """
        import signal
        from fairdoorway import Lock
        signal.signal(signal.SIGUSR1, lambda *_: print("signal", flush=True))
        with Lock("lock"):
            print("inside", flush=True)
        """
    )
    until(lambda: lock.waiters())
    os.kill(waiter.pid, signal.SIGUSR1)
    assert waiter.line() == "signal"
    assert len(lock.waiters()) == 1
    lock.release()
    assert waiter.line() == "inside"


def in_fork(action: Callable[[], object]) -> str:
    """What an action returns or raises in a forked child."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer = repr(action())
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as answers:
        answer = answers.read()
    os.waitpid(pid, 0)
    return answer


def test_a_forked_child_opens_again_and_has_no_permit() -> None:
    lock = Lock("lock")
    lock.acquire()
    assert in_fork(lambda: lock.acquire(blocking=False)) == "False"
    assert in_fork(lock.release).startswith(f"ForkedError: the permit of `lock` belongs to process {os.getpid()}")
    assert len(lock.holders()) == 1
    lock.release()
    assert in_fork(lambda: lock.acquire(blocking=False)) == "True"
    assert lock.acquire(timeout=LONG), "the child has ended, and its permit with it"


def test_a_permit_is_not_released_by_a_forked_child() -> None:
    lock = Lock("lock")
    with lock.hold() as permit:
        assert "ForkedError: this permit of `lock` belongs to process" in in_fork(permit.release)
        assert not permit.released
        assert issubclass(ForkedError, RuntimeError)
        assert len(lock.holders()) == 1


def test_a_forked_child_that_leaves_the_block_releases_nothing() -> None:
    lock = Lock("lock")

    def leave() -> None:
        lock.__exit__(None, None, None)

    def leave_raising() -> None:
        lock.__exit__(KeyError, KeyError(), None)

    with lock:
        assert in_fork(leave).startswith("ForkedError")
        assert in_fork(leave_raising) == "None"
        assert len(lock.holders()) == 1


def test_the_child_of_a_killed_holder_does_not_keep_its_permit(child: Start) -> None:
    holder = child(
        """
        import os, sys
        from fairdoorway import Lock
        lock = Lock("lock")
        lock.acquire()
        if os.fork() == 0:
            sys.stdin.readline()
            os._exit(0)
        print("inside", flush=True)
        sys.stdin.readline()
        """
    )
    holder.line()
    os.kill(holder.pid, signal.SIGKILL)
    # The grandchild is alive still, with the standard input open.
    with Lock("lock").hold(timeout=LONG):
        pass


def test_forking_while_a_thread_waits_leaves_the_child_usable(until: Until) -> None:
    lock, other = Lock("lock"), Lock("other")
    lock.acquire()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    until(lambda: lock.waiters())
    assert in_fork(lambda: (lock.acquire(blocking=False), other.acquire(timeout=LONG))) == "(False, True)"
    lock.release()
    thread.join()


def work(semaphore: Semaphore, queue: Any, number: int) -> None:
    for _ in range(3):
        with semaphore as permit:
            queue.put((number, permit.index, len(semaphore.holders()) <= semaphore.k))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_shares_semaphores_by_every_method(method: str) -> None:
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    gpu = Semaphore("gpu", 2)
    with gpu:
        workers = [context.Process(target=work, args=(gpu, queue, number)) for number in range(4)]
        for worker in workers:
            worker.start()
        done = [queue.get(timeout=LONG) for _ in range(12)]
    for worker in workers:
        worker.join(LONG)
        assert worker.exitcode == 0
    # This process held one of the two permits all the time.
    assert sorted({number for number, _, _ in done}) == [0, 1, 2, 3]
    assert {index for _, index, _ in done} == {1}
    assert all(is_kept for _, _, is_kept in done)


def test_a_killed_worker_of_multiprocessing_does_not_block_the_others() -> None:
    context = multiprocessing.get_context("fork")
    lock, queue = Lock("lock"), context.Queue()
    worker = context.Process(target=lambda: (lock.acquire(), queue.put("inside"), signal.pause()))
    worker.start()
    assert queue.get(timeout=LONG) == "inside"
    worker.kill()
    worker.join(LONG)
    with lock.hold(timeout=LONG) as permit:
        assert isinstance(permit, Permit)
    with pytest.raises(ReleaseError):
        lock.release()
