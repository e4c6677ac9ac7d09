"""The statistics of each instance, which HELM writes a metric at a time, found again by the request that they are of.

`per_instance_stats.json` has all instances of the first metric, then all of the second; the requests stand in another
file. A table on disk puts them together, in whatever order they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.helm.form import InstanceStats, context_of, key_of, label_of, number_in
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded
from benchbook.exchange.on_disk import temporary_table

# Names of what a request took, what was sent and how it ended. Nobody scored these.
_TAKEN = {
    "num_references", "num_train_trials", "num_train_instances", "num_prompt_tokens", "num_completion_tokens",
    "num_output_tokens", "num_instances", "num_perplexity_tokens", "num_bytes", "batch_size", "prompt_truncated",
    "logprob", "max_prob", "predicted_index",
}  # fmt: skip
_TAKEN_BEGINS = ("inference_", "training_", "finish_reason_")
_KEPT = {"num_prompt_tokens", "num_output_tokens", "predicted_index"}
_MOST_NAMES = 10_000


def is_score(name: str) -> bool:
    """True for a metric of the answer."""
    return name not in _TAKEN and not name.startswith(_TAKEN_BEGINS)


class InstanceTable:
    """The statistics of all instances, by what they are of."""

    def __init__(self, path: Path) -> None:
        self.n = 0
        self.scorers: list[str] = []  # in the order in which they were met first
        self.counted: set[str] = set()  # names of which an instance has a mean of several values, not one value
        self.labels: Counter[tuple[str, str]] = Counter()  # how many statistics, by (split, perturbation)
        self.flags: set[tuple[str, str]] = set()  # (split, flag) where a perturbation is of robustness, or of fairness
        self._path = path
        self._table = temporary_table("CREATE TABLE stats (key BLOB, n INTEGER PRIMARY KEY, found BLOB)")
        try:
            for number, data in enumerate(JsonArray(path)):
                self._add(number, decoded(data, InstanceStats, path, within=f"[{number}]"))
            self._table.execute("CREATE INDEX by_key ON stats (key, n)")
        except BaseException:
            self.close()
            raise

    def _add(self, number: int, one: InstanceStats) -> None:
        found: dict[str, float | None] = {}
        for stat in one.stats:
            name = stat.name.name
            if not is_score(name):
                if name in _KEPT:
                    found[name] = number_in(stat.mean)
                continue
            if name not in self.scorers:
                if len(self.scorers) == _MOST_NAMES:
                    raise InputError(self._path, found=f"more than {_MOST_NAMES:,} metrics", expected="fewer")
                self.scorers.append(name)
            if stat.count > 1:
                self.counted.add(name)
            found[name] = number_in(stat.mean) if stat.count else None
            self._note(one, stat.name.split, stat.name.sub_split)
        key = key_of(one.instance_id, one.perturbation, one.train_trial_index)
        self._table.execute("INSERT INTO stats VALUES (?, ?, ?)", (key, number, msgspec.msgpack.encode(found)))
        self.n = number + 1

    def _note(self, one: InstanceStats, split: str | None, sub_split: str | None) -> None:
        """Which perturbations there are among the samples of a split."""
        part = context_of(split, sub_split, "")
        self.labels[part, label_of(one.perturbation)] += 1
        self.flags |= {(part, flag) for flag in ("robustness", "fairness") if (one.perturbation or {}).get(flag)}

    def of(self, key: bytes) -> Iterator[tuple[int, dict[str, float | None]]]:
        """`(elements, values by name)` of each request with this key: a second value of a name is of the next one."""
        together: dict[str, float | None] = {}
        n = 0
        for (data,) in self._table.execute("SELECT found FROM stats WHERE key = ? ORDER BY n", (key,)):
            found: dict[str, float | None] = msgspec.msgpack.decode(data)
            if not together.keys().isdisjoint(found.keys() - _KEPT):
                yield n, together
                together, n = {}, 0
            together = {**found, **together}
            n += 1
        if n:
            yield n, together

    def keys(self) -> Iterator[bytes]:
        """All that there are statistics of, in their order."""
        for (key,) in self._table.execute("SELECT key FROM stats GROUP BY key ORDER BY min(n)"):
            yield key

    def close(self) -> None:
        self._table.close()
