"""Eval sets that are no files: rows of this process, written down as JSON lines, which a record then keeps."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError

__all__ = ["IN_MEMORY", "as_file", "path_in_memory"]

IN_MEMORY = "memory:"  # before the name of a set in settings

_LENT: dict[str, Path] = {}


@contextmanager
def as_file(evalset: Any, name: str = "items") -> Iterator[str]:
    """What settings call an eval set while the block runs: a path, or `@NAME`, as it is; rows as `memory:NAME`.

    Rows are a list of mappings, a Polars or pandas frame, or a Hugging Face data set. Raises: InputError.
    """
    if isinstance(evalset, str | Path):
        yield str(evalset)
        return
    with tempfile.TemporaryDirectory(prefix="benchbook-items-") as folder:
        path = Path(folder) / f"{name}.jsonl"
        with path.open("wb") as file:
            for number, row in enumerate(_rows(evalset), start=1):
                file.write(_line(row, number, path) + b"\n")
        lent, number = f"{IN_MEMORY}{name}", 1
        while _LENT.setdefault(lent, path) is not path:  # another run of this process has a set of that name
            number += 1
            lent = f"{IN_MEMORY}{name}-{number}"
        try:
            yield lent
        finally:
            del _LENT[lent]


def path_in_memory(name: str) -> Path | None:
    """The file of a set that settings call `memory:NAME`; None where this process has none."""
    return _LENT.get(name)


def _rows(evalset: Any) -> Iterator[Any]:
    if hasattr(evalset, "iter_rows"):  # Polars
        yield from evalset.iter_rows(named=True)
    elif hasattr(evalset, "to_dict") and hasattr(evalset, "iloc"):  # pandas
        yield from evalset.to_dict("records")
    elif isinstance(evalset, Iterable) and not isinstance(evalset, Mapping):  # a Hugging Face data set gives mappings
        yield from evalset
    else:
        found = type(evalset).__name__
        raise InputError("evalset", found=found, expected="a path, a list of mappings, a frame, or a data set")


def _line(row: Any, number: int, path: Path) -> bytes:
    if not isinstance(row, Mapping):
        raise InputError(path.stem, line=number, found=type(row).__name__, expected="a mapping, such as {'id': …}")
    filled = {name: value for name, value in row.items() if not _is_missing(value)}
    try:
        return msgspec.json.encode(filled, enc_hook=_plain)
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as error:
        raise InputError(path.stem, line=number, found=f"what JSON has no form for ({error})") from None


def _is_missing(value: Any) -> bool:
    """None, and the NaN of frames."""
    return value is None or (isinstance(value, float) and value != value)


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the type {type(value).__name__}")
