"""Finds the outputs of an evaluation set: in a folder, by a pattern of names, or in a table (SPEC P1)."""

from __future__ import annotations

import os
import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evalsets.extraction import ENDINGS
from benchbook.evalsets.table_columns import is_missing, optional_text_at, shown, text_at
from benchbook.evalsets.tables import read_table
from benchbook.specs import load_spec


@dataclass(frozen=True, slots=True)
class NotRead:
    """The reason why a name gives no values."""

    reason: str


_NO_FIT = NotRead("does not fit the pattern")
_MANY_FITS = NotRead("fits the pattern in more than one way; declare the values of a placeholder")


@dataclass(frozen=True, slots=True)
class _Placeholder:
    name: str
    values: tuple[str, ...] | None  # None: any text without a slash


_Part = str | _Placeholder


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A pattern such as `{target_model}/{question_id}__{prompt_variant}.{ext}`. `{{` and `}}` stand for braces."""

    text: str
    parts: tuple[_Part, ...]

    @classmethod
    def parse(cls, text: str, known: Collection[str], values: Mapping[str, Sequence[str]]) -> NamePattern:
        """Parse a pattern. `known` are the allowed placeholders, `values` the declared values of some of them.

        Raises: ConfigError.
        """
        parts: list[_Part] = []
        try:
            pieces = list(string.Formatter().parse(text))
        except ValueError as error:
            raise ConfigError(
                "pattern", f"{text!r} ({error})", "{name} for a placeholder, {{ and }} for braces"
            ) from None
        for literal, name, spec, conversion in pieces:
            if literal:
                parts.append(literal)
            if name is None:
                continue
            if name not in known or spec or conversion:
                expected = ", ".join(f"{{{each}}}" for each in known)
                raise ConfigError("pattern", f"{{{name}{':' * bool(spec)}{spec}}}", expected)
            parts.append(_Placeholder(name, tuple(values[name]) if name in values else None))
        pattern = cls(text, _joined(parts))
        pattern._check()
        return pattern

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts if isinstance(part, _Placeholder))

    def read(self, name: str) -> dict[str, str] | NotRead:
        """The values of the placeholders in `name`, if the pattern fits it in exactly one way."""
        readings = _readings(self.parts, name)
        first, second = next(readings, None), next(readings, None)
        if first is None:
            return _NO_FIT
        return dict(zip(self.names, first, strict=True)) if second is None else _MANY_FITS

    def _check(self) -> None:
        for name in self.names:
            if self.names.count(name) > 1:
                raise ConfigError("pattern", f"{{{name}}} more than once", "each placeholder once")
        for one, other in pairwise(self.parts):
            free = [part for part in (one, other) if isinstance(part, _Placeholder) and part.values is None]
            if len(free) == 2:
                raise ConfigError("pattern", f"{{{free[0].name}}}{{{free[1].name}}}", "a literal text between them")


def _joined(parts: Sequence[_Part]) -> tuple[_Part, ...]:
    """The parts with adjacent literals, as around `{{`, joined into one."""
    joined: list[_Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _readings(parts: Sequence[_Part], name: str) -> Iterator[list[str]]:
    """Every way to read `name`. Dead ends are tried only once, so that even a name of 255 underscores is quick."""
    dead: set[tuple[int, int]] = set()

    def read_from(at: int, start: int) -> Iterator[list[str]]:
        if at == len(parts):
            if start == len(name):
                yield []
            return
        if (at, start) in dead:
            return
        part, alive = parts[at], False
        for end in _ends(part, name, start):
            for rest in read_from(at + 1, end):
                alive = True
                yield rest if isinstance(part, str) else [name[start:end], *rest]
        if not alive:
            dead.add((at, start))

    return read_from(0, 0)


def _ends(part: _Part, name: str, start: int) -> Iterator[int]:
    if isinstance(part, str):
        if name.startswith(part, start):
            yield start + len(part)
    elif part.values is not None:
        yield from (start + len(value) for value in part.values if name.startswith(value, start))
    else:
        slash = name.find("/", start)
        last = len(name) if slash < 0 else slash
        yield from (end for end in range(start + 1, last + 1) if not name[start:end].isspace())


Key = tuple[str, str, str, str]  # question_id, prompt_variant, target_model, output_id


@dataclass(frozen=True, slots=True)
class Candidate:
    """An output as it was found. `name` is its file's name below the folder; None if a table holds the text."""

    key: Key
    name: str | None
    path: Path | None
    text: str | None
    place: str  # for messages: the file's name, or the table's line


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file below the folder that is not an output of the set, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    candidates: tuple[Candidate, ...]
    others: tuple[OtherFile, ...] = ()


