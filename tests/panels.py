"""Runs that a panel judges: all judges are at one local server, which tells them apart by the model's name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from running import write_items
from scripted_server import OK_CANDIDATE, ScriptedServer

Said = str | tuple[int, int]  # a reply as it comes, or accuracy and faithfulness
_ITEM = re.compile(r"What is (\d+) \+ 1\?")


def replies_of(votes: Mapping[str, Callable[[int], Said]]) -> Callable[[str, int, dict[str, Any]], dict[str, Any]]:
    """The replies of a server whose judges, by name, vote on an item's number as `votes` says."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del n
        if role == "candidate":
            return OK_CANDIDATE
        found = _ITEM.search(request["messages"][0]["content"])
        assert found is not None
        return said(votes[request["model"]](int(found[1])))

    return reply


def said(vote: Said) -> dict[str, Any]:
    if isinstance(vote, tuple):
        vote = json.dumps({"accuracy_score": vote[0], "faithfulness_score": vote[1], "rationale": "So it is."})
    return {"status": 200, "content": vote, "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


def panel_config(
    folder: Path, server: ScriptedServer, judges: Sequence[str | dict[str, Any]], items: int = 6, **settings: Any
) -> RunConfig:
    """The settings of a run by a panel; `judges` are names, or a judge's settings without its address."""
    tables = [{"model": f"openai/{one}@2026-01-01"} if isinstance(one, str) else one for one in judges]
    values: dict[str, Any] = {
        "evalset": str(write_items(folder / "items.jsonl", items)), "model": "openai/m@2026-01-01", "run_id": "run",
        "model_base_url": server.base_url, "runs": str(folder / "runs"), "panel_rule": "majority",
        "judges": [{"base_url": server.base_url} | table for table in tables],
    }  # fmt: skip
    return config_from_mapping(values | settings, "test")


def run_panel(
    folder: Path, server: ScriptedServer, judges: Sequence[str | dict[str, Any]], items: int = 6, **settings: Any
) -> RunResult:
    return run_async(start_run(panel_config(folder, server, judges, items, **settings)))
