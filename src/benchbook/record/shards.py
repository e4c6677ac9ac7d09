"""Shards: the parts of one run that many writers record, each alone, none of which knows of another.

RUN/inputs/<sha256>     the bytes that all of them read
RUN/shards/K/journal/   a chain of its own, whose first fact says which samples it has
RUN/sets/               what was joined (`sets`)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from benchbook.canonical import canonical_json
from benchbook.errors import UsageError
from benchbook.record.facts import RunStarted, Shard
from benchbook.record.folder import Inputs, Record, ShardRecord, copy_inputs, fit_for_run
from benchbook.record.format import SHARDS_OR_BATCHES
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import SHARDS
from benchbook.text import shorten
from benchbook.writing import folder_made_whole, make_folder, sync_folder

_WORDS = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)


class HasRunId(Protocol):
    """Settings, as far as they name a run."""

    @property
    def run_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class ShardAsked:
    """One of `of` shards, counted from 1. `at_once` of them are asked at the same time, by other processes."""

    number: int
    of: int
    at_once: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def run_id_in(self, config: HasRunId) -> str:
        """The id of the run that all shards are of. Raises: UsageError where the settings name none."""
        if config.run_id is None:
            raise UsageError(f"--shard {self}: found no run id; expected --run-id, the same for every shard")
        return config.run_id

    def first_fact(self, plan: msgspec.Struct, whole: RunStarted) -> RunStarted:
        """The first fact of this shard, by the plan of the whole run and its first fact.

        Raises: UsageError for a plan of which nobody knows before which samples are asked, and for one with fewer
        samples than shards.
        """
        n_samples = whole.n_items * whole.repeats
        if getattr(plan, "until_decided", msgspec.UNSET) is not msgspec.UNSET:
            raise UsageError(
                f"--shard {self}: a run that ends once it is decided has one writer; leave one of them out"
            )
        if self.of > n_samples:
            what = f"the run has {n_samples:,} samples; expected at most as many shards"
            raise UsageError(f"--shard {self}: {what}")
        return msgspec.structs.replace(whole, shard=self.part_of(n_samples), format=SHARDS_OR_BATCHES)

    def part_of(self, n_samples: int) -> Shard:
        """Its samples, which follow each other in plan order: as many as another shard has, or one more or less."""
        first, end = ((number * n_samples) // self.of for number in (self.number - 1, self.number))
        return Shard(number=self.number, of=self.of, first=first, end=end)

    def check_same(self, there: RunStarted, wanted: RunStarted, path: Path) -> None:
        """Check that the first fact that is there is of the same shard of the same plan. Raises: UsageError."""
        name = "shard" if there.shard != wanted.shard else other_than(there, wanted)
        if name is not None:
            found, expected = (shorten(str(getattr(one, name)), 100) for one in (there, wanted))
            shown = f"{name}: found {found}; expected {expected}"
            raise UsageError(f"{path}: was begun with another plan ({shown}); choose another run id")


_SAME = ("run_id", "spec", "spec_sha256", "plan_sha256", "n_items", "repeats", "inputs")


def other_than(one: RunStarted, other: RunStarted) -> str | None:
    """The name of the first thing by which two first facts are not of one run; None where they are.

    Where it was begun, by which release, and from which commit of the user's own, may differ.
    """
    for name in _SAME:
        if getattr(one, name) != getattr(other, name):
            return name
    return "identity" if _identity_of(one) != _identity_of(other) else None


def _identity_of(one: RunStarted) -> bytes:
    return canonical_json({name: value for name, value in one.identity.items() if name != "project_version"})


def shard_named(words: str, at_once: int | None = None) -> ShardAsked:
    """`3/8` as a shard; all of them are asked at once, unless it is said how many are. Raises: UsageError."""
    found = _WORDS.fullmatch(words)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard: found {words[:40]!r}; expected K/N, such as 1/8 to 8/8")
    return ShardAsked(int(found[1]), int(found[2]), int(found[2]) if at_once is None else at_once)


def shard_path(runs: str | Path, run_id: str, number: int) -> Path:
    """The folder of a shard."""
    return Path(runs) / run_id / SHARDS / str(number)


def begin_run_of_shards(runs: str | Path, run_id: str) -> Path:
    """Make the folder of a run whose shards others write, where it is not there yet, and return it.

    Raises: as `folder.create_record`; UsageError where the run has one writer.
    """
    run = Path(runs) / run_id
    fit_for_run(run, run_id)
    if (run / "journal").exists():
        raise UsageError(f"{run}: is the record of one writer; choose another run id")
    make_folder(run / "inputs")
    return run


def create_shard(
    runs: str | Path,
    run_id: str,
    number: int,
    inputs: Inputs,
    first_fact: Callable[[dict[str, str]], RunStarted],
    fill: Callable[[Record], None] | None = None,
) -> ShardRecord:
    """Create one shard of a run, and whatever of the run is not there yet. It appears whole or not at all.

    Others may do the same at once, for their own shards: an input is put under its hash, whoever comes first.
    Raises: as `folder.create_record`; UsageError where the run has one writer.
    """
    run = begin_run_of_shards(runs, run_id)
    target = shard_path(runs, run_id, number)
    if target.exists():
        raise UsageError(f"{target}: there is such a shard already; resume it, or choose another run id")
    with folder_made_whole(target) as made:
        record = ShardRecord(made, run)
        record.journal.mkdir()
        hashes = copy_inputs(inputs, made)
        for sha256 in set(hashes.values()):
            kept = run / "inputs" / sha256
            (made / sha256).unlink() if kept.exists() else (made / sha256).rename(kept)
        sync_folder(run / "inputs")
        with JournalWriter(record.journal) as journal:
            journal.append(first_fact(hashes))
        if fill is not None:
            fill(record)
    return ShardRecord(target, run)
