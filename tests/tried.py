"""Commands run as users would, against a server with a fault: what they print, and the record that they leave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchbook.evaluators.verify import verify
from benchbook.record.facts import Failure
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from judging import make_set
from outages import well
from running import benchbook_here, options, write_items
from scripted_server import ScriptedServer, running

__all__ = ["WAYS", "Tried", "Way", "begin", "breaking", "resume", "whole_run"]

Reply = dict[str, Any]
Fault = Callable[[int, dict[str, Any]], Reply | None]  # by the number of earlier calls and the request; None: no fault


@dataclass(frozen=True)
class Tried:
    """The outcome of a command."""

    code: int
    out: str
    err: str
    record: Record

    @property
    def first(self) -> str:
        """The first paragraph of the output, on one line: a warning is wrapped to the terminal's width."""
        return " ".join(self.out.split("\n\n")[0].split())

    @property
    def said(self) -> str:
        """All output, on one line."""
        return " ".join(f"{self.out} {self.err}".split())

    @cached_property
    def aggregates(self) -> dict[str, Any]:
        """The content of aggregates.json, in which a run's own numbers are under the same name."""
        return dict(json.loads((self.record.path / "aggregates.json").read_text("utf-8")))

    @property
    def state(self) -> str:
        return str(json.loads((self.record.path / "manifest.json").read_text("utf-8"))["state"])

    @property
    def unanswered(self) -> list[dict[str, Any]]:
        return list(self.aggregates.get("unanswered", []))

    @property
    def n_unanswered(self) -> int:
        found = self.aggregates.get("n_unanswered")
        return int(self.aggregates["aggregates"]["n_unanswered"] if found is None else found)

    @property
    def warnings(self) -> str:
        return "\n".join(self.aggregates["warnings"])

    def rows(self) -> list[dict[str, Any]]:
        import polars as pl

        return pl.read_parquet(self.record.samples).to_dicts()

    def failures(self) -> list[Failure]:
        return [line.fact for line in read_journal(self.record.journal) if isinstance(line.fact, Failure)]


@dataclass(frozen=True)
class Way:
    """One way to ask: its command, and the calls that a fault hits."""

    command: tuple[str, ...]
    hits: Callable[[str, dict[str, Any]], bool]
    options: Callable[[Path, ScriptedServer, int], list[str]]
    whose: str
    setting: str  # the setting for its address: an option, or a place in the config
    moved: Callable[[ScriptedServer], list[str]]  # with --resume, to another address


def _one_judge(folder: Path, server: ScriptedServer, n_items: int) -> list[str]:
    write_items(folder / "items.jsonl", n_items)
    return options(folder, server)


def _panel(folder: Path, server: ScriptedServer, n_items: int) -> list[str]:
    write_items(folder / "items.jsonl", n_items)
    values = {
        "evalset": folder / "items.jsonl", "model": "openai/m@2026-01-01", "model_base_url": server.base_url,
        "run_id": "run", "runs": folder / "runs", "reports": "none", "panel_rule": "majority",
    }  # fmt: skip
    return [_config(folder, server, values, ("a", "b", "c"))]


def _score(folder: Path, server: ScriptedServer, n_items: int) -> list[str]:
    write_items(folder / "items.jsonl", n_items)
    words = options(folder, server)
    at = words.index("--judge")
    del words[at : at + 2]
    at = words.index("--judge-base-url")
    del words[at : at + 2]
    return words


def _judged(folder: Path, server: ScriptedServer, n_items: int) -> list[str]:
    make_set(folder, questions=max(1, n_items // 4))
    values = {
        "set": folder / "set", "prompts": folder / "prompts.jsonl", "run_id": "run", "runs": folder / "runs",
        "reports": "none",
    }  # fmt: skip
    return [_config(folder, server, values, ("j", "k"))]


def _config(folder: Path, server: ScriptedServer, values: Mapping[str, Any], judges: Iterable[str]) -> str:
    lines = [f"{name} = {json.dumps(str(value))}" for name, value in values.items()]
    for name in judges:
        lines += ["[[judges]]", f'model = "openai/{name}@2026-01-01"', f'base_url = "{server.base_url}"']
    (folder / "config.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / "config.toml")


WAYS: Mapping[str, Way] = {
    "run-model": Way(
        ("run",), lambda role, request: role == "candidate", _one_judge, "the model", "--model-base-url",
        lambda server: ["--model-base-url", server.base_url, "--judge-base-url", server.base_url],
    ),
    "run-judge": Way(
        ("run",), lambda role, request: role == "judge", _one_judge, "the judge", "--judge-base-url",
        lambda server: ["--model-base-url", server.base_url, "--judge-base-url", server.base_url],
    ),
    "panel": Way(
        ("run",), lambda role, request: request["model"] == "b", _panel, "the judge b", "judges[1].base_url",
        lambda server: ["--model-base-url", server.base_url, *_moved(server, "abc")],
    ),
    "score": Way(
        ("score",), lambda role, request: True, _score, "the model", "--model-base-url",
        lambda server: ["--model-base-url", server.base_url],
    ),
    "judge-run": Way(
        ("judge", "run"), lambda role, request: request["model"] == "k", _judged, "the judge k", "judges[1].base_url",
        lambda server: _moved(server, "jk"),
    ),
}  # fmt: skip


def _moved(server: ScriptedServer, judges: str) -> list[str]:
    return [word for judge in judges for word in ("--move-judge", f"{judge}.base_url={server.base_url}")]


def breaking(way: str, fault: Fault) -> Callable[[str, int, dict[str, Any]], Reply]:
    """The replies of a healthy server, except to those calls of `way` for which `fault` has another."""
    n_hit = 0

    def reply(role: str, n: int, request: dict[str, Any]) -> Reply:
        nonlocal n_hit
        if not WAYS[way].hits(role, request):
            return well(role, n, request)
        n_hit += 1
        found = fault(n_hit - 1, request)
        return well(role, n, request) if found is None else found

    return reply


def begin(way: str, folder: Path, server: ScriptedServer, *words: str, n_items: int = 3) -> Tried:
    given = WAYS[way].options(folder, server, n_items)
    return _tried(folder, *WAYS[way].command, *given, *words)


def resume(way: str, tried: Tried, *words: str) -> Tried:
    folder = tried.record.path.parent.parent
    return _tried(folder, *WAYS[way].command, "--resume", str(tried.record.path), *words, "--reports", "none")


def whole_run(way: str, folder: Path, fault: Fault, *words: str, n_items: int = 3) -> Tried:
    """Run the command against a server with a passing fault, or none, and check that it completes and verifies."""
    with running(breaking(way, fault)) as server:
        tried = begin(way, folder, server, *words, n_items=n_items)
    assert (tried.state, tried.n_unanswered) == ("complete", 0), tried.said
    assert verify(tried.record).holds
    return tried


def _tried(folder: Path, *words: str) -> Tried:
    done = benchbook_here(*words, cwd=folder)
    return Tried(done.returncode, done.stdout.decode(), done.stderr.decode(), Record(folder / "runs" / "run"))
