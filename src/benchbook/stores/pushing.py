"""Pushes records: what was read first, then journals, then what was joined of them, and at last what follows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import TakenError
from benchbook.record.folder import Record, ShardRecord, is_left_behind, shard_folders
from benchbook.record.reading import is_file, is_sha256
from benchbook.record.sets import SETS, set_files
from benchbook.stores.names import INPUTS, JOURNAL, Listing, is_other, listed
from benchbook.stores.objects import Objects
from benchbook.stores.parts import JournalPusher

MANIFEST, SIGNATURES = "manifest.json", "signatures"
MOST_SET_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Pushed:
    """A push: where it went, and how many objects were put, of which so many are parts of journals."""

    address: str
    n_objects: int
    n_parts: int


def push_record(objects: Objects, record: Record) -> Pushed:
    """Push a whole record, sharded or not, to the objects of its run. What is there already is not put again.

    Raises: TakenError where the store has another record of this name, or a set that others joined meanwhile;
    RecordError; StoreError.
    """
    there = listed(objects.list())
    n_inputs, n_parts = push_facts(objects, record, there)
    return Pushed(str(objects.address), n_inputs + n_parts + push_what_follows(objects, record, there), n_parts)


def push_facts(
    objects: Objects, record: Record, there: Listing, level: Collection[str] = frozenset()
) -> tuple[int, int]:
    """Push inputs and journals; return how many inputs, and how many parts. Of journals that are `level` all is there.

    Raises: as `push_record`.
    """
    n_inputs, n_parts = _push_inputs(objects, record.inputs, there.inputs), 0
    for journal in _journals(record):
        name = journal.relative_to(record.path).as_posix()
        if name not in level:
            pusher = JournalPusher(objects, name, journal, there.journals.get(name, {}))
            pusher.push()
            n_parts += pusher.n_put
    return n_inputs, n_parts


def push_what_follows(objects: Objects, record: Record, there: Listing) -> int:
    """Push what was joined and derived of facts that are there; return how many objects. Raises: as `push_record`."""
    n_sets = sum(push_once(objects, f"{SETS}/{path.name}", path.read_bytes()) for path in _new_sets(record, there))
    return n_sets + _push_others(objects, record, there)


def shard_pusher(objects: Objects, record: ShardRecord) -> JournalPusher:
    """A pusher of a shard, to be used again and again, to the objects of its run. Its inputs are there then.

    Raises: StoreError.
    """
    name = record.journal.relative_to(record.run).as_posix()
    _push_inputs(objects, record.inputs, listed(objects.list(INPUTS)).inputs)
    return JournalPusher(objects, name, record.journal, listed(objects.list(name)).journals.get(name, {}))


def _journals(record: Record) -> list[Path]:
    return [one / JOURNAL for one in (shard_folders(record.path) if record.is_sharded else (record.path,))]


def _push_inputs(objects: Objects, folder: Path, there: set[str]) -> int:
    """Push inputs that are not there. Under its hash, whoever puts one puts the same."""
    found = folder.iterdir() if folder.is_dir() else ()  # people's labels have none
    lacking = sorted(path for path in found if is_sha256(path.name) and path.name not in there)
    for path in lacking:
        objects.put(f"{INPUTS}/{path.name}", path)
    return len(lacking)


def _new_sets(record: Record, there: Listing) -> Iterator[Path]:
    """The set files that the store lacks, and the last one that it has, which must be the same."""
    files = set_files(record.path)
    yield from files[max(min(len(there.sets), len(files)) - 1, 0) :]


def push_once(objects: Objects, name: str, data: bytes) -> bool:
    """Create an object; False where the same is there. Raises: TakenError where another is."""
    if objects.put_new(name, data):
        return True
    if objects.get(name, MOST_SET_BYTES) != data:
        raise TakenError(f"{objects.address}/{name}: another process has put one meanwhile; pull, and join again")
    return False


def _push_others(objects: Objects, record: Record, there: Listing) -> int:
    """Push signatures, and what was derived, the manifest at last: where the store has the same one, all else is there
    as it names it. Who derives last is seen."""
    files = dict(_others(record))
    signatures = [name for name in files if name.startswith(f"{SIGNATURES}/") and name not in there.others]
    derived = [name for name in files if not name.startswith(f"{SIGNATURES}/")]
    manifest = files.get(MANIFEST)
    if manifest is not None and MANIFEST in there.others:
        is_same = objects.get(MANIFEST, MOST_SET_BYTES) == manifest.read_bytes()
        if is_same and all(there.others.get(name) == files[name].stat().st_size for name in derived):
            derived = []
    for name in sorted(derived, key=lambda name: (name == MANIFEST, name)):
        objects.put(name, files[name])
    for name in signatures:
        objects.put(name, files[name])
    return len(derived) + len(signatures)


def _others(record: Record) -> Iterator[tuple[str, Path]]:
    for path in sorted(record.path.rglob("*")):
        name = path.relative_to(record.path).as_posix()
        if is_other(name) and is_file(path) and not any(map(is_left_behind, path.relative_to(record.path).parts)):
            yield name, path
