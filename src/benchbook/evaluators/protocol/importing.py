"""Judgements from any number of sources: bundles, folders of replies, tables of replies."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.errors import InputError, UsageError
from benchbook.evalsets.lines import read_lines
from benchbook.evalsets.output_set_sources import NamePattern, NotRead, OtherFile, identifiers, walk
from benchbook.evalsets.output_sets import Output, OutputSet, read_output_set
from benchbook.evalsets.table_columns import is_missing, shown, text_at
from benchbook.evalsets.tables import read_table, table_form, without_nonfinite
from benchbook.evaluators.evidence_text import NormalisedText
from benchbook.evaluators.protocol.folders import ProtocolFolder, protocol_asked_for
from benchbook.evaluators.protocol.import_bundles import read_bundle
from benchbook.evaluators.protocol.import_mapping import (
    NAMED_BY,
    JudgementMapping,
    NoOutput,
    OutputIndex,
    check_declared,
    load_mapping,
    need,
    reply_placeholders,
)
from benchbook.evaluators.protocol.imported import ImportedJudgement, member_slice
from benchbook.evaluators.protocol.spec import SPEC_ID, Protocol, form, protocol_v1
from benchbook.evaluators.protocol.validity import Options, validate
from benchbook.writing import written_new

MAX_REPLY_BYTES = 16 << 20


def find_reply_files(
    folder: str | Path, pattern: str, declared: Mapping[str, str] | None = None
) -> tuple[list[tuple[str, dict[str, str]]], list[OtherFile]]:
    """`(name, what it says)` for each file below `folder` that the pattern reads, and the files that it does not.

    Placeholders are `{judge_model}`, `{method}` and the four identifiers; what is `declared` holds for all files.
    Raises: ConfigError; UsageError where the folder can't be read.
    """
    check_declared(declared or {})
    reader = NamePattern.parse(pattern, reply_placeholders(), {"method": form().methods})
    read: list[tuple[str, dict[str, str]]] = []
    others: list[OtherFile] = []
    for name, fault in walk(Path(folder)):
        found = NotRead(fault) if fault else reader.read(name)
        if isinstance(found, NotRead):
            others.append(OtherFile(name, found.reason))
        else:
            read.append((name, {**(declared or {}), **found}))
    return read, others


def read_reply_file(folder: str | Path, name: str, known: Mapping[str, str], outputs: OutputIndex) -> ImportedJudgement:
    """The reply that is a file's whole content, as it stands: what is no UTF-8 or no JSON is the judge's fault.

    Raises: InputError for a file that is too large or names no judge; UsageError for one that can't be read.
    """
    path = Path(folder) / name
    try:
        with path.open("rb") as file:
            data = file.read(MAX_REPLY_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    if len(data) > MAX_REPLY_BYTES:
        raise InputError(path, found=f"over {MAX_REPLY_BYTES} bytes", expected="one reply")
    judge, method = need(known, path)
    reply = data.decode("utf-8", "surrogateescape")  # a byte that is no UTF-8 stays to be seen, and is no strict JSON
    about, remarks = _about({field: known[field] for field in identifiers() if field in known}, outputs)
    return ImportedJudgement(
        source=str(path),
        source_sha256=hashlib.sha256(data).hexdigest(),
        place="",
        **about,
        judge_model=judge,
        method=method,
        reply=reply,
        remarks=remarks,
    )


def read_reply_table(
    path: str | Path, outputs: OutputIndex, declared: Mapping[str, str] | None = None
) -> Iterator[ImportedJudgement]:
    """Replies in the rows of a JSONL, CSV or Parquet table, in its order.

    Columns: `reply` (a text, or the object that it is, taken as it stands in its line), `judge_model`, `method`, and of
    the four identifiers, `file` and `file_name` as many as name one output; what is `declared` stands for columns that
    are not there.

    Raises: ConfigError; InputError naming the line and field; UsageError.
    """
    path = Path(path)
    check_declared(declared or {})
    source_sha256 = _file_sha256(path)
    objects = _Objects(path)
    for line, row in read_table(path):
        known = {**(declared or {}), **_texts(path, line, row)}
        judge, method = need(known, path, line)
        about, remarks = _about({field: known[field] for field in NAMED_BY if field in known}, outputs)
        yield ImportedJudgement(
            source=str(path),
            source_sha256=source_sha256,
            place=f"line {line}",
            **about,
            judge_model=judge,
            method=method,
            reply=_reply(path, line, row, objects),
            remarks=remarks,
        )


def _about(known: Mapping[str, str], outputs: OutputIndex) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """The four identifiers of the output that is meant, and what is wrong where there is none."""
    found = outputs.find(known)
    if isinstance(found, NoOutput):
        return dict.fromkeys(identifiers()), (found.reason,)
    return {**found.cell}, ()


def _texts(path: Path, line: int, row: Mapping[str, Any]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name in ("judge_model", "method", *NAMED_BY):
        if not is_missing(value := row.get(name)):
            texts[name] = text_at(path, line, name, value)
    return texts


class _Objects:
    """The bytes of the replies in a JSONL table that are objects; lines are asked for in their order."""

    def __init__(self, path: Path) -> None:
        self._lines = read_lines(path) if table_form(path) == "jsonl" else None

    def text(self, line: int, value: dict[str, Any]) -> str:
        """The text of an object. In Parquet a column of structs has no bytes of its own: it becomes canonical JSON."""
        if self._lines is None:
            return canonical_json(value).decode("utf-8")
        data = next((one.data for one in self._lines if one.number == line), None)
        return member_slice(data or b"", "reply").decode("utf-8")


def _reply(path: Path, line: int, row: Mapping[str, Any], objects: _Objects) -> str:
    if "reply" not in row:
        raise InputError(path, line=line, field="reply", found="nothing", expected="the judge's text")
    reply = row["reply"]
    match None if is_missing(reply) else without_nonfinite(reply):
        case None:
            return ""  # nothing came, or an empty CSV cell: an empty reply
        case str() as text:
            return text
        case dict() as value:
            return objects.text(line, value)
        case other:
            raise InputError(path, line=line, field="reply", found=shown(other), expected="a text, or an object")


def _file_sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None


@dataclass(frozen=True, slots=True)
class How:
    """How sources are read: by a `mapping` bundles, by a `pattern` folders of raw replies, else tables of replies.

    `declared` is what the caller says of all judgements: `judge_model`, `method`, identifiers.
    """

    mapping: JudgementMapping | None = None
    pattern: str | None = None
    declared: Mapping[str, str] = field(default_factory=dict)
    protocol: Protocol = field(default_factory=protocol_v1)


@dataclass(frozen=True, slots=True)
class ImportedSource:
    """One source's judgements. `others` are the files in a folder that its pattern did not read."""

    name: str
    judgements: tuple[ImportedJudgement, ...]
    others: tuple[OtherFile, ...] = ()


