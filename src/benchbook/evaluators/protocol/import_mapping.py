"""The declared mapping from bundles of another shape to the protocol's replies (SPEC P6).

name = "prompt-drift-lab"
version = 1
entries = "per_file_scores"         where in a bundle the list of judgements is; names joined by dots

[[file_names]]                      what a bundle's file name tells; the first that fits
pattern = "judge_{judge_model}_bundle_{target_model}.json"
method = "cross_judge"

[bundle]                            where these stand in the bundle as a whole
judge_model, target_model, method, flags, timestamp = "meta.judge_model", ...

[output]                            what names the output, in an entry
at = ["file", "file_name"]          the first that is there
match = "file"                      what it is held against: file, or output_id
folder = "drop"                     only the last part of a name counts; or "keep"
replace = {" " = "_"}

[scores]
at = "scores"
ignore = ["total"]                  what stands among the scores and is none
combine = "min"                     where several of the bundle's dimensions make one; or "max"

[dimensions]                        the bundle's dimension -> one of the protocol's, or "" to leave it out
A_structure = "FORMAT_COMPLIANCE"

[evidence]                          strings, or objects with these keys, by dimension or in a list
at, dimension, quote, reason = "evidence", "dimension", "quote", "reason"

[entry]                             where these stand in an entry
overall_score, verdict, flags, notes, timestamp = ...

[models]                            the bundle's names of models -> the evaluation set's
gemini = "google_gemini-3-pro"
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evalsets.output_set_sources import NamePattern, NotRead, identifiers
from benchbook.evalsets.output_sets import Output
from benchbook.evaluators.protocol.spec import Method, Protocol, form
from benchbook.specs.faults import NoTomlError, toml_values
from benchbook.text import shorten


def reply_placeholders() -> tuple[str, ...]:
    """The placeholders of a pattern for replies and bundles."""
    return ("judge_model", "method", *identifiers())


def check_declared(values: Mapping[str, str]) -> None:
    """Check the values that a caller declares for all judgements. Raises: ConfigError."""
    for name, value in values.items():
        if name not in reply_placeholders():
            raise ConfigError(f"value {name}", name, ", ".join(reply_placeholders()))
        if not value.strip():
            raise ConfigError(f"value {name}", "an empty value", "a text")
    if values.get("method", "cross_judge") not in form().methods:
        raise ConfigError("value method", repr(values["method"]), " or ".join(form().methods))


def need(known: Mapping[str, str | None], path: str | Path, line: int | None = None) -> tuple[str, str]:
    """`(judge_model, method)`. Raises: InputError where nothing says who judged, or how."""
    judge, method = known.get("judge_model"), known.get("method")
    if not judge:
        raise InputError(path, line=line, field="judge_model", found="nothing that says who judged", expected="a model")
    if method not in form().methods:
        found = repr(method) if method else "nothing"
        raise InputError(path, line=line, field="method", found=found, expected=" or ".join(form().methods))
    return judge, method


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file. A name with a typing error in it must not be passed over."""


class FileNameRule(_Part, frozen=True):
    pattern: str
    method: Method | None = None


class BundlePaths(_Part, frozen=True):
    judge_model: str | None = None
    target_model: str | None = None
    method: str | None = None
    flags: str | None = None
    timestamp: str | None = None


class EntryPaths(_Part, frozen=True):
    overall_score: str | None = None
    verdict: str | None = None
    flags: str | None = None
    notes: str | None = None
    timestamp: str | None = None


class OutputName(_Part, frozen=True):
    at: tuple[str, ...]
    match: Literal["file", "output_id"] = "file"
    folder: Literal["keep", "drop"] = "keep"
    replace: dict[str, str] = {}

    def known(self, name: str) -> dict[str, str]:
        """The identifiers in a bundle's name for an output."""
        for old, new in self.replace.items():
            name = name.replace(old, new)
        if self.folder == "keep":
            return {self.match: name}
        return {"file_name" if self.match == "file" else self.match: name.rsplit("/", 1)[-1]}


