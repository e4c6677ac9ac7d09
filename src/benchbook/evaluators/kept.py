"""A record's own copies of what it was begun with: the eval set, as it was read, and a user's own spec.

The record needs nothing else: the file and the folder may be gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchbook.canonical import ready
from benchbook.errors import RecordError
from benchbook.evalsets import EvalSet, Item, open_evalset
from benchbook.evalsets.opening import recorded_lines
from benchbook.evalsets.set_contents import SetContents, doubtful, lacking, unread
from benchbook.evalsets.set_parts import SetPart
from benchbook.evaluators.candidate import candidate_plan_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record, input_changed
from benchbook.specs.folders import SPEC_FILE, Named, sha256_of_files
from benchbook.text import quoted, sentence


def set_identity(evalset: EvalSet) -> dict[str, Any]:
    """The entries about the eval set in a record's first fact."""
    known: dict[str, Any] = {"dataset_id": evalset.name, "grouped": evalset.grouped}
    if evalset.form != "jsonl":
        known["evalset_form"] = evalset.form
    if evalset.contents is not None:
        known["evalset_contents"] = msgspec.to_builtins(evalset.contents)
    return known


def recorded_evalset(
    record: Record, started: RunStarted, *, needs_expected_answer: bool = False, keeps_fields: bool = False
) -> EvalSet:
    """The items that a record is about, read from its own copy.

    Raises: RecordError where that is not what the record was begun with; InputError where it can't be read; UsageError.
    """
    path = record.input(started.inputs["evalset"])
    opened = open_evalset(
        path,
        form=started.identity.get("evalset_form", "jsonl"),
        needs_expected_answer=needs_expected_answer,
        is_recorded=True,
        keeps_fields=keeps_fields,
        sha256=path.name if path.name in record.held_inputs else None,
    )
    return _as_recorded(opened, path, started)


def recorded_items(record: Record, started: RunStarted) -> EvalSet:
    """The same for who asks for a few items: JSON lines are read and checked when they are asked for.

    Raises: as `recorded_evalset`, and InputError where an item is asked for that can't be read.
    """
    path = record.input(started.inputs["evalset"])
    if started.identity.get("evalset_form", "jsonl") != "jsonl":
        return recorded_evalset(record, started)
    opened = recorded_lines(path)
    return _as_recorded(opened, path, started) if len(opened) else recorded_evalset(record, started)


def _as_recorded(opened: EvalSet, path: Path, started: RunStarted) -> EvalSet:
    """The items that were asked, of a set that is the one with which the record was begun."""
    if opened.sha256 != path.name:
        opened.close()
        raise input_changed(path, opened.sha256)
    part = candidate_plan_of(started).part
    return opened.part(part.ranges) if isinstance(part, SetPart) else opened


def items_of(record: Record, samples: Collection[int]) -> Iterator[tuple[int, Item]]:
    """`(sample, item)` for each of these samples, one item at a time.

    Raises: InputError where the record's eval set can't be read; RecordError.
    """
    if not samples:
        return
    with recorded_evalset(record, record.started()) as evalset:
        for sample in sorted(samples):
            yield sample, evalset[sample % len(evalset)]


def words_of_set(
    part: SetPart | msgspec.UnsetType, contents: SetContents | None, *, judge_sees: Collection[str]
) -> tuple[list[str], list[str]]:
    """Sentences to stand before anything else (a part that was asked, columns that nobody reads though a field of ours
    is lacking, references that judges will not see), and others that may come after it (contexts that they will not
    see, doubtful prompts).

    `judge_sees` are the fields of an item that a judge is shown; none where nobody judges.
    """
    words = [] if part is msgspec.UNSET else [_part_words(part)]
    if contents is None:
        return words, []
    first, later = [reason for _, reason in unread(contents)], list(doubtful(contents))
    if (unseen := lacking(contents, judge_sees)) is not None:
        # Contexts alone are lacking in many a set, and by no mistake.
        if contents.fields["expected_answer"]:
            later.insert(0, unseen)
        else:
            first.append(unseen)
    return [*words, *map(sentence, first)], [*map(sentence, later)]


def set_warnings(started: RunStarted, *, judge_sees: Collection[str]) -> tuple[list[str], list[str]]:
    """The same by a record's first fact; nothing where it does not say."""
    noted = started.identity.get("evalset_contents")
    contents = None if noted is None else msgspec.convert(noted, ready(SetContents))
    return words_of_set(candidate_plan_of(started).part, contents, judge_sees=judge_sees)


def _part_words(part: SetPart) -> str:
    """A sentence for readers of the numbers of a part."""
    return f"Only a part of the eval set was asked, {part.words}. It is no benchmark, and no run of the whole set."


_Own = TypeVar("_Own", bound=Named)
_KEPT = "spec/"  # before the names of a spec's files, among a record's inputs


def spec_inputs(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """A spec's files, as they were read, by the names that a record has for them among its inputs."""
    return {f"{_KEPT}{name}": data for name, data in files.items()}


def _kept_hashes(started: RunStarted) -> dict[str, str]:
    """The hashes of a spec's files that a record keeps, by their names; `verify` checks that they have still those
    bytes."""
    return {name[len(_KEPT) :]: one for name, one in started.inputs.items() if name.startswith(_KEPT)}


def kept_sha256(started: RunStarted) -> str:
    """The hash that names a spec's files together, by those that the first fact names."""
    return sha256_of_files(_kept_hashes(started))


def _kept_files(record: Record, started: RunStarted) -> tuple[dict[str, bytes], Path]:
    """The files by their names, and where the record has spec.toml. Raises: RecordError where one is not there."""
    hashes = _kept_hashes(started)
    if SPEC_FILE not in hashes:
        raise RecordError(f"{record.path}: its inputs have no {SPEC_FILE} of {started.spec[:80]!r}")
    for name in hashes:
        if name != Path(name).name or not name.isprintable():  # an archive has these files by their names
            raise RecordError(f"{record.path}: its spec's files: found {quoted(name)}; expected a file's name")
    files = {name: record.read_input(sha256) for name, sha256 in hashes.items()}
    return files, record.input(hashes[SPEC_FILE])


def kept_own(record: Record, started: RunStarted, read: Callable[[dict[str, bytes], Path, str], _Own]) -> _Own:
    """A user's own spec, as `read` reads it from the files that the record keeps, the path of spec.toml, and the hash
    that names these files together.

    Raises: RecordError where one is not there, or is another spec than the record was made under; what `read` raises.
    """
    files, path = _kept_files(record, started)
    own = read(files, path, kept_sha256(started))
    if own.id != started.spec:
        raise RecordError(f"{record.path}: was made under {started.spec[:80]!r}, and keeps the spec of {own.id!r}")
    return own
