"""Set files: each names all shards of a record at one time, and by one hash, its root, the whole record.

    RUN/sets/000001.json    canonical JSON; the newest one counts, and none is ever changed

A file appears whole, under the next number, or not at all: of two that join at once, one is refused, and looks again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import RecordDamagedError
from benchbook.record.merkle import leaf_hash, node_hash, path_of, root_of
from benchbook.text import plural
from benchbook.writing import make_folder, written_new

SETS = "sets"
RULES = "benchbook-set@1"
_NAME = re.compile(r"[0-9]{6}\.json", re.ASCII)


class ShardEnd(msgspec.Struct, frozen=True, kw_only=True):
    """One shard as it was when it was joined: its part of the samples, and where its journal ended."""

    shard: int
    first: int
    end: int  # of its samples, as in `facts.Shard`
    n_facts: int
    n_sample_facts: int  # replies and failures
    sha256: str  # the last fact's hash: it names the chain up to there
    samples_sha256: str  # the root over its samples (`shard_ends.sample_leaf`)

    @property
    def leaf(self) -> bytes:
        return leaf_hash(canonical_json(self))


class SetHead(msgspec.Struct, frozen=True, kw_only=True):
    """All that a root says beside the shards."""

    rules: str
    run_id: str
    plan_sha256: str
    n_samples: int
    n_shards: int

    @property
    def leaf(self) -> bytes:
        return leaf_hash(canonical_json(self))


class RecordSet(msgspec.Struct, frozen=True, kw_only=True):
    """A set file. `root` is the hash over its head and the root over its shards, in the order of their samples.

    `places` are where each journal ended: the number of its last segment, and the bytes of that. They follow from the
    shards, and spare whoever reads a part the reading of all.
    """

    head: SetHead
    shards: tuple[ShardEnd, ...]
    places: tuple[tuple[int, int], ...]
    root: str

    @property
    def n_facts(self) -> int:
        return sum(one.n_facts for one in self.shards)

    def shard_with(self, sample: int) -> int | None:
        """The place of the shard that has a sample; None where none has."""
        place = bisect_right(self.shards, sample, key=lambda one: one.first) - 1
        return place if place >= 0 and sample < self.shards[place].end else None

    def path_of_shard(self, place: int) -> list[bytes]:
        """The proof that the shard at this place is one of the set's."""
        return path_of([one.leaf for one in self.shards], place)


def made_set(head: SetHead, shards: Sequence[ShardEnd], places: Sequence[tuple[int, int]]) -> RecordSet:
    """A set with its root. Shards, and their places, are in the order of their samples."""
    root = root_over(head, root_of(one.leaf for one in shards))
    return RecordSet(head=head, shards=tuple(shards), places=tuple(places), root=root.hex())


def root_over(head: SetHead, shards: bytes) -> bytes:
    """The root of a record, by its head and the root over its shards."""
    return node_hash(head.leaf, shards)


def set_files(run: Path) -> list[Path]:
    """The set files of a record, the oldest first."""
    try:
        return sorted(path for path in (run / SETS).iterdir() if _NAME.fullmatch(path.name))
    except OSError:
        return []


def newest_set(run: Path) -> RecordSet | None:
    """The set that counts; None of shards that were never joined. Raises: RecordDamagedError."""
    files = set_files(run)
    return read_set(files[-1]) if files else None


def read_set(path: Path) -> RecordSet:
    """A set as its file has it. Raises: as `set_of`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordDamagedError(path, None, f"is no set of shards ({error})") from None
    return set_of(path, data)


def set_of(path: Path, data: bytes) -> RecordSet:
    """A set by the bytes of its file, held against its root.

    Raises: RecordDamagedError for what is no set, and for one of which any byte was changed.
    """
    try:
        found: RecordSet = decode_json(data, msgspec.json.Decoder(ready(RecordSet)))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordDamagedError(path, None, f"is no set of shards ({error})") from None
    if found.head.rules != RULES:
        raise RecordDamagedError(path, None, f"was made by the rules {found.head.rules[:40]!r}, and these are {RULES}")
    made = made_set(found.head, found.shards, found.places)
    if made.root != found.root:
        raise RecordDamagedError(path, None, f"was changed: its shards have the root {made.root}, not {found.root}")
    is_whole = len(found.places) == len(found.shards) == found.head.n_shards
    if not is_whole or written(made) != data:
        raise RecordDamagedError(path, None, "was changed: its bytes are not those of a set")
    return found


def written(made: RecordSet) -> bytes:
    """The bytes of a set file."""
    return canonical_json(made) + b"\n"


Claim = Callable[[str, bytes], None]  # takes a set file's name and its bytes; raises FileExistsError


def commit_set(run: Path, made: RecordSet, claim: Claim = lambda *_: None) -> Path:
    """Write a set as the newest, unless the newest says the same; return its file. `claim` is called before, with what
    is going to be written.

    Raises: FileExistsError where another process has written one meanwhile; RecordError.
    """
    files = set_files(run)
    if files and files[-1].read_bytes() == written(made):
        with suppress(FileExistsError), written_new(files[-1]):  # removes the second name that a killed writer left
            pass
        return files[-1]
    folder = run / SETS
    make_folder(folder)
    path = folder / f"{len(files) + 1:06d}.json"
    claim(path.name, written(made))
    with written_new(path) as file:
        file.write(written(made))
    return path


def missing_sets(run: Path) -> list[str]:
    """The names that are lacking among the numbered set files."""
    names = {path.name for path in set_files(run)}
    return [name for number in range(1, len(names) + 1) if (name := f"{number:06d}.json") not in names]


def words_of(found: RecordSet) -> str:
    """`200 shards, 200,000 samples`."""
    return f"{plural(len(found.shards), 'shard')}, {plural(found.head.n_samples, 'sample')}"
