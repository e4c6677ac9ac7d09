"""Verdicts on pairs from files of any form that is known, which is told by what is in them; and those asked here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, assert_never, get_args

from benchbook.errors import UsageError
from benchbook.evalsets.tables import TABLE_ENDINGS
from benchbook.exchange.pairs.alpaca_eval import read_annotations
from benchbook.exchange.pairs.arena_hard import STRONG, read_judgments
from benchbook.labels.pairs.asked import verdicts_asked
from benchbook.labels.pairs.folder import is_pairs, open_pairs
from benchbook.labels.pairs.verdicts import PairedAnswers, Place, gathered, read_table_of_pairs

PairsForm = Literal["table", "alpaca_eval", "arena_hard"]
PAIRS_FORMS: tuple[PairsForm, ...] = get_args(PairsForm)

_HEAD = 1 << 20
_ARENA_HARD = {"games", "model"}


def read_pairs(
    paths: Sequence[str | Path], *, form: PairsForm | None = None, strong: int = STRONG, baseline: str | None = None
) -> list[PairedAnswers]:
    """The verdicts of all files, and of folders of runs in pairs; `form` is that of each file, by default what it looks
    like.

    `strong` and `baseline` are for Arena-Hard: how much a verdict of `>>` counts, and the model that answers were held
    against where a file does not say.

    Raises: InputError naming file and line, also for a verdict that comes twice; UsageError where a file can't be read,
    or a folder is not complete; RecordError.
    """
    return gathered(one for path in paths for one in _found_in(path, form, strong, baseline))


def _found_in(
    path: str | Path, form: PairsForm | None, strong: int, baseline: str | None
) -> Iterator[tuple[Place, PairedAnswers]]:
    if is_pairs(path):
        return verdicts_asked(open_pairs(path))
    match form or form_of(path):
        case "table":
            return read_table_of_pairs(path)
        case "alpaca_eval":
            return read_annotations(path)
        case "arena_hard":
            return read_judgments(path, strong=strong, baseline=baseline)
        case unknown:
            assert_never(unknown)


def form_of(path: str | Path) -> PairsForm:
    """The form of a file: an array of objects is AlpacaEval's, lines with `games` are Arena-Hard's.

    Raises: UsageError where it can't be read, or has neither form and no ending of a table's.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    if head.startswith(b"["):
        return "alpaca_eval"
    if head.startswith(b"{") and _keys(head) >= _ARENA_HARD:
        return "arena_hard"
    if Path(path).suffix.lower() not in TABLE_ENDINGS:
        endings = ", ".join(TABLE_ENDINGS)
        raise UsageError(f"{path}: can't tell its form; say --format, or name a table so that it ends in {endings}")
    return "table"


def _keys(head: bytes) -> set[str]:
    """The keys of the object on the first line, as far as it is read: a long one is cut off."""
    line = head.split(b"\n", 1)[0].decode("utf-8", "replace")
    try:
        found = json.loads(line)
        return set(found) if isinstance(found, dict) else set()
    except (ValueError, RecursionError):
        return {key for key in _ARENA_HARD if f'"{key}":' in line.replace('" :', '":')}
