"""Semaphores and locks for processes, threads and tasks."""

from __future__ import annotations

import asyncio
import atexit
import os
from types import TracebackType

from . import _core
from ._core import Participant, Permit, forget

__all__ = ["Hold", "Lock", "Participant", "Permit", "Semaphore", "forget"]

Timeout = float | None


class Semaphore(_core.Semaphore):
    """A semaphore with at most k holders, in order of arrival, for processes, their threads and their tasks.

    ``name`` is a file in the user's own directory, or a path if it has a ``/``. The first process creates the file, and
    sets k. ``description`` is what others see of this process; the default is ``sys.argv``. With ``on``, the address of an
    etcd cluster, it is shared by several machines.

    >>> gpu = Semaphore("gpu", 2)
    >>> with gpu as permit:
    ...     use(permit.index)

    A forked child opens the semaphore again when it uses it, and has none of its parent's permits. Pickling sends name and
    k. A permit is released when its process ends, in whatever way.
    """

    def hold(self, timeout: Timeout = None) -> Hold:
        """A permit for a ``with`` or ``async with`` block; after ``timeout`` seconds, a ``TimeoutError``.

        The error names the holders.
        """
        return Hold(self, timeout)

    async def acquire_async(self, timeout: Timeout = None) -> bool:
        """As ``acquire``, for a task: waits without blocking the event loop. Cancelling the task leaves the queue."""
        permit = await self._acquire_task(timeout)
        if permit is None:
            return False
        self._keep_for_task(permit, _this_task())
        return True

    async def __aenter__(self) -> Permit:
        permit = await self._acquire_task(None)
        if permit is None:
            raise AssertionError("a wait without a timeout does not time out")
        self._keep_for_task(permit, _this_task())
        return permit

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave_task(_this_task(), kind is not None)

    async def _acquire_task(self, timeout: Timeout) -> Permit | None:
        """The permit of this task; ``None`` after ``timeout`` seconds."""
        self._check_timeout(timeout)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        waiter = self._join(loop, future)
        try:
            permit = waiter.take()
            if permit is None:
                has_limit = timeout is not None and timeout != -1
                await (asyncio.wait_for(future, timeout) if has_limit else future)
                permit = waiter.take()
            return permit
        except asyncio.TimeoutError:
            # It may have been admitted at the last moment.
            permit = waiter.take()
            if permit is None:
                waiter.cancel()
            return permit
        except BaseException:
            waiter.cancel()
            raise


class Lock(Semaphore):
    """A lock: a semaphore with one holder at a time."""

    def __new__(
        cls,
        name: str | os.PathLike[str],
        *,
        on: str | None = None,
        description: str | None = None,
    ) -> Lock:
        return super().__new__(cls, name, 1, on=on, description=description)


class Hold:
    """A permit for one block, with a timeout. Made by ``Semaphore.hold``; each can be used once at a time."""

    def __init__(self, semaphore: Semaphore, timeout: Timeout = None) -> None:
        semaphore._check_timeout(timeout)
        self._semaphore = semaphore
        self._timeout = timeout
        self._permit: Permit | None = None

    def __enter__(self) -> Permit:
        self._check_unused()
        self._permit = self._or_timeout(self._semaphore._hold(self._timeout))
        return self._permit

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        permit, self._permit = self._permit, None
        if permit is not None:
            permit.release()

    async def __aenter__(self) -> Permit:
        self._check_unused()
        self._permit = self._or_timeout(await self._semaphore._acquire_task(self._timeout))
        return self._permit

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, value, traceback)

    def _check_unused(self) -> None:
        if self._permit is not None:
            raise RuntimeError("this object holds a permit already; call `hold` for each block")

    def _or_timeout(self, permit: Permit | None) -> Permit:
        if permit is not None:
            return permit
        name = self._semaphore.name
        holders = ", ".join(f"process {it.pid} ({it.description})" for it in self._semaphore.holders())
        held = f"; it is held by {holders}" if holders else ""
        raise TimeoutError(f"no permit of `{name}` within {self._timeout} s{held}")


def _this_task() -> int:
    return id(asyncio.current_task())


def _open(kind: type[Semaphore], name: str, k: int, on: str | None, description: str | None) -> Semaphore:
    """Opens the semaphore that was pickled."""
    if issubclass(kind, Lock):
        return kind(name, on=on, description=description)
    return kind(name, k, on=on, description=description)


os.register_at_fork(after_in_child=_core.after_fork_in_child)
atexit.register(_core.shutdown)
