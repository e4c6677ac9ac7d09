"""Proofs that a sample's facts are in a record: held against its root alone, without any other sample."""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import InputError, RecordDamagedError, UsageError
from benchbook.record.blocks import CallLines
from benchbook.record.folder import Record
from benchbook.record.merkle import HASH_BYTES, path_of, root_by_path
from benchbook.record.reading import SHARDS, JournalLine, is_sha256
from benchbook.record.sets import SetHead, ShardEnd, newest_set, root_over
from benchbook.record.shard_ends import ShardReader, sample_leaf
from benchbook.record.state import samples_of
from benchbook.text import quoted

RULES = "benchbook-proof@1"


class SampleProof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proof. Hashes that follow each other are in Base64, 32 bytes each."""

    rules: str
    head: SetHead
    root: str  # of the record, by which it was made; whoever holds it has the root from elsewhere
    sample: int
    facts: str  # the hashes of the lines about the sample, in their order
    path: str  # from its leaf to the root over its shard's samples
    shard: ShardEnd
    place: int  # of the shard, in the order of their samples
    shard_path: str  # from the shard's leaf to the root over the shards


@dataclass(frozen=True, slots=True)
class Proved:
    """A proof, and the lines that it is about, as the journal has them."""

    proof: SampleProof
    lines: bytes


def prove(record: Record, sample: int) -> Proved:
    """Make the proof of a sample. Its shard's journal is read, its chain checked, and no other.

    Raises: UsageError for a record that was not joined, and for a sample that it does not have; RecordDamagedError
    where the shard is not what was joined.
    """
    found = newest_set(record.path) if record.is_sharded else None
    if found is None:
        raise UsageError(f"{record.path}: only records that were joined have a root over their samples")
    place = found.shard_with(sample)
    if place is None:
        raise UsageError(f"{record.path}: sample {sample} is in no shard; samples are numbered from 0")
    end = found.shards[place]
    about = _LinesAbout(sample)
    reader = ShardReader(record.path / SHARDS / str(end.shard) / "journal", end.shard).read(end, about)
    if reader.end() != end:
        raise RecordDamagedError(reader.journal, None, "is not what was joined")
    hashes = [hashlib.sha256(raw[:-1]).digest() for raw in about.raws]
    proof = SampleProof(
        rules=RULES,
        head=found.head,
        root=found.root,
        sample=sample,
        facts=_packed(hashes),
        path=_packed(path_of(list(reader.leaves()), sample - end.first)),
        shard=end,
        place=place,
        shard_path=_packed(found.path_of_shard(place)),
    )
    return Proved(proof, b"".join(about.raws))


class _LinesAbout:
    """Keeps the lines about one sample, of those that it is shown."""

    def __init__(self, sample: int) -> None:
        self._sample = sample
        self.raws: list[bytes] = []

    def look_at(self, line: JournalLine) -> None:
        if self._sample in samples_of(line):
            self.raws.append(line.raw + b"\n")

    def look_at_segment(self, path: Path, lines: bytes) -> None:
        """Segments are of no concern here."""

    def look_at_calls(self, block: CallLines) -> None:
        for place, fact in enumerate(block.facts):
            if fact.sample == self._sample:
                self.look_at(block.line(place))


def proof_bytes(proof: SampleProof) -> bytes:
    """The bytes of a proof's file."""
    return canonical_json(proof) + b"\n"


def read_proof(path: str | Path) -> SampleProof:
    """A proof from its file. Raises: InputError for what is none."""
    try:
        data = Path(path).read_bytes()
        found: SampleProof = decode_json(data, msgspec.json.Decoder(ready(SampleProof)))
    except OSError as error:
        raise InputError(path, found=f"a file that can't be read ({error.strerror})") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(path, found=f"no proof ({error})", expected="what `benchbook prove` writes") from None
    if found.rules != RULES:
        raise InputError(path, field="rules", found=quoted(found.rules), expected=RULES)
    if proof_bytes(found) != data:
        raise InputError(path, found="a proof in other bytes", expected="what `benchbook prove` writes")
    return found


def faults_of(proof: SampleProof, root: str, lines: bytes | None = None) -> Iterator[str]:
    """Hold a proof against a record's root, and where they are there, the lines that it is about, against the proof."""
    if not is_sha256(root):
        yield f"the root is {quoted(root)}; expected 64 hexadecimal digits"
        return
    if proof.root != root:
        yield f"is of a record with the root {quoted(proof.root)}, not {root}"
    facts, shard = _unpacked(proof.facts), proof.shard
    path, shard_path = _unpacked(proof.path), _unpacked(proof.shard_path)
    if facts is None or path is None or shard_path is None:
        yield "has hashes that are none"
        return
    if not 0 <= shard.first <= proof.sample < shard.end:
        yield f"sample {proof.sample} is none of the shard's, which are {shard.first} to {shard.end - 1}"
        return
    leaf = sample_leaf(proof.sample, facts)
    samples = root_by_path(leaf, proof.sample - shard.first, shard.end - shard.first, path)
    if samples is None or samples.hex() != shard.samples_sha256:
        yield f"its facts are not those of sample {proof.sample} in shard {shard.shard}"
    shards = root_by_path(shard.leaf, proof.place, proof.head.n_shards, shard_path)
    if shards is None or root_over(proof.head, shards).hex() != root:
        yield f"shard {shard.shard}, as it says it is, is not in the record with this root"
    if lines is not None:
        yield from _faults_of_lines(facts, lines)


def _faults_of_lines(facts: Sequence[bytes], lines: bytes) -> Iterator[str]:
    found = [hashlib.sha256(line).digest() for line in lines.split(b"\n")[:-1]]
    if not lines.endswith(b"\n") and lines:
        yield "the last line of the facts is cut"
    if len(found) != len(facts):
        yield f"found {len(found)} facts; the proof is about {len(facts)}"
    for number, (one, wanted) in enumerate(zip(found, facts, strict=False), start=1):
        if one != wanted:
            yield f"line {number} of the facts is not the one that the proof is about"


def _packed(hashes: Sequence[bytes]) -> str:
    return b64encode(b"".join(hashes)).decode("ascii")


def _unpacked(text: str) -> list[bytes] | None:
    """Hashes; None where they are none. Other spellings of the same bytes are refused."""
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(data) % HASH_BYTES or b64encode(data).decode("ascii") != text:
        return None
    return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]
