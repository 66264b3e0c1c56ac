"""The notebook: its committed output is what its cells give."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "counterexample.ipynb"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def outputs_of(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Executes a cell as a kernel does, and returns its outputs in the format of notebooks."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, result = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            result = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if result is not None:
        data = {"text/plain": lines(repr(result))}
        if hasattr(result, "_repr_svg_"):
            data["image/svg+xml"] = lines(result._repr_svg_())
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def test_the_output_of_the_notebook_is_that_of_its_cells() -> None:
    """With ``UPDATE`` in the environment, writes it anew."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = [outputs_of("".join(cell["source"]), names, count + 1) for count, cell in enumerate(cells)]
    if "UPDATE" in os.environ:
        for count, (cell, outputs) in enumerate(zip(cells, found)):
            cell["execution_count"], cell["outputs"] = count + 1, outputs
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [cell["outputs"] for cell in cells] == found
    assert any("image/svg+xml" in output.get("data", {}) for outputs in found for output in outputs)
