"""A thousand writers with failures, simulated: how long a run of a billion samples takes, and what failures cost.

    script/bench writers [--samples N] [--writers N] [--json]

Each line is one run: so many shards wait for a free writer; a writer starts (what a process needs, and the opening of
the whole eval set), asks, is killed at random, waits for its scheduler and goes on where its journal ends. Speeds of
writers differ (log-normal, with the spread that is given). What a start and an item of the set cost is measured by
`script/bench scale`. Time is that of the simulation: nothing is asked.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Setup:
    """One run. Times in seconds."""

    samples: int
    items: int  # of the eval set, all of which each writer opens
    shards: int
    writers: int
    fails_after_h: float  # in the mean, for one writer
    connections: int = 64
    latency_s: float = 2.0  # of a request; a sample is two of them, one after the other
    spread: float = 0.15  # of the logarithm of a writer's speed
    start_s: float = 1.0
    open_item_s: float = 4e-6
    scheduled_after_s: float = 60.0  # between the end of a process and the next one for its shard

    @property
    def rate(self) -> float:
        """Samples a second of one writer."""
        return self.connections / (2 * self.latency_s)

    @property
    def opening_s(self) -> float:
        return self.start_s + self.open_item_s * self.items


@dataclass(slots=True)
class Outcome:
    """The course of one run. `n_again` are requests that were under way when their writer was killed."""

    hours: float = 0.0
    n_kills: int = 0
    n_starts: int = 0
    n_again: int = 0
    opening_h: float = 0.0


def simulate(setup: Setup, seed: int) -> Outcome:
    """One run from its first request to its last."""
    chance = random.Random(seed)
    speeds = [setup.rate * chance.lognormvariate(0, setup.spread) for _ in range(setup.writers)]
    size = setup.samples / setup.shards
    left = dict.fromkeys(range(setup.writers), size)
    waiting = max(setup.shards - setup.writers, 0)
    free = [(0.0, writer) for writer in range(min(setup.writers, setup.shards))]  # when each may start a process
    heapq.heapify(free)
    found = Outcome()
    while free:
        now, writer = heapq.heappop(free)
        found.n_starts += 1
        asking_s = left[writer] / speeds[writer]
        lives_s = chance.expovariate(1 / (setup.fails_after_h * _HOUR))
        found.opening_h += min(lives_s, setup.opening_s) / _HOUR
        if lives_s < setup.opening_s + asking_s:
            asked_s = max(lives_s - setup.opening_s, 0.0)
            left[writer] -= asked_s * speeds[writer]
            found.n_kills += 1
            found.n_again += setup.connections if asked_s else 0
            heapq.heappush(free, (now + lives_s + setup.scheduled_after_s, writer))
            continue
        ended = now + setup.opening_s + asking_s
        found.hours = max(found.hours, ended / _HOUR)
        if waiting:
            waiting -= 1
            left[writer] = size
            heapq.heappush(free, (ended, writer))
    return found


def line_of(setup: Setup, runs: int) -> dict[str, Any]:
    """The mean of some runs, and the longest of them."""
    found = [simulate(setup, seed) for seed in range(runs)]
    ideal_h = setup.samples / (setup.writers * setup.rate) / _HOUR
    hours = sum(one.hours for one in found) / runs
    return asdict(setup) | {
        "ideal_h": round(ideal_h, 2),
        "hours": round(hours, 2),
        "hours_most": round(max(one.hours for one in found), 2),
        "efficiency": round(ideal_h / hours, 3),
        "kills": round(sum(one.n_kills for one in found) / runs),
        "starts": round(sum(one.n_starts for one in found) / runs),
        "opening_share": round(sum(one.opening_h for one in found) / runs / (hours * setup.writers), 4),
        "asked_again": sum(one.n_again for one in found) / runs / (2 * setup.samples),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000_000)
    parser.add_argument("--writers", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = []
    for items, shards, hours in product((1_000_000, 10_000_000, 1_000_000_000), (1, 4, 16), (1.0, 6.0, 24.0)):
        setup = Setup(options.samples, items, shards * options.writers, options.writers, hours)
        if setup.opening_s < hours * _HOUR:  # else hardly any writer lives until its set is open
            lines.append(line_of(setup, options.runs))
        else:
            lines.append(asdict(setup) | {"hours": None})
    if options.json:
        print(json.dumps(lines))
        return
    print("items          shards  a writer fails after h   hours (most)  efficiency   kills  opening  asked again")
    for one in lines:
        head = f"{one['items']:>13,} {one['shards']:>8,} {one['fails_after_h']:>12}"
        if one["hours"] is None:
            print(f"{head}   does not end: a writer fails before its set is open")
            continue
        print(
            f"{head} {one['hours']:>16} ({one['hours_most']}) {one['efficiency']:>10} {one['kills']:>9,}"
            f" {one['opening_share']:>8.2%} {one['asked_again']:>12.1e}"
        )


if __name__ == "__main__":
    main()