def import_source(source: str, outputs: OutputIndex, how: How) -> ImportedSource:
    """All judgements of one source. Raises: InputError, ConfigError, UsageError, as its reader does."""
    if how.mapping is not None:
        return ImportedSource(source, tuple(read_bundle(source, how.mapping, how.protocol, outputs, how.declared)))
    if how.pattern is None:
        return ImportedSource(source, tuple(read_reply_table(source, outputs, how.declared)))
    files, others = find_reply_files(source, how.pattern, how.declared)
    judgements = tuple(read_reply_file(source, name, known, outputs) for name, known in files)
    return ImportedSource(source, judgements, tuple(others))


@dataclass(frozen=True, slots=True)
class Imported:
    """The judgements of all sources about an evaluation set, read under a protocol."""

    output_set: OutputSet
    spec: ProtocolFolder
    mapping_sha256: str | None
    sources: tuple[ImportedSource, ...]

    @property
    def judgements(self) -> Iterator[ImportedJudgement]:
        """The judgements of all sources, in their order."""
        return (judgement for source in self.sources for judgement in source.judgements)

    def counts(self) -> list[dict[str, Any]]:
        """How many judgements and quotes each source has, by where the quotes were found (SPEC P4.1)."""
        # Judgements that come close together are mostly of the same texts.
        text_of = lru_cache(_KEPT_TEXTS)(lambda output: NormalisedText(self.output_set.text(output)))
        return [self._counts_of(source, text_of) for source in self.sources]

    def _counts_of(self, source: ImportedSource, text_of: Callable[[Output], NormalisedText]) -> dict[str, Any]:
        located: Counter[str | None] = Counter()
        options = Options(protocol=self.spec.protocol)
        n_no_text = 0
        for judgement in source.judgements:
            if judgement.key is None:
                continue
            output = self.output_set.by_key[judgement.key]
            if output.error is not None:
                n_no_text += 1
                continue
            found = validate(judgement.reply, output_text=text_of(output), asked=judgement.asked, options=options)
            located.update(found.located)
        return {
            "source": source.name,
            "n_judgements": len(source.judgements),
            "n_no_output": sum(judgement.key is None for judgement in source.judgements),
            "n_no_text": n_no_text,
            "n_quotes": located.total() - located[None],
            **{place: located[place] for place in PLACES},
            "n_not_read": len(source.others),
        }


PLACES = ("exact", "normalised", "fragments", "not_found", "empty")  # of quotes, as they are reported
_KEPT_TEXTS = 256


def import_sources(
    sources: Iterable[str],
    set_folder: str,
    spec: str | None = None,
    *,
    mapping: str | None = None,
    pattern: str | None = None,
    declared: Mapping[str, str] | None = None,
) -> Imported:
    """Reads sources of judgements about the set in a folder, by the files that `How` names.

    Raises: InputError, ConfigError, UsageError.
    """
    output_set = read_output_set(set_folder)
    asked_for = protocol_asked_for(spec or SPEC_ID)
    bundles = load_mapping(mapping, asked_for.protocol) if mapping else None
    how = How(bundles, pattern, declared or {}, asked_for.protocol)
    index = OutputIndex(output_set.outputs)
    read = tuple(import_source(source, index, how) for source in sources)
    return Imported(output_set, asked_for, None if bundles is None else bundles.sha256, read)


def write_judgements(path: str | Path, judgements: Iterable[ImportedJudgement]) -> None:
    """Write a line for each, canonical JSON; no file is overwritten. Raises: UsageError."""
    path = Path(path)
    try:
        with written_new(path, refuse=UsageError) as file:
            file.writelines(_lines(judgements))
    except FileExistsError:
        raise UsageError(f"{path}: is there already; name a new file") from None


def _lines(judgements: Iterable[ImportedJudgement]) -> Iterator[bytes]:
    for judgement in judgements:
        yield canonical_json(judgement) + b"\n"
