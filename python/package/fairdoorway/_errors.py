"""The exceptions. Each is also of the built-in kind that a caller would expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._core import Execution


class DoorwayError(Exception):
    """The base of all exceptions of this package."""


class CapacityError(DoorwayError, ValueError):
    """The semaphore exists with another capacity k."""


class ClosedError(DoorwayError, ValueError):
    """The semaphore was closed, as with operations on a closed file."""


class ReleaseError(DoorwayError, RuntimeError):
    """A permit was released twice, or without having been acquired."""


class ForkedError(DoorwayError, RuntimeError):
    """A permit belongs to the process from which this one was forked."""


class FileError(DoorwayError, OSError):
    """The file is not a semaphore, was damaged, is in use, or is in a directory that is not private."""


class ClusterError(DoorwayError, ConnectionError):
    """etcd does not answer, or refuses a request."""


class UnavailableError(DoorwayError, NotImplementedError):
    """This build does not have the feature that is asked for."""


class ModelError(DoorwayError, ValueError):
    """The check that is asked for is not possible: an unknown algorithm, size, property or option."""


class CheckError(DoorwayError):
    """A lock breaks a rule of the checker, or raises.

    ``process``, ``section`` and ``line`` say where, and ``execution`` leads there, if one was found. An exception of the
    lock is the ``__cause__``.
    """

    def __init__(
        self,
        message: str,
        process: int | None = None,
        section: str | None = None,
        line: str | None = None,
        execution: Execution | None = None,
    ) -> None:
        super().__init__(message)
        self.process = process
        self.section = section
        self.line = line
        self.execution = execution


class _Stuck(BaseException):
    """Raised in a section that yields nothing. Not an ``Exception``, so that a lock does not catch it by mistake."""
