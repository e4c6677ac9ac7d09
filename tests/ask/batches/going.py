"""Small runs by batch against the stand-in, and what must hold of each at its end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from batch_vendors import Vendors
from benchbook.ask.batches.running import BatchRun, go_on, submit
from benchbook.evaluators.registry import evaluator_of, settings_for_batch
from benchbook.evaluators.verify import verify
from benchbook.record.facts import BatchPrepared, Failure, Reply
from benchbook.record.folder import Record, is_record
from benchbook.record.reading import read_journal
from crashing import Say
from running import write_items

VENDORS = ("openai", "anthropic", "gemini")
_MOST_LOOKS = 60


def values(folder: Path, server: Vendors, vendor: str, items: int = 6, **settings: Any) -> dict[str, Any]:
    """Settings of a run whose model and judge the vendor has."""
    path = folder / "items.jsonl"
    if not path.exists():
        write_items(path, items)
    address = getattr(server, vendor)
    batch = {"vendor": vendor, "judge_vendor": vendor, "settle_seconds": 0, **settings.pop("batch", {})}
    found = {
        "evalset": str(path), "model": "openai/m@2026-01-01", "judge": "openai/j@2026-01-01", "run_id": "run",
        "model_base_url": address, "judge_base_url": address, "runs": str(folder / "runs"), "reports": None,
        "batch": batch, "max_retries": 20,  # what expires is drawn by ids, which are new each time: enough for any luck
    }  # fmt: skip
    return {**found, **settings}


def begun(given: dict[str, Any], **more: Any) -> BatchRun[Any]:
    """A run that was submitted."""
    evaluator, config = settings_for_batch(given, {}, "test")
    return submit(evaluator, config, **more)


def looked_at(record: Record, **more: Any) -> BatchRun[Any]:
    """One look at a run."""
    return go_on(evaluator_of(record), record, **more)


def ended(run: BatchRun[Any]) -> BatchRun[Any]:
    """The run once nothing of it is out."""
    for _ in range(_MOST_LOOKS):
        if run.is_over:
            return run
        run = looked_at(run.record)
    raise AssertionError(f"still out: {run.n_out}, {run.refused}, {run.stop.reason}")


def facts_of(record: Record) -> list[Any]:
    return [line.fact for line in read_journal(record.journal)]


def check_whole(run: BatchRun[Any], server: Vendors) -> None:
    """It is complete and verifies; each request has one reply, was carried out once, and nothing is left behind."""
    record = run.record
    facts = facts_of(record)
    assert run.stop.reason is None
    assert run.n_done == run.n_samples
    replies = Counter((one.sample, one.role, one.judge, one.attempt) for one in facts if isinstance(one, Reply))
    assert set(replies.values()) == {1}
    assert {sample for sample, *_ in replies} == set(range(run.n_samples))
    assert set(server.billed().values()) == {1}
    assert len(server.billed()) == len(replies)
    assert not (record.path / "batches").exists()
    found = verify(record)
    assert (found.findings, found.state) == ((), "complete")


def scores_of(record: Record) -> list[tuple[Any, ...]]:
    """What each sample came to, for runs that were asked in different ways."""
    table = pl.read_parquet(record.samples).sort("sample")
    names = [
        name for name in ("candidate_answer", "accuracy_score", "faithfulness_score", "predicted") if name in table
    ]
    return table.select("sample", *names).rows()


def sent(record: Record) -> list[BatchPrepared]:
    return [one for one in facts_of(record) if isinstance(one, BatchPrepared)]


def failures(record: Record) -> list[Failure]:
    return [one for one in facts_of(record) if isinstance(one, Failure)]


def go(url: str, vendor: str, folder: Path, say: Say) -> None:
    """Begin, or go on with, a run of a vendor of one's own, until nothing is out (`crashing.Act`)."""
    record = Record(folder / "runs" / "run")
    given = values(folder, tenant_of(url, folder), vendor, 3, batch={"max_requests": 2})
    run = looked_at(record) if is_record(record.path) else begun(given)
    say("begun")
    ended(run)
    say("ended")


def tenant_of(url: str, folder: Path) -> Vendors:
    """The addresses of vendors that a go has to itself: its folder is named by what went wrong in it."""
    found = Vendors.__new__(Vendors)
    found.url = f"{url}/t/{folder.parent.name}"
    return found
