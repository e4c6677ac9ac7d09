"""The state of a joined record, put together of what was read of its shards: no journal is read a second time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchbook.record.fact_index import FactIndex
from benchbook.record.facts import RunEnded
from benchbook.record.joined import JoinedJournals
from benchbook.record.state import JournalState


@dataclass(frozen=True, slots=True)
class ShardState:
    """The part of one shard in its run, up to where it was joined. It can be sent from another process."""

    state: JournalState
    n_about: int  # facts about samples
    last_at: str


def state_of_joined(journal: Path, shards: Sequence[ShardState]) -> JournalState:
    """The state that `read_state` gives of a joined record, of its shards in the order of the newest set.

    Raises: as `JoinedJournals`.
    """
    joined = JoinedJournals(journal)
    started = msgspec.structs.replace(shards[0].state.started, shard=None)
    whole = JournalState(journal, started, FactIndex(journal, 1), config=started.config, joined=joined)
    n_before = 0
    for shard, (n_segments, _) in zip(shards, joined.set.places, strict=True):
        whole.take(shard.state, n_before)
        n_before += n_segments
    whole.n_facts = 2 + sum(shard.n_about for shard in shards)  # and the first and the last
    whole.n_segments, whole.last_sha256 = n_before, joined.set.root
    ended = [shard.state.ended for shard in shards if shard.state.ended is not None]
    end = joined.end_of_run(ended, max(shard.last_at for shard in shards))
    if isinstance(end, RunEnded):
        whole.ended = end
    else:
        whole.interrupted = end
    return whole
