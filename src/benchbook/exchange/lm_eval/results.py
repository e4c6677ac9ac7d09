"""The results file: what the harness says of a run, and of each of its tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.json_text import decoded

_MOST_BYTES = 256 << 20
_DEEPEST = 20  # of the model's arguments
_STDERR = "_stderr"
_NO_METRICS = frozenset(("alias", "name", "task", "sample_len", "sample_count", "samples", " "))
_SECRET = re.compile(
    r"(?:^|[_-])(?:key|apikey|secret|passwd|password|credentials?|auth|authorization|bearer|headers?)$"
    r"|^(?:(?:hf|auth|access|api|bearer|use_auth)[_-])?token$",
    re.IGNORECASE,
)
# By whose value the harness names a model, in its own order.
_NAMES_MODEL = ("peft", "delta", "pretrained", "model", "path", "engine")


class Counts(msgspec.Struct):
    """Samples of a task: of its split, and of those the ones that were asked."""

    original: int | None = None
    effective: int | None = None


class HarnessResults(msgspec.Struct, kw_only=True):
    """A results file, of any version: what one does not have is empty."""

    results: dict[str, dict[str, Any]]
    group_subtasks: dict[str, list[str]] | None = None
    groups: dict[str, dict[str, Any]] | None = None
    configs: dict[str, dict[str, Any]] | None = None
    versions: dict[str, Any] | None = None
    n_shot: dict[str, Any] | None = msgspec.field(name="n-shot", default=None)
    higher_is_better: dict[str, dict[str, bool | None] | None] | None = None
    n_samples: dict[str, Counts] | None = msgspec.field(name="n-samples", default=None)
    config: dict[str, Any] | None = None
    git_hash: str | None = None
    date: float | str | None = None
    lm_eval_version: str | None = None
    task_hashes: dict[str, str] | None = None
    model_source: str | None = None
    model_name: str | None = None
    system_instruction_sha: str | None = None
    chat_template_sha: str | None = None
    fewshot_as_multiturn: bool | None = None

    def tasks(self) -> list[str]:
        """The tasks that have samples, in the order of the file."""
        groups = self.group_subtasks or {}
        return [name for name in dict.fromkeys((*self.results, *(self.configs or {}))) if not groups.get(name)]

    def groups_with_numbers(self) -> list[str]:
        """The groups for which there are numbers."""
        named = dict.fromkeys((*self.results, *(self.groups or {})))
        return [name for name in named if (self.group_subtasks or {}).get(name) and any(self.metrics(name))]

    def tasks_of(self, group: str) -> list[str]:
        """The tasks of a group and of those in it, each once."""
        groups, found, seen, to_see = self.group_subtasks or {}, [], set(), [group]
        while to_see:
            name = to_see.pop()
            if name in seen:
                continue
            seen.add(name)
            if inner := groups.get(name):
                to_see.extend(reversed(inner))
            else:
                found.append(name)
        return found

    def is_nested(self, group: str) -> bool:
        """True if a group holds a group."""
        groups = self.group_subtasks or {}
        return any(groups.get(name) for name in groups.get(group, ()))

    def numbers(self, name: str) -> dict[str, Any]:
        """A task's or group's entry in `results`."""
        return self.results.get(name, {})

    def metrics(self, name: str) -> Iterator[tuple[str, str, str]]:
        """The metrics of a task or group, no standard errors: key, metric, filter."""
        held = self.metrics_of(name)
        for key in held:
            if key not in _NO_METRICS and base_of_stderr(key, held) is None:
                metric, _, filtered = key.partition(",")
                yield key, metric, filtered

    def metrics_of(self, name: str) -> dict[str, Any]:
        """The numbers of a task or group, in `results` or in `groups`."""
        return {**(self.groups or {}).get(name, {}), **self.numbers(name)}

    def configured(self, task: str) -> dict[str, Any]:
        """A task's settings."""
        return (self.configs or {}).get(task, {})

    def model(self) -> str | None:
        """The model's name: as the file states it, or as its arguments name it."""
        if self.model_name:
            return self.model_name
        arguments, config = self.model_arguments(), self.config or {}
        named = next((arguments[key] for key in _NAMES_MODEL if arguments.get(key)), config.get("model"))
        return str(named) if named else None

    def model_arguments(self) -> dict[str, Any]:
        """The model's arguments, without keys and other secrets."""
        stated = (self.config or {}).get("model_args")
        if isinstance(stated, str):
            stated = dict(part.partition("=")[::2] for part in stated.split(",") if "=" in part)
        found = without_secrets(stated) if isinstance(stated, dict) else {}
        return found if isinstance(found, dict) else {}

    def started_at(self) -> str | None:
        """When the run began, as RFC 3339 in UTC."""
        if not isinstance(self.date, float):
            return None
        try:
            return datetime.fromtimestamp(self.date, UTC).isoformat().replace("+00:00", "Z")
        except (OverflowError, OSError, ValueError):
            return None

    def version(self) -> tuple[int, ...]:
        """The harness's version as numbers; none where the file does not tell. From 0.4.3 on it counts samples, and
        from 0.4.9 on it states its version."""
        if self.lm_eval_version is None and self.n_samples is not None:
            return 0, 4, 3
        return tuple(int(part) for part in re.findall(r"\d{1,6}", (self.lm_eval_version or "").partition("+")[0])[:4])


def read_results(path: Path) -> HarnessResults:
    """Raises: InputError."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(path, found="results of more than 256 MB", expected="the harness's own, without samples")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(path, found=f"a file that can't be read ({error.strerror})") from None
    return decoded(data, HarnessResults, path)


def base_of_stderr(key: str, among: Mapping[str, Any]) -> str | None:
    """The key of the metric whose standard error a key names: `acc,none` for `acc_stderr,none`; None for a metric."""
    metric, comma, filtered = key.partition(",")
    if not metric.endswith(_STDERR):
        return None
    base = metric.removesuffix(_STDERR) + comma + filtered
    return base if base in among else None


def without_secrets(value: Any, deep: int = 0) -> Any:
    """A JSON value without the fields that hold keys, and with what looks like one taken out of its texts."""
    from benchbook.ask.providers.keys import redact

    if isinstance(value, str):
        return redact(value)
    if deep > _DEEPEST and isinstance(value, list | dict):
        return None
    if isinstance(value, list):
        return [without_secrets(one, deep + 1) for one in value]
    if isinstance(value, dict):
        return {name: without_secrets(one, deep + 1) for name, one in value.items() if not _SECRET.search(name)}
    return value
