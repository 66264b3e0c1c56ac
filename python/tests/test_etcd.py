"""Semaphores on etcd, with a server of the test's own; only in builds that have the feature."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator

import pytest
from fairdoorway import HAS_ETCD, CapacityError, ClosedError, ClusterError, ForkedError, Semaphore

from conftest import LONG, Child, until

pytestmark = pytest.mark.skipif(not HAS_ETCD, reason="this build does not have etcd")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    clients, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    command = ["etcd", "--data-dir", str(tmp_path_factory.mktemp("etcd")), "--log-level", "error"]
    command += ["--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers]
    command += ["--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}"]
    server = subprocess.Popen(command)

    def answers() -> bool:
        host, port = clients.removeprefix("http://").split(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    try:
        until(answers)
        yield clients.replace("http", "etcd")
    finally:
        server.kill()
        server.wait()


def test_a_permit_has_an_index_and_a_token(address: str) -> None:
    gpu = Semaphore("gpu", 2, on=address, description="me")
    with gpu as first, gpu as second:
        assert {first.index, second.index} == {0, 1}
        assert first.token is not None and second.token is not None
        assert not gpu.acquire(timeout=0.05)
        assert [holder.description for holder in gpu.holders()] == ["me", "me"]
        assert gpu.holders()[0].host
        with pytest.raises(TimeoutError, match=f"held by process {os.getpid()}"), gpu.hold(timeout=0.05):
            pass
    with gpu as third:
        assert third.token is not None and third.token > max(first.token, 0)
    assert gpu.path is None and gpu.on == address


def test_k_that_differs_and_a_server_that_is_not_there_are_errors(address: str) -> None:
    Semaphore("printer", 2, on=address)
    with pytest.raises(CapacityError, match="has capacity 2, not 3"):
        Semaphore("printer", 3, on=address)
    with pytest.raises(ClusterError):
        Semaphore("gpu", 2, on="http://127.0.0.1")


def test_tasks_wait_and_are_cancelled(address: str) -> None:
    lock = Semaphore("tasks", 1, on=address)

    async def main() -> None:
        async with lock:
            cancelled = asyncio.create_task(lock.acquire_async())
            waiting = asyncio.create_task(lock.acquire_async())
            while len(await asyncio.to_thread(lock.waiters)) < 2:
                await asyncio.sleep(0.01)
            cancelled.cancel()
            while len(await asyncio.to_thread(lock.waiters)) > 1:
                await asyncio.sleep(0.01)
            assert not await lock.acquire_async(timeout=0.05)
        assert await asyncio.wait_for(waiting, LONG)
        lock.release()

    asyncio.run(main())


def test_a_closed_semaphore_and_a_forked_child_are_refused(address: str) -> None:
    lock = Semaphore("forked", 1, on=address)
    with lock:
        pid = os.fork()
        if pid == 0:
            try:
                lock.acquire()
            except ForkedError:
                os._exit(17)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 17
        assert len(lock.holders()) == 1
    lock.close()
    with pytest.raises(ClosedError):
        lock.acquire()


def test_ctrl_c_ends_a_wait_and_leaves_the_queue(address: str, child: Callable[..., Child]) -> None:
    lock = Semaphore("interrupted", 1, on=address)
    with lock:
        waiter = child(
            """
            import sys
            from fairdoorway import Semaphore
            lock = Semaphore("interrupted", 1, on=sys.argv[1])
            try:
                lock.acquire()
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """,
            address,
        )
        until(lambda: len(lock.waiters()) == 1)
        os.kill(waiter.pid, signal.SIGINT)
        assert waiter.line() == "interrupted"
        until(lambda: not lock.waiters())