def identifiers() -> tuple[str, ...]:
    """The four names of a sample (P1), in the spec's order."""
    return tuple(load_spec("judge_protocol@v1").settings["reply"]["identifiers"])


def find_in_folder(folder: str | Path, pattern: str, values: Mapping[str, Sequence[str]] | None = None) -> Found:
    """The outputs below `folder`, each named by `pattern` (relative, with `/`).

    Placeholders are the four identifiers and `{ext}`. `values` declares an identifier's possible values; one with a
    single value may be left out of the pattern. Without `{output_id}` the id is the file's name below the folder.
    Links are not followed. Raises: ConfigError for a pattern or values that do not name an output; UsageError.
    """
    folder = Path(folder)
    declared = {name: tuple(given) for name, given in (values or {}).items()}
    reader = NamePattern.parse(pattern, (*identifiers(), "ext"), {"ext": _any_case(ENDINGS), **declared})
    constants = _constants(reader, declared)
    candidates: list[Candidate] = []
    others: list[OtherFile] = []
    for name, fault in walk(folder):
        read = NotRead(fault) if fault else reader.read(name)
        if isinstance(read, NotRead):
            others.append(OtherFile(name, read.reason))
            continue
        known = {"output_id": name, **constants, **read}
        question_id, prompt_variant, target_model, output_id = (known[each] for each in identifiers())
        key = (question_id, prompt_variant, target_model, output_id)
        candidates.append(Candidate(key, name, folder / name, None, name))
    return Found(tuple(candidates), tuple(others))


def _any_case(endings: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(case for ending in endings for case in (ending, ending.upper())))


def _constants(pattern: NamePattern, values: Mapping[str, Sequence[str]]) -> dict[str, str]:
    for name, given in values.items():
        if name not in identifiers():
            raise ConfigError(f"value {name}", name, ", ".join(identifiers()))
        if not all(value.strip() for value in given):
            raise ConfigError(f"value {name}", "an empty value", "a text")
    constants = {}
    for name in identifiers():
        if name in pattern.names or name == "output_id":
            continue
        given = values.get(name, ())
        if len(given) != 1:
            found = f"no {{{name}}} in the pattern and {len(given)} values for it"
            raise ConfigError("pattern", found, f"{{{name}}}, or one value for it")
        constants[name] = given[0]
    return constants


def walk(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield `(name, fault)` for every file below `folder`, in order; `fault` says why it can't be read, or is empty.

    Raises: UsageError if a folder can't be read.
    """

    def stop(error: OSError) -> None:
        raise UsageError(f"{error.filename}: can't be read ({error.strerror})")

    for root, folders, files in os.walk(folder, onerror=stop):
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links)
        for file in sorted((*files, *links)):
            path = Path(root) / file
            yield path.relative_to(folder).as_posix(), _fault_of(path)


def _fault_of(path: Path) -> str:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if path.is_symlink():
        return "a link; links are not followed"
    return "" if path.is_file() else "no regular file"


def find_in_table(path: str | Path, folder: str | Path | None = None) -> Found:
    """The outputs in a JSONL, CSV or Parquet table, one in each row: the four identifiers, and `file` or `text`.

    `file` is a name below `folder`, which is by default the table's own. Raises: InputError naming the line and the
    field; UsageError.
    """
    path = Path(path)
    base = path.parent if folder is None else Path(folder)
    return Found(tuple(_candidate(path, line, row, base) for line, row in read_table(path)))


def _candidate(path: Path, line: int, row: Mapping[str, Any], base: Path) -> Candidate:
    ids = [text_at(path, line, name, row.get(name)) for name in identifiers()]
    key = (ids[0], ids[1], ids[2], ids[3])
    if "file" not in row and "text" not in row:
        raise InputError(path, line=line, field="file", found="no file and no text", expected="one of them")
    file, text = row.get("file"), optional_text_at(path, line, "text", row.get("text"))
    place = f"line {line}"
    if is_missing(file):
        return Candidate(key, None, None, text or "", place)  # an empty CSV cell is an empty output
    if text is not None:
        raise InputError(path, line=line, field="file", found="a file and a text", expected="one of them")
    name = text_at(path, line, "file", file)
    return Candidate(key, name, _inside(path, line, name, base), None, place)


def _inside(path: Path, line: int, name: str, base: Path) -> Path:
    """The file's path, which must be below `base`: a foreign table must not make us send any file to a judge."""
    try:
        wanted = base / name
        if wanted.resolve().is_relative_to(base.resolve()):
            return wanted
    except (OSError, ValueError):  # a NUL, or a loop of links
        pass
    raise InputError(path, line=line, field="file", found=shown(name), expected=f"a name below {base}")
