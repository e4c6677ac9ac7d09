"""Which files of a folder belong together: results, and the samples of each of its tasks.

Since 0.4.3 the same time stands in their names. Before, results had any name, and samples lay beside them as
`<model>_<task>.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_HEAD = 64 << 10
_DEEPEST = 20
_SUFFIXES = (".json", ".jsonl")

_RESULTS = re.compile(rb'\s*\{\s*"results"\s*:\s*\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:\s*\{)')
_BESIDE_RESULTS = re.compile(rb'"(?:lm_eval_version|group_subtasks|n-shot|configs|versions|task_hashes|alias)"\s*:')
_SAMPLES = re.compile(rb'\s*\[?\s*\{\s*"doc_id"\s*:')
_OF_A_SAMPLE = re.compile(rb'"(?:doc|target|arguments|resps|filtered_resps|doc_hash)"\s*:')
_NO_FILE_NAME = re.compile(r"[^\w.-]+")
_TIME = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")


def is_results(head: bytes) -> bool:
    """True if a file that begins so holds the harness's results."""
    return _RESULTS.match(head) is not None and _BESIDE_RESULTS.search(head) is not None


def is_samples(head: bytes) -> bool:
    """True if a file that begins so holds the harness's samples, line by line or as a list."""
    return _SAMPLES.match(head) is not None and _OF_A_SAMPLE.search(head) is not None


def harness_files(place: Path, names: Iterable[str]) -> Iterator[tuple[Path, bool]]:
    """Those of a folder's files that the harness wrote, by name: True beside one of results, False beside samples.

    Raises: OSError.
    """
    for name in sorted(names):
        path = place / name
        if name.startswith(".") or not name.endswith(_SUFFIXES) or not path.is_file():
            continue
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if is_results(head):
            yield path, True
        elif is_samples(head):
            yield path, False


@dataclass
class Together:
    """The files of one run: its results, and its samples by task. One of both may be absent."""

    results: Path | None
    samples: dict[str, Path] = field(default_factory=dict)


@dataclass
class Folder:
    """The harness's files in a folder."""

    results: list[Path]
    samples: list[Path]

    @classmethod
    def at(cls, place: Path) -> Folder:
        """Raises: OSError."""
        found = cls([], [])
        for path, of_results in harness_files(place, (one.name for one in place.iterdir())):
            (found.results if of_results else found.samples).append(path)
        return found

    def together(self, tasks_of: dict[Path, frozenset[str]]) -> Iterator[Together]:
        """The runs, and then the samples that no results tell of. `tasks_of`: those that each of the results names."""
        taken: set[Path] = set()
        for results in self.results:
            one = Together(results)
            for path in self.samples:
                task = self._task_of(path, results, tasks_of[results])
                if task is not None and path not in taken and task not in one.samples:
                    one.samples[task] = path
                    taken.add(path)
            yield one
        for path in self.samples:
            if path not in taken:
                yield Together(None, {task_named(path): path})

    def _task_of(self, samples: Path, results: Path, tasks: frozenset[str]) -> str | None:
        """The task of these results that a file holds the samples of; None where it is another run's."""
        time, results_time = _time(samples), _time(results)
        if time is None:
            ends = [task for task in tasks if samples.stem == task or samples.stem.endswith(f"_{task}")]
            return max(ends, key=len) if ends and results_time is None else None
        if time == results_time or (results_time is None and len(self.results) == 1):
            named = task_named(samples)
            return named if named in tasks else next((task for task in tasks if file_name_of(task) == named), None)
        return None


def file_name_of(task: str) -> str:
    """A task's name as a file's may have it."""
    return _NO_FILE_NAME.sub("_", task)[:100] or "task"


def task_named(samples: Path) -> str:
    """The task that a file of samples is named after; all of its name where that follows no rule."""
    stem = _TIME.sub("", samples.stem)
    return stem.removeprefix("samples_") or samples.stem


def _time(path: Path) -> str | None:
    match = _TIME.search(path.stem)
    return match[1] if match else None


def folders_under(place: Path, deep: int = 0) -> Iterator[Path]:
    """A folder and those within it, by name; links are not followed."""
    yield place
    if deep < _DEEPEST:
        for inner in sorted(place.iterdir()):
            if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
                yield from folders_under(inner, deep + 1)
