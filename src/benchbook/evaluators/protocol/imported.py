"""A judgement that was made elsewhere, the file that holds many of them, and parts of a JSON text as it has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchbook.canonical import decode_json, ready
from benchbook.errors import InputError
from benchbook.evalsets.lines import read_lines
from benchbook.evalsets.output_set_sources import Key

_ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are no UTF-8, as Python's surrogateescape reads them


class ImportedJudgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One judge's reply about one output. It is validated by nobody yet: `scorers.judge_protocol` does that.

    `reply` is the judge's raw text, or canonical JSON in the protocol's form that `mapping_sha256` names the mapping
    of; what it was made from then stands in `written`, as the source has it. The four identifiers are null where the
    judgement names no output of the set, or more than one. `remarks` say what a reader has to know; they are
    Benchbook's words around somebody's text.
    """

    source: str  # the file that it stood in, as it was named
    source_sha256: str
    place: str  # where in it: `per_file_scores[3]`, `line 7`; empty where the file is the reply
    question_id: str | None
    prompt_variant: str | None
    target_model: str | None
    output_id: str | None
    judge_model: str
    method: str
    reply: str
    mapping_sha256: str | None = None
    remarks: tuple[str, ...] = ()
    written: str | None = None  # the part of the source that `reply` was made from; null: it is `reply` itself

    @property
    def raw(self) -> str:
        """The judge's words, as the source has them."""
        return self.reply if self.written is None else self.written

    @property
    def odd_bytes(self) -> bytes | None:
        """The source's bytes, where it is a file that is no UTF-8."""
        if self.place or not _ESCAPED.search(self.reply):
            return None
        return self.reply.encode("utf-8", "surrogateescape")

    @property
    def key(self) -> Key | None:
        """The output that is judged; None where it is not known."""
        if (
            self.question_id is None
            or self.prompt_variant is None
            or self.target_model is None
            or self.output_id is None
        ):
            return None
        return self.question_id, self.prompt_variant, self.target_model, self.output_id

    @property
    def asked(self) -> dict[str, str]:
        """The question to the judge, as far as it is known: `scorers.judge_protocol.validate` takes it."""
        known = {
            "judge_model": self.judge_model,
            "method": self.method,
            "question_id": self.question_id,
            "prompt_variant": self.prompt_variant,
            "target_model": self.target_model,
            "output_id": self.output_id,
        }
        return {name: value for name, value in known.items() if value is not None}


def read_judgements(path: str | Path) -> Iterator[ImportedJudgement]:
    """The judgements in a file of `benchbook judge import`. Raises: InputError naming the line; UsageError."""
    decoder = msgspec.json.Decoder(ready(ImportedJudgement))
    for line in read_lines(path):
        if line.data is None:
            raise InputError(path, line=line.number, found="a line that is too long", expected="a judgement")
        try:
            yield decode_json(line.data, decoder)
        except msgspec.DecodeError as error:
            raise InputError(path, line=line.number, found=f"no judgement ({error})") from None


# ── parts of a JSON text, byte for byte ──────────────────────────────────────────────────────────────────────
# The text was read before: it is known to be JSON.

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = re.compile(_STRING + rb"|[^ \t\r\n,\]}]++")
_MARK = re.compile(_STRING + rb"|[\[\]{}]")
_OPENING, _CLOSING = b"[{", b"]}"


def element_slices(data: bytes, path: str) -> Iterator[bytes]:
    """The elements of the array that stands in nested objects under names joined by dots.

    Raises: KeyError where there is no such name.
    """
    at = _after_space(data, 0)
    for name in path.split("."):
        at = _place_of(data, at, name)
    for start, end in _elements(data, at):
        yield data[start:end]


def member_slice(data: bytes, name: str) -> bytes:
    """The value of an object's member. Raises: KeyError where there is none."""
    start = _place_of(data, _after_space(data, 0), name)
    return data[start : _end_of(data, start)]


def _place_of(data: bytes, at: int, name: str) -> int:
    for key, start in _members(data, at):
        if key == name:
            return start
    raise KeyError(name)


def _members(data: bytes, at: int) -> Iterator[tuple[str, int]]:
    """`(name, where its value begins)` of the object that begins at `at`."""
    at = _after_space(data, at + 1)
    while data[at : at + 1] != b"}":
        end = _end_of(data, at)
        start = _after_space(data, _after_space(data, end) + 1)  # the colon is between
        yield json.loads(data[at:end]), start
        at = _next(data, _end_of(data, start))


def _elements(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    at = _after_space(data, at + 1)
    while data[at : at + 1] != b"]":
        end = _end_of(data, at)
        yield at, end
        at = _next(data, end)


def _next(data: bytes, at: int) -> int:
    """The position past a comma, if there is one."""
    at = _after_space(data, at)
    return _after_space(data, at + 1) if data[at : at + 1] == b"," else at


def _after_space(data: bytes, at: int) -> int:
    found = _SPACE.match(data, at)
    return found.end() if found else at


def _end_of(data: bytes, at: int) -> int:
    """The end of the value that begins at `at`."""
    if data[at] not in _OPENING:
        scalar = _SCALAR.match(data, at)
        if scalar is None:
            raise ValueError("no JSON value")
        return scalar.end()
    depth = 0
    for mark in _MARK.finditer(data, at):
        first = data[mark.start()]
        depth += (first in _OPENING) - (first in _CLOSING)
        if depth == 0:
            return mark.end()
    raise ValueError("no JSON value")
