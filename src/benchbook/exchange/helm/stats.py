"""The statistics of each instance, which HELM writes a metric at a time, found again by the request that they are of.

`per_instance_stats.json` has all instances of the first metric, then all of the second; the requests stand in another
file. A table on disk puts them together, in whatever order they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.helm.form import InstanceStats, context_of, key_of, label_of, number_in
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded
from benchbook.exchange.on_disk import put_on_disk, temporary_table

# Names of what a request took, what was sent and how it ended. Nobody scored these.
_TAKEN = {
    "num_references", "num_train_trials", "num_train_instances", "num_prompt_tokens", "num_completion_tokens",
    "num_output_tokens", "num_instances", "num_perplexity_tokens", "num_bytes", "batch_size", "prompt_truncated",
    "logprob", "max_prob", "predicted_index",
}  # fmt: skip
_TAKEN_BEGINS = ("inference_", "training_", "finish_reason_")
_MOST_NAMES = 10_000


def is_score(name: str) -> bool:
    """True for a metric of the answer."""
    return name not in _TAKEN and not name.startswith(_TAKEN_BEGINS)


class InstanceTable:
    """The statistics of all instances, by what they are of."""

    def __init__(self, path: Path) -> None:
        self.n = 0
        self.scorers: list[str] = []  # metrics of answers, in the order in which they were met first
        self.counts: dict[str, set[int]] = {}  # of each name, of how many values an instance has the mean
        self.labels: Counter[tuple[str, str]] = Counter()  # how many statistics, by (split, perturbation)
        self.flags: set[tuple[str, str]] = set()  # (split, kind) where a perturbation is of robustness, or of fairness
        self._path = path
        self._has_copies = False
        self._table = temporary_table("CREATE TABLE stats (key BLOB, n INTEGER PRIMARY KEY, origin BLOB, found BLOB)")
        try:
            with put_on_disk(path):
                for number, data in enumerate(JsonArray(path, is_all=True)):
                    self._add(number, decoded(data, InstanceStats, path, within=f"[{number}]"))
                self._table.execute("CREATE INDEX by_key ON stats (key, n)")
                if self._has_copies:
                    self._table.execute("CREATE INDEX by_origin ON stats (origin, n)")
        except BaseException:
            self.close()
            raise

    def _add(self, number: int, one: InstanceStats) -> None:
        found: dict[str, float | None] = {}
        for stat in one.stats:
            name = stat.name.name
            self._note(name, stat.count)
            found[name] = number_in(stat.mean) if stat.count else None
            if is_score(name):
                part = context_of(stat.name.split, stat.name.sub_split, "")
                self.labels[part, label_of(one.perturbation)] += 1
                self.flags |= {
                    (part, kind) for kind in ("robustness", "fairness") if (one.perturbation or {}).get(kind)
                }
        self._has_copies = self._has_copies or one.perturbation is not None
        key = key_of(one.instance_id, one.perturbation, one.train_trial_index)
        origin = key_of(one.instance_id, None, one.train_trial_index)
        row = (key, number, origin, msgspec.msgpack.encode((one.perturbation, found)))
        self._table.execute("INSERT INTO stats VALUES (?, ?, ?, ?)", row)
        self.n = number + 1

    def _note(self, name: str, count: int) -> None:
        """A name, and of how many values an instance has the mean."""
        if name not in self.counts:
            if len(self.counts) == _MOST_NAMES:
                raise InputError(self._path, found=f"more than {_MOST_NAMES:,} metrics", expected="fewer")
            self.counts[name] = set()
            if is_score(name):
                self.scorers.append(name)
        if count and len(self.counts[name]) < 2:
            self.counts[name].add(count)

    def of(self, key: bytes) -> Iterator[tuple[int, dict[str, float | None]]]:
        """`(elements, values by name)` of each request with this key: a second score of a name is of the next one."""
        together: dict[str, float | None] = {}
        n = 0
        for (data,) in self._table.execute("SELECT found FROM stats WHERE key = ? ORDER BY n", (key,)):
            _, found = msgspec.msgpack.decode(data, type=tuple[Any, dict[str, float | None]])
            if any(is_score(name) for name in together.keys() & found.keys()):
                yield n, together
                together, n = {}, 0
            together = {**found, **together}
            n += 1
        if n:
            yield n, together

    def variants_of(self, origin: bytes) -> list[tuple[dict[str, Any] | None, dict[str, float | None]]]:
        """The values of an original, by its key, and of its perturbed copies, each with its perturbation."""
        if not self._has_copies:
            return []
        rows = self._table.execute("SELECT found FROM stats WHERE origin = ? ORDER BY n", (origin,))
        return [msgspec.msgpack.decode(data, type=tuple[Any, dict[str, float | None]]) for (data,) in rows]

    def keys(self) -> Iterator[bytes]:
        """All that there are statistics of, in their order."""
        for (key,) in self._table.execute("SELECT key FROM stats GROUP BY key ORDER BY min(n)"):
            yield key

    def close(self) -> None:
        self._table.close()
