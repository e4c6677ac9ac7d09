"""The state of a record: of one writer's journal, or of the journals of its shards, put together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchbook.record.facts import RunEnded
from benchbook.record.joined import JoinedJournals, lacks_what_was_joined
from benchbook.record.joined_index import JoinedFacts, JoinedOutcomes
from benchbook.record.reading import SHARDS
from benchbook.record.shard_ends import ShardReader, ShardState
from benchbook.record.state import JournalState, LineLooker, read_writer_state
from benchbook.spilled import SpilledNumbers


def read_state(journal: Path, looker: LineLooker | None = None) -> JournalState:
    """Read a record's journal once, or those of its shards, each chain checked. `looker` is shown each line of one
    writer's.

    Raises: RecordDamagedError; RecordError if it does not begin with run_started; as `JoinedJournals`.
    """
    if journal.name != SHARDS:
        return read_writer_state(journal, looker)
    joined, numbers, shards = JoinedJournals(journal), SpilledNumbers(), []
    for end in joined.set.shards:
        reader = ShardReader(journal / str(end.shard) / "journal", end.shard, for_root=False).read(end)
        if not reader.is_at(end):
            raise lacks_what_was_joined(reader.journal)
        adds = reader.adds()
        adds.state.put_by(numbers)
        shards.append(adds)
    return state_of_joined(joined, shards)


def state_of_joined(joined: JoinedJournals, shards: Sequence[ShardState]) -> JournalState:
    """The state of a joined record, of its shards in the order of the newest set: no journal is read a second time."""
    started = msgspec.structs.replace(shards[0].state.started, shard=None)
    firsts, states = [end.first for end in joined.set.shards], [shard.state for shard in shards]
    facts = JoinedFacts(firsts, [one.index for one in states])
    outcomes = JoinedOutcomes(firsts, [one.outcomes for one in states])
    whole = JournalState(
        journal=joined.path, started=started, index=facts, outcomes=outcomes, config=started.config, joined=joined
    )
    for one in states:
        whole.candidate_reported.take(one.candidate_reported)
        for judge, reported in one.judges_reported.items():
            whole.judges_reported[judge].take(reported)
    whole.n_facts = 2 + sum(shard.n_about for shard in shards)  # and the first and the last
    whole.n_segments, whole.last_sha256 = sum(one.n_segments for one in states), joined.set.root
    ended = [one.ended for one in states if one.ended is not None]
    end = joined.end_of_run(ended, max(shard.last_at for shard in shards))
    if isinstance(end, RunEnded):
        whole.ended = end
    else:
        whole.interrupted = end
    return whole
