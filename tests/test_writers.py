"""At every file operation of every writer something goes wrong: what was acknowledged is there, and it goes on.

`writers.py` has them all, and a test sees to that.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import benchbook
from crashing import room_in_memory, two_at_each, why_not_here
from held import hold
from writers import ELSEWHERE, WRITERS


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is not the one that crashes: its fsyncs would only take time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def room() -> Iterator[Path]:
    with room_in_memory() as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())
@pytest.mark.parametrize("name", [name for name, writer in WRITERS.items() if not writer.is_slow])
def test_something_goes_wrong_at_each_operation(name: str, room: Path) -> None:
    """Two kinds of trouble at each; `tests/attack` has every kind at each, and the slow writers."""
    hold(WRITERS[name], room, pick=two_at_each)


# ── that the table is whole ──────────────────────────────────────────────────────────────────────────────

_WRITES = {
    "write_bytes", "write_text", "mkdir", "makedirs", "make_folder", "touch", "unlink", "rmdir", "rmtree", "copytree",
    "copyfile", "symlink_to", "hardlink_to", "truncate", "ftruncate", "pwrite", "mkdtemp", "mkstemp", "write_parquet",
    "write_csv", "write_ndjson", "ParquetWriter", "create_engine", "NamedTemporaryFile", "TemporaryFile",
    "SpooledTemporaryFile", "write_file", "written_whole", "written_new", "replacing", "write_all", "folder_made_whole",
    "JournalWriter", "create_record", "EventFileWriter",
}  # fmt: skip
_ROOMS = Path(benchbook.__file__).parent


@pytest.mark.slow
def test_every_module_that_writes_is_in_the_table() -> None:
    named = {module for writer in WRITERS.values() for module in writer.modules} | ELSEWHERE.keys()
    found = {
        path.relative_to(_ROOMS).as_posix(): lines
        for path in sorted(_ROOMS.rglob("*.py"))
        if (lines := list(_writing(ast.parse(path.read_text("utf-8")))))
    }
    assert {module: lines for module, lines in found.items() if module not in named} == {}


def _writing(tree: ast.AST) -> Iterator[str]:
    """The calls that change the disk, as text. What lies in a temporary folder counts too."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _is_writing(call):
            yield f"{call.lineno}: {ast.unparse(call)[:80]}"


def _is_writing(call: ast.Call) -> bool:
    of_module = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    match name:
        case "open" | "fdopen":
            words = ast.unparse(call).partition("(")[2]
            return bool(re.search(r"""['"][rwaxbt+]*[wax+][rwaxbt+]*['"]|O_WRONLY|O_RDWR|O_CREAT""", words))
        case "rename" | "replace":  # of a path; a text's and a frame's take more, or something else
            takes_path = (
                len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Lambda | ast.Dict)
            )
            return of_module == "os" or takes_path
        case "connect":
            return of_module == "sqlite3"
        case "write" | "link" | "symlink":
            return of_module == "os"
    return name in _WRITES
