"""AlpacaEval's annotations.json: one array, an object for each instruction that a judge compared two answers to.

`preference` is 1 for the answer of generator_1, 2 for that of generator_2, 1.5 (in old files 0) for a tie, and anything
between for a judge that was asked how sure it is: `preference - 1` is the share of the win that is generator_2's. Which
answer was shown first is drawn by chance, and is not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded
from benchbook.labels.pairs.verdicts import NAMELESS, PairedAnswers, Place, Showing

_OLD_TIE = 0.0


class _Annotation(msgspec.Struct):
    """The part of an object that is read. An answer may be missing: its length is not known then."""

    instruction: str
    generator_1: str
    generator_2: str
    preference: float | None = None
    output_1: str | None = None
    output_2: str | None = None
    annotator: str | None = None


def read_annotations(path: str | Path) -> Iterator[tuple[Place, PairedAnswers]]:
    """The verdicts of a file, `model_a` for generator_1; an item is named by the hash of its instruction.

    Raises: InputError naming the object, by its number from 1.
    """
    for number, element in enumerate(JsonArray(path, is_all=True), 1):
        one = decoded(element, _Annotation, path, within=f"object {number}")
        yield (
            (str(path), None),
            PairedAnswers(
                judge=one.annotator or NAMELESS,
                item=sha256(one.instruction.encode("utf-8", "surrogatepass")).hexdigest()[:16],
                model_a=one.generator_1,
                model_b=one.generator_2,
                showings=(Showing(won=_share(path, number, one.preference), first=None),),
                chars_a=None if one.output_1 is None else len(one.output_1),
                chars_b=None if one.output_2 is None else len(one.output_2),
            ),
        )


def _share(path: str | Path, number: int, preference: float | None) -> float | None:
    """The share of the win that is generator_1's."""
    if preference is None:
        return None
    if preference == _OLD_TIE:
        return 0.5
    if not 1 <= preference <= 2:
        found = f"{preference} in object {number}"
        raise InputError(path, field="preference", found=found, expected="1 to 2, 0 for a tie, or null")
    return 2 - preference
