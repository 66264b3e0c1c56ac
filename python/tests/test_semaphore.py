"""The interface of semaphores and locks within one process."""

from __future__ import annotations

import gc
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fairdoorway import ClosedError, ForkedError, Lock, Permit, ReleaseError, Semaphore, forget

Until = Callable[[Callable[[], object]], None]


def test_a_with_block_holds_a_permit_with_an_index() -> None:
    gpu = Semaphore("gpu", 2)
    with gpu as first, gpu as second:
        assert (first.index, second.index) == (0, 1)
        assert [holder.index for holder in gpu.holders()] == [0, 1]
        assert [holder.pid for holder in gpu.holders()] == [os.getpid()] * 2
        assert not gpu.acquire(blocking=False)
    assert first.released and second.released and gpu.holders() == []


def test_a_block_that_raises_releases_its_permit() -> None:
    lock = Lock("lock")
    with pytest.raises(ZeroDivisionError), lock:
        1 / 0
    assert lock.acquire(blocking=False)


def test_acquire_returns_false_where_threading_does() -> None:
    lock = Lock("lock")
    assert lock.acquire()
    assert not lock.acquire(False)
    assert not lock.acquire(timeout=0)
    assert not lock.acquire(timeout=0.01)
    assert not lock.acquire(True, 0.01)
    lock.release()
    assert lock.acquire(timeout=None) and lock.holders()
    lock.release()
    assert lock.acquire(True, -1)


def test_hold_raises_a_timeout_that_names_the_holders() -> None:
    lock = Lock("lock", description="letters to print")
    with lock.hold(timeout=5) as permit:
        assert permit.index == 0
        with pytest.raises(TimeoutError, match=rf"`lock` within 0.01 s; it is held by process {os.getpid()} \(letters to"):
            with lock.hold(timeout=0.01):
                pass
        assert lock.waiters() == []
    with lock.hold():
        pass


def test_threads_take_part_in_order_of_arrival(until: Until) -> None:
    lock, entered = Lock("lock"), []

    def enter(number: int) -> None:
        with lock:
            entered.append(number)

    lock.acquire()
    threads = [threading.Thread(target=enter, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads):
        thread.start()
        until(lambda: len(lock.waiters()) == number + 1)
    lock.release()
    for thread in threads:
        thread.join()
    assert entered == list(range(8))


def test_each_thread_releases_its_own_permit(until: Until) -> None:
    gpu, indices = Semaphore("gpu", 2), []
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with gpu as permit:
            indices.append(permit.index)
            inside.set()
            leave.wait()
            assert not permit.released

    thread = threading.Thread(target=other)
    with gpu as permit:
        thread.start()
        inside.wait()
    # The other thread acquired last; it is this one's permit that was released.
    assert permit.released and [holder.index for holder in gpu.holders()] == indices == [1]
    leave.set()
    thread.join()


def test_another_thread_can_release() -> None:
    lock = Lock("lock")
    lock.acquire()
    thread = threading.Thread(target=lock.release)
    thread.start()
    thread.join()
    assert lock.holders() == []


def test_a_waiting_thread_releases_the_gil(until: Until) -> None:
    lock = Lock("lock")
    lock.acquire()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    until(lambda: len(lock.waiters()) == 1)  # with the GIL held, this would never run
    lock.release()
    thread.join()


def test_exclusion_among_threads() -> None:
    gpu, counts, inside = Semaphore("gpu", 2), [], []

    def enter() -> None:
        for _ in range(200):
            with gpu as permit:
                inside.append(permit.index)
                counts.append(len(inside))
                inside.remove(permit.index)

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == 1200 and max(counts) <= 2


def test_a_semaphore_that_is_not_referred_to_releases_its_permits() -> None:
    lock = Lock("lock")
    other = Lock("lock")
    assert other.acquire()
    assert not lock.acquire(blocking=False)
    del other
    gc.collect()
    assert lock.acquire(blocking=False)


def test_pickling_sends_name_and_k(tmp_path: Path) -> None:
    gpu = Semaphore("gpu", 2, description="me")
    gpu.acquire()
    copy = pickle.loads(pickle.dumps(gpu))
    assert (type(copy), copy.name, copy.k, copy.description) == (Semaphore, "gpu", 2, "me")
    with pytest.raises(ReleaseError):
        copy.release()
    assert len(copy.holders()) == 1
    lock = pickle.loads(pickle.dumps(Lock(tmp_path / "a lock")))
    assert type(lock) is Lock and lock.path == str(tmp_path / "a lock")


def test_a_relative_path_is_found_from_another_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lock = Lock("./lock")
    monkeypatch.chdir("/")
    assert pickle.loads(pickle.dumps(lock)).path == str(tmp_path / "lock")


def test_permits_cannot_be_pickled() -> None:
    with Lock("lock") as permit, pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(permit)


def test_a_permit_can_be_released_before_its_block_ends() -> None:
    lock = Lock("lock")
    permit = lock.hold()
    with pytest.raises(ReleaseError, match="released already"):
        with permit as held:
            held.release()
            assert lock.holders() == []
    with pytest.raises(ReleaseError, match="released already"), lock as held:
        held.release()
    assert lock.acquire(blocking=False)


def test_closing_releases_and_ends_waits(until: Until) -> None:
    lock, raised = Lock("lock"), []

    def wait() -> None:
        try:
            lock.acquire()
        except ClosedError as error:
            raised.append(error)

    other = Lock("lock")
    other.acquire()
    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: other.waiters())
    lock.close()
    thread.join()
    assert len(raised) == 1 and other.waiters() == []
    assert lock.closed and "closed" in repr(lock)
    lock.close()


def test_closing_within_a_block_is_no_error() -> None:
    lock = Lock("lock")
    with lock:
        lock.close()
    assert Lock("lock").holders() == []


def test_forget_removes_an_unused_file() -> None:
    lock = Lock("lock")
    assert lock.path is not None and Path(lock.path).exists()
    lock.close()
    forget("lock")
    assert not Path(lock.name).exists()
    with pytest.raises(FileNotFoundError, match="does not exist"):
        forget("lock")


def test_representations_say_what_it_is(tmp_path: Path) -> None:
    gpu = Semaphore("gpu", 2)
    assert repr(gpu) == '<Semaphore "gpu", k=2>'
    with gpu as permit:
        assert repr(permit) == "<Permit 0 of `gpu`>"
        assert f"<process {os.getpid()}, index 0: " in repr(gpu.holders())
    assert isinstance(permit, Permit)
    assert repr(permit) == "<Permit 0 of `gpu`, released>"
    assert issubclass(ForkedError, RuntimeError)
