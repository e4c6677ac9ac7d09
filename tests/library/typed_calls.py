"""Calls of the library: mypy (`script/lint`) and basedpyright find each that is wrong here, and no other."""

from __future__ import annotations

from pathlib import Path

import benchbook as bb

rows = [{"id": "a", "prompt": "One and one?", "expected_answer": "2"}]


def answer(prompt: str) -> str:
    return "2"


async def right() -> bb.RubricRun:
    run = bb.run(evalset=rows, model=answer, judge=answer, runs=Path("runs"), max_cost_usd=0.5, confidence="none")
    bb.run("config.toml", limit=3, where="section=core", judges=[{"model": "openai/a@1"}], panel_rule="mean")
    bb.score(rows, rows, training_metrics="l.jsonl", where=["section=core"])
    bb.score("items.jsonl", model=answer, max_connections=4)
    bb.resume(run, max_seconds=None, model=answer)
    bb.judge(set="outputs", judges=[{"model": "openai/a@1"}], task="unknown")
    bb.grid(evalset=rows, spec="contains@v1", experiment="g", grid={"model": [answer]})
    bb.audit_judge(run, n=10, variants="longer", until_decided=True, judge="openai/j@1")
    bb.load_audit("tried", labels="labels")
    bb.calibrate(run, bb.label(run, n=10, stratify="passed"))
    board: bb.RunRanking = await bb.leaderboard_async("a", run, confidence=0.9)
    bb.rank_pairs("a.csv", Path("b.jsonl"), rows, by="judge", swap="half", form="table")
    await bb.score_async(rows, model=answer, limit=3)
    _ = (board, run.aggregates.ledger.n_scored)
    return await bb.run_async(evalset=rows, model="openai/a@1", judge="openai/b@1")


async def wrong() -> None:
    bb.run(modle="openai/a@1")  # type: ignore[call-arg]
    bb.run(max_connections="many")  # type: ignore[arg-type]
    bb.run(panel_rule="best")  # type: ignore[arg-type]
    bb.run(model=3)  # type: ignore[arg-type]
    await bb.run_async(evalst=rows)  # type: ignore[call-arg]
    bb.score(rows, model=answer, judge="openai/b@1")  # type: ignore[call-arg]
    bb.score(rows, training_metrcs="l.jsonl")  # type: ignore[call-arg]
    bb.judge(sets="outputs")  # type: ignore[call-arg]
    bb.grid(gird={})  # type: ignore[call-arg]
    bb.resume("run", repeats=2)  # type: ignore[call-arg]
    bb.rank_pairs("a.csv", swap="both")  # type: ignore[arg-type]
    await bb.leaderboard_async(evalst="x")  # type: ignore[call-arg]
    bb.audit_judge("run", variant="longer")  # type: ignore[call-arg]
    bb.calibrate("run", "labels", sed=3)  # type: ignore[call-arg]