class ScoreRule(_Part, frozen=True):
    at: str
    ignore: tuple[str, ...] = ()
    combine: Literal["min", "max"] = "min"


class EvidenceRule(_Part, frozen=True):
    at: str
    dimension: str = "dimension"
    quote: str = "quote"
    reason: str = "reason"


class JudgementMapping(_Part, frozen=True, dict=True):  # dict: for what is computed once
    """A mapping, read and checked; the module's docstring says what each part is for."""

    name: str
    version: int
    entries: str
    output: OutputName
    scores: ScoreRule
    dimensions: dict[str, str]
    evidence: EvidenceRule
    file_names: tuple[FileNameRule, ...] = ()
    bundle: BundlePaths = BundlePaths()
    entry: EntryPaths = EntryPaths()
    models: dict[str, str] = {}

    @cached_property
    def canonical(self) -> bytes:
        """The mapping as it is recorded: all that it says, without comments and order."""
        return canonical_json(self)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.canonical).hexdigest()

    def model(self, name: str) -> str:
        """The set's name of a model that the bundle calls `name`."""
        return self.models.get(name, name)

    def dimension(self, name: str) -> str:
        """The protocol's dimension; empty where it is left out. A name in no table is kept, to be found faulty."""
        return self.dimensions.get(name, name)

    def read_file_name(self, name: str) -> dict[str, str]:
        """`judge_model`, `target_model`, identifiers and `method`, as far as a bundle's file name tells them."""
        for rule in self.file_names:
            read = NamePattern.parse(rule.pattern, reply_placeholders(), {}).read(name)
            if not isinstance(read, NotRead):
                return {**read, "method": rule.method} if rule.method else dict(read)
        return {}


def load_mapping(path: str | Path, protocol: Protocol) -> JudgementMapping:
    """Read and check a mapping to a protocol's dimensions.

    Raises: ConfigError naming the setting; UsageError where it can't be read.
    """
    path = Path(path)
    try:
        mapping = msgspec.convert(toml_values(path.read_text("utf-8-sig")), ready(JudgementMapping))
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    except NoTomlError as error:
        raise InputError(path, found=error.found, expected=error.expected) from None
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}") from None
    for ours, theirs in mapping.dimensions.items():
        if theirs and theirs not in protocol.names:
            raise ConfigError(
                f"{path}: dimensions.{ours}", repr(theirs), f"{', '.join(protocol.names)}, or an empty text"
            )
    for rule in mapping.file_names:
        NamePattern.parse(rule.pattern, reply_placeholders(), {})
    return mapping


NAMED_BY = ("question_id", "prompt_variant", "target_model", "output_id", "file", "file_name")


class NoOutput(NamedTuple):
    reason: str


_Values = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class OutputIndex:
    """Looks outputs up by any of `NAMED_BY`; `file_name` is the last part of `file`."""

    outputs: Sequence[Output]
    _tables: dict[tuple[str, ...], dict[_Values, list[Output]]] = field(default_factory=dict)

    def find(self, known: Mapping[str, str]) -> Output | NoOutput:
        """The one output of which all that is `known` is true."""
        names = tuple(sorted(known))
        found = self._table(names).get(tuple(known[name] for name in names), [])
        if len(found) == 1:
            return found[0]
        said = ", ".join(f"{name} '{shorten(known[name][:200], 60)}'" for name in names)
        return NoOutput(f"{len(found) or 'no'} output{'s' * bool(found)} of the set with {said or 'no name'}")

    def _table(self, names: tuple[str, ...]) -> dict[_Values, list[Output]]:
        if names not in self._tables:
            table: dict[_Values, list[Output]] = defaultdict(list)
            for output in self.outputs:
                table[tuple(_value(output, name) for name in names)].append(output)
            self._tables[names] = dict(table)
        return self._tables[names]


def _value(output: Output, name: str) -> str | None:
    if name == "file":
        return output.file
    if name == "file_name":
        return output.file and output.file.rsplit("/", 1)[-1]
    return output.cell[name]
