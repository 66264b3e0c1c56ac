"""The checker: algorithms of the catalogue, and locks written in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Literal

from . import _core
from ._core import (
    Access,
    Count,
    Execution,
    Finding,
    Loop,
    Register,
    Report,
    Space,
    Step,
    Ticket,
    Turn,
    again,
    algorithms,
    all_but,
    all_of,
    call,
    compare_swap,
    done,
    each_but,
    fence,
    fetch_add,
    fold,
    read,
    spin,
    survey,
    swap,
    test,
    turns,
    until,
    update,
    write,
)

__all__ = [
    "Access",
    "Count",
    "Execution",
    "Finding",
    "Loop",
    "Register",
    "Report",
    "Space",
    "Step",
    "Ticket",
    "Turn",
    "again",
    "algorithms",
    "all_but",
    "all_of",
    "call",
    "check",
    "compare_swap",
    "done",
    "each_but",
    "fence",
    "fetch_add",
    "fold",
    "read",
    "spin",
    "survey",
    "swap",
    "test",
    "turns",
    "until",
    "update",
    "write",
]


class _Options:
    """The options of a check, for the compiled half."""

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)


def check(
    lock: str | Callable[..., Any],
    n: int | None = None,
    k: int | None = None,
    *,
    crashes: int = 0,
    deaths: bool = False,
    aborts: bool = False,
    expiries: bool = False,
    passages: int | None = None,
    passages_in_all: int | None = None,
    symmetry: bool = False,
    forget: bool = False,
    merge: bool = False,
    registers: Literal["atomic", "safe"] = "atomic",
    memory: Literal["sc", "tso"] = "sc",
    fences: bool = True,
    properties: Iterable[str] | None = None,
    threads: int | None = None,
    max_states: int | None = None,
    max_memory: int | None = None,
    patience: float = 10.0,
) -> Report:
    """Checks every interleaving of a lock's shared accesses, and decides every property.

    ``lock`` is the name of an algorithm (``algorithms()`` lists them), or a lock written in Python: a class, or another
    callable that makes one, whose parameters are ``space`` and, if it has them, ``n`` and ``k``.

    >>> check("peterson").holds("exclusion")
    True
    >>> check("k-bakery", n=3, k=2, deaths=True, passages=1).verdicts["exclusion"]
    'holds'

    The options are those of ``doorway check``. ``patience`` is how many seconds a section of a lock written in Python may
    take to yield. Such a lock is executed by the interpreter, which is slower: see the package's page.
    """
    options = _Options(
        crashes=crashes,
        deaths=deaths,
        aborts=aborts,
        expiries=expiries,
        passages=passages,
        passages_in_all=passages_in_all,
        symmetry=symmetry,
        forget=forget,
        merge=merge,
        registers=registers,
        memory=memory,
        fences=fences,
        properties=None if properties is None else list(_listed(properties)),
        threads=threads,
        max_states=max_states,
        max_memory=max_memory,
    )
    if isinstance(lock, str):
        return _core.check(lock, n, k, options)
    if not callable(lock):
        raise TypeError(f"a lock is the name of an algorithm, or a class, not {lock!r}")
    n, k = 2 if n is None else n, 1 if k is None else k
    make, arguments = lock, _arguments(lock, n=n, k=k)
    name = getattr(lock, "__name__", type(lock).__name__)
    return _core.check_lock(name, lambda space: make(space, **arguments), n, k, patience, options)


def _listed(properties: Iterable[str]) -> Iterable[str]:
    if isinstance(properties, str):
        raise TypeError(f"`properties` is a list of names, not one: write [{properties!r}]")
    return properties


def _arguments(make: Callable[..., Any], **sizes: int) -> dict[str, int]:
    """Those of the sizes that are parameters of the lock's constructor."""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        return {}
    return {name: size for name, size in sizes.items() if name in parameters}
