"""The examples of the package's page are true."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "README.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_examples_of_the_checker_print_what_the_page_says() -> None:
    (source,) = [block for block in blocks() if ">>>" in block]
    examples = doctest.DocTestParser().get_doctest(source, {}, "README.md", str(PAGE), 0)
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.summarize() == (0, len(examples.examples)) and len(examples.examples) >= 5


def test_the_lock_of_the_page_is_correct() -> None:
    (source,) = [block for block in blocks() if "class Peterson" in block]
    names: dict[str, Any] = {}
    exec(source, names)
    assert names["check"](names["Peterson"]).states == 32
