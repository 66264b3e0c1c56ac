"""What the compiled half calls in an event loop."""

from __future__ import annotations

import asyncio


def wake(future: asyncio.Future[None]) -> None:
    """Completes the future of a task that waits, unless the task was cancelled."""
    if not future.done():
        future.set_result(None)
