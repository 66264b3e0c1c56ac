"""Fair locks and semaphores for processes, threads and asyncio tasks, and a model checker for locks.

>>> from fairdoorway import Semaphore
>>> gpu = Semaphore("gpu", 2)                       # shared by all processes of this user
>>> with gpu as permit:                             # waits in order of arrival
...     print("on GPU", permit.index)

The permit is released at the end of the block, and also if the process is killed.

>>> from fairdoorway import check
>>> print(check("peterson"))                        # every interleaving, every property
"""

from ._checking import (
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
    check,
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
from ._core import HAS_ETCD, __version__
from ._errors import (
    CapacityError,
    CheckError,
    ClosedError,
    ClusterError,
    DoorwayError,
    FileError,
    ForkedError,
    ModelError,
    ReleaseError,
    UnavailableError,
)
from ._semaphore import Hold, Lock, Participant, Permit, Semaphore, forget

__all__ = [
    "HAS_ETCD",
    "Access",
    "CapacityError",
    "CheckError",
    "ClosedError",
    "ClusterError",
    "Count",
    "DoorwayError",
    "Execution",
    "FileError",
    "Finding",
    "ForkedError",
    "Hold",
    "Lock",
    "Loop",
    "ModelError",
    "Participant",
    "Permit",
    "Register",
    "ReleaseError",
    "Report",
    "Semaphore",
    "Space",
    "Step",
    "Ticket",
    "Turn",
    "UnavailableError",
    "__version__",
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
    "forget",
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
