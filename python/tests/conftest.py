"""What the tests share: a directory for names, child processes, and waiting for a condition."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

LONG = 60.0
"""After this time a test gives up. No test depends on how long anything takes."""


def until(holds: Callable[[], object]) -> None:
    """Waits until a condition holds."""
    deadline = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < deadline, "the condition does not come true"
        time.sleep(0.002)


class Child:
    """A Python process that executes a script, with which a test talks in lines."""

    def __init__(self, script: str, *arguments: object) -> None:
        # Tests that run in the background have Ctrl-C ignored, which a child would inherit.
        heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        command = [sys.executable, "-c", heed + textwrap.dedent(script), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, line: str = "") -> None:
        """Sends it a line."""
        assert self.process.stdin is not None
        print(line, file=self.process.stdin, flush=True)

    def ends(self) -> int:
        """Its exit code."""
        return self.process.wait(LONG)


@pytest.fixture
def child() -> Iterator[Callable[..., Child]]:
    """Starts children, which end with the test."""
    children: list[Child] = []

    def start(script: str, *arguments: object) -> Child:
        children.append(Child(script, *arguments))
        return children[-1]

    yield start
    for started in children:
        started.process.kill()
        started.process.communicate()


@pytest.fixture(autouse=True)
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own for the names of each test."""
    directory = tmp_path / "names"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("DOORWAY_DIR", str(directory))
    return directory


@pytest.fixture(name="until")
def until_fixture() -> Callable[[Callable[[], object]], None]:
    return until
