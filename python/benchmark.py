"""fairdoorway beside filelock and portalocker: hand-over, CPU of waiters, order, deaths, k, and an uncontended block.

    pip install fairdoorway filelock portalocker
    python benchmark.py [--json]

Every lock is measured with its defaults, between processes, one after the other on the same machine. Figures move from
machine to machine: compare those of one run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

WAITERS = 30
HANDOVERS = 40
CPU_SECONDS = 10.0

Block = Callable[[], contextlib.AbstractContextManager[Any]]


def fairdoorway_lock(path: str) -> Block:
    from fairdoorway import Lock

    lock = Lock(path + ".doorway")
    return lambda: lock


def filelock_lock(path: str) -> Block:
    from filelock import FileLock

    return lambda: FileLock(path + ".filelock")


def portalocker_lock(path: str) -> Block:
    import portalocker

    # The default gives up after 5 s; the interval of its polling stays as it is.
    return lambda: portalocker.Lock(path + ".portalocker", timeout=1000)


LOCKS: dict[str, Callable[[str], Block]] = {
    "fairdoorway": fairdoorway_lock,
    "filelock": filelock_lock,
    "portalocker": portalocker_lock,
}

context = multiprocessing.get_context("spawn")


def waiting(name: str, path: str, number: int, entered: Any, held: float) -> None:
    """A process that waits once, and reports when it entered and left."""
    block = LOCKS[name](path)
    entered.put(("waits", number, time.monotonic()))
    with block():
        inside = time.monotonic()
        if held:
            time.sleep(held)
        left = time.monotonic()
    entered.put(("was inside", number, (inside, left)))


def holding(name: str, path: str, inside: Any) -> None:
    with LOCKS[name](path)():
        inside.put(time.monotonic())
        signal.pause()


@contextlib.contextmanager
def waiters(name: str, path: str, count: int, held: float = 0.0) -> Iterator[tuple[Any, list[Any]]]:
    """Processes that wait, having arrived one after the other."""
    entered = context.Queue()
    processes = []
    try:
        for number in range(count):
            processes.append(context.Process(target=waiting, args=(name, path, number, entered, held)))
            processes[-1].start()
            assert entered.get(timeout=60)[0] == "waits"
            time.sleep(0.02)  # it has said that it will wait, and now does
        yield entered, processes
    finally:
        for process in processes:
            process.kill()
            process.join()


def handover(name: str, path: str) -> dict[str, float]:
    """From the release by one process to the entry of the next, which has waited for a while."""
    times = []
    block = LOCKS[name](path)
    for _ in range(HANDOVERS // 4):
        with contextlib.ExitStack() as stack:
            with block():
                # Each holds for 30 ms: the next one has gone to sleep by then.
                entered, _ = stack.enter_context(waiters(name, path, 4, 0.03))
                time.sleep(0.05)
                released = time.monotonic()
            visits = sorted(entered.get(timeout=60)[2] for _ in range(4))
            for inside, left in visits:
                times.append(inside - released)
                released = left
    return {"median_us": statistics.median(times) * 1e6, "worst_us": max(times) * 1e6}


def order(name: str, path: str) -> dict[str, int]:
    """How many of the entries were made before that of a process that had waited for longer."""
    with contextlib.ExitStack() as stack:
        with LOCKS[name](path)():
            entered, _ = stack.enter_context(waiters(name, path, WAITERS, 0.005))
        visits = {number: inside for _, number, (inside, _) in (entered.get(timeout=120) for _ in range(WAITERS))}
    pairs = [(early, late) for early in range(WAITERS) for late in range(early + 1, WAITERS)]
    return {"overtakings": sum(visits[late] < visits[early] for early, late in pairs), "pairs": len(pairs)}


def cpu_seconds(pid: int) -> float:
    """The processor time of a process so far; in nanoseconds from the scheduler, where /proc/PID/stat has ticks."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def cpu(name: str, path: str) -> dict[str, float]:
    """The processor time that 30 processes take while they wait, in per cent of one core."""
    with LOCKS[name](path)(), waiters(name, path, WAITERS) as (_, processes):
        time.sleep(1)
        before = sum(cpu_seconds(process.pid) for process in processes)
        began = time.monotonic()
        time.sleep(CPU_SECONDS)
        used = sum(cpu_seconds(process.pid) for process in processes) - before
        return {"percent_of_a_core": 100 * used / (time.monotonic() - began)}


def death(name: str, path: str) -> dict[str, Any]:
    """From the kill -9 of a holder to the entry of a waiter; also of a worker of multiprocessing.Lock, for comparison."""
    inside = context.Queue()
    holder = context.Process(target=holding, args=(name, path, inside))
    holder.start()
    inside.get(timeout=60)
    with waiters(name, path, 1) as (entered, _):
        time.sleep(0.2)
        killed = time.monotonic()
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
        try:
            _, _, (entry, _) = entered.get(timeout=10)
            return {"freed_after_ms": (entry - killed) * 1e3}
        except Exception:
            return {"freed_after_ms": None}
        finally:
            holder.join()


def uncontended(name: str, path: str) -> dict[str, float]:
    """An empty `with` block, by one process alone: the best of five rounds."""
    block, rounds = LOCKS[name](path), []
    times = 20_000 if name == "fairdoorway" else 2_000
    lock = block() if name == "fairdoorway" else None
    for _ in range(5):
        began = time.perf_counter()
        if lock is not None:
            for _ in range(times):
                with lock:
                    pass
        else:
            for _ in range(times):
                with block():
                    pass
        rounds.append((time.perf_counter() - began) / times)
    return {"us": min(rounds) * 1e6}


def capacities(name: str, path: str) -> dict[str, str]:
    return {
        "fairdoorway": {"k": "any k, in one queue, with an index for each holder"},
        "filelock": {"k": "1 only"},
        "portalocker": {"k": "any k, as k files that are polled (BoundedSemaphore)"},
    }[name]


MEASURES = [handover, order, cpu, death, uncontended, capacities]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--lock", choices=list(LOCKS), action="append", help="only this lock; may be given several times")
    parser.add_argument("--measure", choices=[m.__name__ for m in MEASURES], action="append", help="only this measure")
    arguments = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    for name in arguments.lock or LOCKS:
        found[name] = {}
        for measure in MEASURES:
            if arguments.measure and measure.__name__ not in arguments.measure:
                continue
            with tempfile.TemporaryDirectory() as directory:
                found[name][measure.__name__] = measure(name, str(Path(directory) / "lock"))
            if not arguments.json:
                cells = ", ".join(
                    f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}"
                    for key, value in found[name][measure.__name__].items()
                )
                print(f"{name:12} {measure.__name__:12} {cells}", flush=True)
    if arguments.json:
        json.dump(found, sys.stdout, indent=2)
        print()


if __name__ == "__main__":
    main()
