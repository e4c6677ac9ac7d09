"""Pulls records: into a new folder, which appears whole, or into one that is there, which goes on where it ends.

What comes is held against its hashes before it counts: inputs against their names, each line of a journal against the
one before. Names are taken where they have a form that records know, and nothing else is written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchbook.canonical import decode_json, ready
from benchbook.errors import RecordError, StoreError, TakenError
from benchbook.record.facts import FIRST_PREV
from benchbook.record.folder import Record, fit_for_run
from benchbook.record.journal import lock_journal
from benchbook.record.reading import SHARDS, is_file, read_segment, segment_files, segment_number
from benchbook.record.sets import set_files, set_of
from benchbook.stores.names import INPUTS, JOURNAL, Listing, PutSegment, listed, sealed_name
from benchbook.stores.objects import Objects
from benchbook.stores.parts import last_part_of, segment_of
from benchbook.stores.pushing import MANIFEST, MOST_SET_BYTES
from benchbook.system import SYSTEM
from benchbook.writing import (
    cant_be_written,
    folder_made_whole,
    make_folder,
    sync_folder,
    write_all,
    write_file,
    written_new,
    written_whole,
)

_AT_ONCE = 8  # journals


@dataclass(frozen=True, slots=True)
class _Came:
    """A pull: how many objects were new here, and which journals end here where they end in the store."""

    n_new: int
    level: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pulled:
    """A record that was pulled, how many objects of journals, inputs and sets were new here, and what the store has:
    of the journals that are `level` just what this folder has."""

    record: Record
    n_new: int
    there: Listing
    level: frozenset[str]


def pull_record(objects: Objects, runs: str | Path, run_id: str) -> Pulled:
    """Pull a record, sharded or not, whose objects these are, into a folder of records.

    Where it is there already, it gets what the store has more; what this folder has more stays, and so does what is
    derived of that.
    Raises: StoreError, also for names and bytes that no record has; TakenError where the two have gone apart;
    RecordLockedError where a process writes it; RecordDamagedError; RecordError.
    """
    there = listed(objects.list())
    if not there.journals:
        raise StoreError(f"{objects.address}: there is no record (no object of a journal)")
    target = Path(runs) / run_id
    fit_for_run(target, run_id)
    came = _pull(objects, there, target)
    return Pulled(Record(target), came.n_new, there, came.level)


def pull_shard(objects: Objects, runs: str | Path, run_id: str, number: int) -> bool:
    """Pull one shard of a run, where the store has it, or more of it than this folder; False where nothing came."""
    name = f"{SHARDS}/{number}/journal"
    there = listed(objects.list(name))
    if name not in there.journals:
        return False
    target = Path(runs) / run_id
    fit_for_run(target, run_id)
    there.inputs = listed(objects.list(INPUTS)).inputs
    _check_of_one_kind(objects, there, target)
    return _pull_into(objects, there, target).n_new > 0  # other shards are pulled into the same folder, by others


def _pull(objects: Objects, there: Listing, target: Path) -> _Came:
    """All that is listed, and that the folder lacks."""
    _check_of_one_kind(objects, there, target)
    if target.is_dir():
        return _pull_into(objects, there, target)
    with folder_made_whole(target) as made:
        return _pull_into(objects, there, made)


def _check_of_one_kind(objects: Objects, there: Listing, target: Path) -> None:
    has_one = JOURNAL in there.journals
    if has_one and len(there.journals) > 1:
        raise StoreError(f"{objects.address}: has a journal and shards; a record has one of them")
    if (target / (SHARDS if has_one else JOURNAL)).is_dir():
        raise TakenError(f"{target}: is another record than {objects.address}: one has shards, the other one writer")


def _pull_into(objects: Objects, there: Listing, folder: Path) -> _Came:
    try:
        return _pull_all_into(objects, there, folder)
    except OSError as error:
        what = "what has come is whole. Make room or mend the folder, then pull again"
        raise RecordError(f"{cant_be_written(folder, error)}; {what}") from None


def _pull_all_into(objects: Objects, there: Listing, folder: Path) -> _Came:
    if there.inputs or JOURNAL not in there.journals:  # people's labels have none
        make_folder(folder / INPUTS)
    n_new = sum(_pull_input(objects, folder / INPUTS, sha256) for sha256 in sorted(there.inputs))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        journals = {
            name: pool.submit(_pull_journal, objects, name, segments, folder / name)
            for name, segments in there.journals.items()
        }
        brought = {name: one.result() for name, one in journals.items()}
    n_new += sum(one.n_grown for one in brought.values())
    n_new += sum(_pull_set(objects, folder / name, name) for name in there.sets)
    level = frozenset(name for name, one in brought.items() if one.is_level)
    if len(level) == len(brought) and len(set_files(folder)) == len(there.sets):
        _pull_others(objects, there.others, folder)
    return _Came(n_new, level)


def _pull_others(objects: Objects, sizes: Mapping[str, int], folder: Path) -> None:
    """Signatures, and what was derived; nothing where both have the same manifest, which names all of that."""
    manifest = objects.get(MANIFEST, MOST_SET_BYTES) if MANIFEST in sizes else b""
    here = {name: (folder / name).stat().st_size for name in sizes if is_file(folder / name)}
    if manifest and here == dict(sizes) and (folder / MANIFEST).read_bytes() == manifest:
        return
    for name in sorted(sizes, key=lambda name: (name == MANIFEST, name)):
        make_folder((folder / name).parent)
        with written_whole(folder / name) as file:
            objects.get_to(name, file)


def _pull_input(objects: Objects, folder: Path, sha256: str) -> bool:
    path = folder / sha256
    if path.exists():
        return False
    with written_whole(path) as file:
        found = objects.get_to(f"{INPUTS}/{sha256}", file)
        if found != sha256:
            raise StoreError(f"{objects.address}/{INPUTS}/{sha256}: was changed: its bytes hash to {found}")
    return True


def _pull_set(objects: Objects, path: Path, name: str) -> bool:
    data = objects.get(name, MOST_SET_BYTES)
    set_of(path, data)
    if path.exists():
        if path.read_bytes() != data:
            raise TakenError(f"{path}: is another set than {objects.address}/{name}, which others joined")
        return False
    make_folder(path.parent)
    with written_new(path) as file:
        file.write(data)
    return True


# ── journals ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Brought:
    """A journal that was brought to where the store has it: how many segments grew, and whether both end there."""

    n_grown: int
    is_level: bool


def _pull_journal(objects: Objects, name: str, segments: dict[int, PutSegment], journal: Path) -> _Brought:
    """Bring a journal to where the store has it, if it has more; a new one appears whole."""
    if not journal.is_dir():
        whole = journal.parent if name != JOURNAL else journal  # a shard's folder is its journal's alone
        with folder_made_whole(whole) as made:
            folder = made / journal.relative_to(whole)
            make_folder(folder)
            return _bring(objects, name, segments, folder)
    lock = lock_journal(journal)
    try:
        return _bring(objects, name, segments, journal)
    finally:
        lock.close()


def _bring(objects: Objects, name: str, segments: dict[int, PutSegment], journal: Path) -> _Brought:
    """Append what a journal lacks. Its files are at each moment as its writer would leave them: a plain segment is
    whole before it is sealed, and goes once the segment behind it names the seal."""
    here, number, prev = _end_of(journal)
    n_grown = 0
    if number == max(segments) and segments[number].parts:
        offset, lines = last_part_of(objects, name, number, segments[number])
        if here[offset:].startswith(lines):
            return _Brought(0, offset + len(lines) == len(here))  # nothing has come, as is mostly so
    for current in range(number, max(segments) + 1):
        lines, sealed = segment_of(objects, name, current, segments[current])
        if here.startswith(lines) and current + 1 not in segments:
            return _Brought(n_grown, here == lines)
        if not lines.startswith(here):
            what = "has other lines than this folder: another writer has gone on with it"
            raise TakenError(f"{objects.address}/{name}: {what}; here it is {journal.parent}")
        new, here = lines[len(here) :], b""
        prev = _check_chain(new, prev, f"{objects.address}/{name}/{current:06d}")
        if new:
            _append(journal / f"{current:06d}.jsonl", new)
            n_grown += 1
        if current > number:
            (journal / f"{current - 1:06d}.jsonl").unlink(missing_ok=True)
        if current + 1 in segments:
            if sealed is None:
                raise StoreError(f"{objects.address}/{name}/{sealed_name(current)}: is missing")
            write_file(journal / sealed_name(current), sealed)
    return _Brought(n_grown, n_grown > 0)


def _end_of(journal: Path) -> tuple[bytes, int, str]:
    """The whole lines of the last segment, its number, and the hash of the last line; a torn one is cut off."""
    files = segment_files(journal)
    number, here, prev = 1, b"", FIRST_PREV
    for path in reversed(files):
        data = read_segment(path)
        end = data.rfind(b"\n") + 1
        if path is files[-1]:
            number, here = segment_number(path), data[:end]
            if end < len(data):
                os.truncate(path, end)
        if end:
            return here, number, hashlib.sha256(data[data.rfind(b"\n", 0, end - 1) + 1 : end - 1]).hexdigest()
    return here, number, prev


class _Linked(msgspec.Struct):
    prev: str


_linked = msgspec.json.Decoder(ready(_Linked))


def _check_chain(data: bytes, prev: str, words: str) -> str:
    """Check that each line holds the hash of the one before, and return the last one's. Raises: StoreError."""
    for number, raw in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            found = decode_json(raw, _linked).prev
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StoreError(f"{words}: new line {number} is no fact ({error})") from None
        if found != prev:
            raise StoreError(f"{words}: new line {number} does not hold the hash of the one before: it was changed")
        prev = hashlib.sha256(raw).hexdigest()
    return prev


def _append(path: Path, data: bytes) -> None:
    """Append lines, all of them or none: what the disk did not take is taken back."""
    descriptor = SYSTEM.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        end = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):  # else its next writer cuts off what is torn
                os.ftruncate(descriptor, end)
            raise
    finally:
        os.close(descriptor)
    sync_folder(path.parent)
