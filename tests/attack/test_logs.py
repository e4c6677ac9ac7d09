"""Other tools' logs, attacked: each value of each replaced, each cut, and files of nothing but brackets and texts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from attack.tally import Tally
from benchbook.errors import UsageError
from benchbook.exchange.audit.auditing import audits_of
from benchbook.exchange.tools import tool_named
from exchange.bad_logs import FORMS, changed_values
from exchange.test_bad_input import tried
from support import peak_memory_mb

pytestmark = pytest.mark.attack

MOST_MB = 250  # over what a Python that imports this takes, about 60
MB = 1_000_000
FILLS: dict[str, Callable[[int], bytes]] = {
    "empty objects": lambda n: b"[" + b"{}," * (n // 3) + b"{}]",
    "numbers": lambda n: b"[" + b"1," * (n // 2) + b"1]",
    "levels": lambda n: b"[" * (n // 2) + b"]" * (n // 2),
    "a text": lambda n: b'"' + b"a" * n + b'"',
    "quotes": lambda n: b'"' + b'\\"' * (n // 2) + b'"',
    "halves of characters": lambda n: b'"' + b"\\ud800" * (n // 6) + b'"',
    "NaN": lambda n: b"[" + b"NaN," * (n // 4) + b"NaN]",
    "keys": lambda n: b"{" + b",".join(b'"k%x":0' % one for one in range(n // 11)) + b"}",
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_any_value_may_be_any_other(name: str, tmp_path: Path, tally: Callable[[str, str], Tally]) -> None:
    form, counted = FORMS[name], tally("a log's value is another", name)
    for number, (what, files) in enumerate(changed_values(form)):
        counted.count(fault_of(form.laid(tmp_path / "log", files), tmp_path, form.tool, what, number % 25 == 0))


@pytest.mark.parametrize("name", FORMS)
def test_it_may_end_anywhere(name: str, tmp_path: Path, rng: random.Random, tally: Callable[[str, str], Tally]) -> None:
    form, counted = FORMS[name], tally("a log is cut, or a bit of it turned over", name)
    for file, data in form.files().items():
        for n in range(len(data)):
            turned = data[:n] + bytes([data[n] ^ 1 << rng.randrange(8)]) + data[n + 1 :]
            for what, content in (("cut", data[:n]), ("turned", turned)):
                path = form.laid(tmp_path / "log", {file: content})
                counted.count(fault_of(path, tmp_path, form.tool, f"{file}: {what} at {n}", n % 50 == 0))


def fault_of(path: Path, folder: Path, tool: str, what: str, imports: bool) -> str | None:
    try:
        tried(path, folder, tool_named(tool), imports=imports)
    except Exception as error:  # whatever it is, it is told
        return f"{what}: {type(error).__name__}: {str(error)[:200]}"
    return None


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("name", FORMS)
def test_time_and_memory_grow_as_the_file_at_most(
    name: str, fill: str, tmp_path: Path, rng: random.Random, tally: Callable[[str, str], Tally]
) -> None:
    """Of 15 and 30 MB instead of some value, drawn by chance."""
    form, counted = FORMS[name], tally("a log is huge", f"{name}, {fill}")
    marked = list(islice(changed_values(form), 20, None, 38))  # one of the values at each place
    for what, files in rng.sample(marked, min(2, len(marked))):
        took = []
        for size in (15 * MB, 30 * MB):
            huge = {file: data.replace(b'"NaN"', FILLS[fill](size)) for file, data in files.items()}
            path = form.laid(tmp_path / "log", huge)
            began = time.process_time()
            with suppress(UsageError):
                list(audits_of(path, tool_named(form.tool)))
            took.append(time.process_time() - began)
        counted.count(f"{what}: {took[0]:.1f} s, and {took[1]:.1f} s" if took[1] > 3 * took[0] + 3 else None)
        code = (
            "from benchbook.cli.main import main; "
            f"sys.argv = ['benchbook', 'audit', sys.argv[1], '--tool', '{form.tool}', '--json']; main()"
        )
        _, peak = peak_memory_mb(code, [str(path)])
        counted.count(f"{what}: {peak} MB" if peak > MOST_MB + 60 else None)
