"""Bad input: each mistake is a clear exception of the documented kind, and loses nothing."""

from __future__ import annotations

import math
import os
import pickle
from pathlib import Path

import pytest
from fairdoorway import (
    HAS_ETCD,
    CapacityError,
    ClosedError,
    DoorwayError,
    FileError,
    Lock,
    ReleaseError,
    Semaphore,
    UnavailableError,
    forget,
)


@pytest.mark.parametrize("name", [None, 3, 2.5, ["gpu"], b"gpu"])
def test_a_name_is_a_string_or_a_path(name: object) -> None:
    with pytest.raises(TypeError, match="a name is a string or a path, not"):
        Semaphore(name, 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a name is a string or a path, not"):
        forget(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", ".hidden", "a" * 300, "nul\0byte"])
def test_names_that_cannot_be_files_are_refused(name: str) -> None:
    with pytest.raises((ValueError, OSError)):
        Semaphore(name, 2)


@pytest.mark.parametrize("k", [None, 2.0, "2", True, [2]])
def test_k_is_an_integer(k: object) -> None:
    with pytest.raises(TypeError, match="k is an integer, not"):
        Semaphore("gpu", k)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [0, -1, 10**9, 10**30])
def test_k_is_in_range(k: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        Semaphore("gpu", k)


def test_k_that_differs_is_refused() -> None:
    gpu = Semaphore("gpu", 2)
    with pytest.raises(CapacityError, match="has capacity 2, not 3"):
        Semaphore("gpu", 3)
    with pytest.raises(ValueError, match="has capacity 2, not 1"):
        Lock("gpu")
    assert gpu.acquire(blocking=False)


def test_other_arguments_have_types() -> None:
    with pytest.raises(TypeError, match="`description` is a string, not 3"):
        Semaphore("gpu", 2, description=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`on` is a string, not 3"):
        Semaphore("gpu", 2, on=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Semaphore("gpu")  # type: ignore[call-arg]


@pytest.mark.parametrize("timeout", ["1", [], object()])
def test_a_timeout_is_a_number(timeout: object) -> None:
    lock = Lock("lock")
    with pytest.raises(TypeError, match="`timeout` is a number of seconds, not"):
        lock.acquire(timeout=timeout)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`timeout` is a number of seconds, not"):
        lock.hold(timeout)  # type: ignore[arg-type]
    assert lock.acquire(blocking=False)


@pytest.mark.parametrize(("timeout", "kind"), [(-2, ValueError), (math.nan, ValueError), (1e300, OverflowError), (math.inf, OverflowError)])
def test_a_timeout_is_in_range(timeout: float, kind: type[Exception]) -> None:
    lock = Lock("lock")
    with pytest.raises(kind):
        lock.acquire(timeout=timeout)
    with pytest.raises(ValueError, match="can't specify a timeout for a non-blocking call"):
        lock.acquire(False, 1)
    assert lock.acquire(blocking=False)


def test_a_permit_is_released_once() -> None:
    lock = Lock("lock")
    with pytest.raises(ReleaseError, match="`lock` is not held"):
        lock.release()
    assert lock.acquire()
    lock.release()
    with pytest.raises(RuntimeError, match="`lock` is not held"):
        lock.release()
    with lock.hold() as permit:
        pass
    with pytest.raises(ReleaseError, match="released already"):
        permit.release()
    assert lock.acquire(blocking=False)


def test_a_closed_semaphore_refuses_everything() -> None:
    lock = Lock("lock")
    lock.close()
    actions = [
        lock.acquire,
        lock.release,
        lock.holders,
        lock.waiters,
        lock.__enter__,
        lock.hold(1).__enter__,
        lambda: lock.path,
        lambda: pickle.dumps(lock),
    ]
    for action in actions:
        with pytest.raises(ClosedError, match="`lock` is closed"):
            action()
    assert issubclass(ClosedError, ValueError)


def test_an_object_of_hold_has_one_permit_at_a_time() -> None:
    hold = Semaphore("gpu", 2).hold()
    with hold, pytest.raises(RuntimeError, match="holds a permit already"):
        hold.__enter__()


def test_files_that_are_no_semaphores_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "letter"
    file.write_text("Dear reader, " * 1000)
    with pytest.raises(FileError, match="nothing was changed"):
        Lock(file)
    assert file.read_text().startswith("Dear reader")
    with pytest.raises(OSError):
        Lock(tmp_path)
    with pytest.raises(OSError):
        Lock(tmp_path / "nowhere" / "lock")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_a_permission_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        Lock(tmp_path / "lock")


def test_a_directory_that_others_can_write_is_refused(names: Path) -> None:
    names.chmod(0o777)
    with pytest.raises(FileError, match="DOORWAY_DIR"):
        Lock("lock")


def test_a_lock_in_use_is_not_forgotten() -> None:
    with Lock("lock"), pytest.raises(FileError, match="in use"):
        forget("lock")


@pytest.mark.skipif(HAS_ETCD, reason="this build has etcd")
def test_etcd_that_is_not_built_is_an_error_of_its_own() -> None:
    with pytest.raises(UnavailableError, match="feature `etcd`"):
        Semaphore("gpu", 2, on="etcd://127.0.0.1:2379")
    assert issubclass(UnavailableError, NotImplementedError) and issubclass(UnavailableError, DoorwayError)
