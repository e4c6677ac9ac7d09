"""Copies of records without their texts, which still verify: for eval sets that must stay private.

DIR/redaction.json       which record it is of, what was left out, and the hash of each file here
DIR/journal/, shards/    the journals, each text replaced by its hash (`record.redacted_lines`); sets/ as they are
DIR/derived/             manifest.json, aggregates.json and decision.json as they are; samples.parquet without texts
DIR/inputs/              those that were kept
DIR/signatures/          as they are: what was signed are hashes and numbers, which are here
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.signing import SIGNATURES
from benchbook.evaluators.verify import Verification
from benchbook.record.derived_files import sha256_of
from benchbook.record.folder import Record, ShardRecord, shard_folders
from benchbook.record.packing import packed
from benchbook.record.reading import read_segment, segment_files
from benchbook.record.redacted_lines import redacted
from benchbook.record.sets import SETS
from benchbook.record.tables import read_frames, write_row_groups
from benchbook.writing import folder_made_whole, make_folder, write_file

if TYPE_CHECKING:
    import polars

FILE, LINES, DERIVED = "redaction.json", "lines", "derived"
RULES = "benchbook-redaction@1"
AS_THEY_ARE = ("manifest.json", "aggregates.json", "decision.json")
_SPEC = "spec/"  # an evaluator's own files, which say how it was judged, and nothing of the set
# Texts of samples.parquet that are codes or names, and no one's words. All others are replaced by their hashes.
_KEPT_COLUMNS = frozenset({
    "item_id", "section", "category", "difficulty", "group", "answer_sha256", "answer_format", "score_origin",
    "evaluator_error", "parse_error_reason", "fail_reasons", "miss_reason", "error", "candidate_error", "finish_reason",
    "model_reported", "model_fingerprint", "evaluator_reported", "evaluator_fingerprint", "judge_model", "judge_role",
    "question_id", "prompt_variant", "target_model", "output_id", "verdict", "flags", "method", "text_sha256",
    "prompt_sha256", "request_sha256",
})  # fmt: skip


class Redaction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """redaction.json. `sha256` is the hash, or the root, of the record; `files` the hash of each file here."""

    rules: str
    run_id: str
    sha256: str
    left_out: dict[str, str]  # of the inputs, by their names: their hashes
    files: dict[str, str]


def is_redacted(path: str | Path) -> bool:
    """True for the folder of a redacted copy."""
    return (Path(path) / FILE).is_file()


def read_redaction(path: Path) -> Redaction:
    """Raises: RecordError."""
    try:
        found: Redaction = decode_json((path / FILE).read_bytes(), msgspec.json.Decoder(ready(Redaction)))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"{path / FILE}: can't be read ({error})") from None
    if found.rules != RULES:
        raise RecordError(f"{path / FILE}: was made by the rules {found.rules[:40]!r}, and these are {RULES}")
    return found


def redact(record: Record, verified: Verification, target: Path, keep: Collection[str] = ()) -> Redaction:
    """Write a copy without texts of a record that was verified. `keep` names inputs that are copied all the same.

    Raises: UsageError where the record does not hold, is not complete, or has no such input; RecordError.
    """
    if not verified.holds or verified.state != "complete":
        why = "does not hold; see `benchbook verify`" if not verified.holds else "is not complete"
        raise UsageError(f"{record.path}: {why}: only a whole record is redacted")
    if target.exists():
        raise UsageError(f"{target}: is there already; expected a new folder")
    inputs = record.started().inputs
    if unknown := sorted(set(keep) - set(inputs)):
        raise UsageError(f"--keep {unknown[0]}: the record has no such input; expected {', '.join(inputs)}")
    kept = {name for name in inputs if name in keep or name.startswith(_SPEC)}
    with folder_made_whole(target) as made:
        _write_journals(record, made / LINES)
        _write_derived(record, made / DERIVED)
        make_folder(made / "inputs")
        for sha256 in {inputs[name] for name in kept}:
            write_file(made / "inputs" / sha256, record.read_input(sha256))
        if (record.path / SIGNATURES / verified.sha256).is_dir():
            shutil.copytree(record.path / SIGNATURES / verified.sha256, made / SIGNATURES / verified.sha256)
        redaction = Redaction(
            rules=RULES,
            run_id=record.started().run_id,
            sha256=verified.sha256,
            left_out={name: sha256 for name, sha256 in inputs.items() if sha256 not in {inputs[one] for one in kept}},
            files={name: sha256_of(made / name) for name in files_in(made)},
        )
        write_file(made / FILE, canonical_json(redaction) + b"\n")
    return redaction


def files_in(folder: Path) -> list[str]:
    """All files of a redacted copy but its own, and signatures, which may be added later."""
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())
    return [name for name in names if name != FILE and not name.startswith(f"{SIGNATURES}/")]


def _write_journals(record: Record, target: Path) -> None:
    for journal in _journals(record):
        folder = target / journal.relative_to(record.path)
        make_folder(folder)
        for path in segment_files(journal):
            lines = b"".join(redacted(raw) + b"\n" for raw in read_segment(path).split(b"\n")[:-1])
            write_file(folder / path.name, packed(lines) if path.suffix == ".zst" else lines)
    if record.is_sharded:
        shutil.copytree(record.path / SETS, target / SETS)


def _journals(record: Record) -> Iterator[Path]:
    if not record.is_sharded:
        yield record.journal
        return
    for path in shard_folders(record.path):
        yield ShardRecord(path).journal


def _write_derived(record: Record, folder: Path) -> None:
    make_folder(folder)
    for name in AS_THEY_ARE:
        shutil.copyfile(record.path / name, folder / name)
    frames = map(without_texts, read_frames(record.samples))
    first = next(frames)
    write_row_groups(folder / "samples.parquet", first.schema, chain((first,), frames))


def without_texts(frame: polars.DataFrame) -> polars.DataFrame:
    """The same rows; of texts that are nobody's codes, the SHA-256, and of lists and structs, what has no text."""
    import polars as pl

    columns: list[pl.Expr] = []
    for name, kind in frame.schema.items():
        if name in _KEPT_COLUMNS or not _has_texts(kind):
            columns.append(pl.col(name))
        elif kind == pl.String:
            hashed = [None if text is None else _sha256_of_text(text) for text in frame[name].to_list()]
            columns.append(pl.lit(pl.Series(name, hashed, pl.String)).alias(name))
    return frame.select(columns)


def _sha256_of_text(text: str) -> str:
    return sha256_of(text.encode("utf-8"))


def _has_texts(kind: Any) -> bool:
    import polars as pl

    if isinstance(kind, pl.List):
        return _has_texts(kind.inner)
    if isinstance(kind, pl.Struct):
        return any(_has_texts(field.dtype) for field in kind.fields)
    return bool(kind == pl.String)
