"""Records and catalogs for the catalog's tests: made quickly, and just as a run would leave them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Row, event, select

from benchbook.catalog.database import Catalog, aggregates, metadata, predictions
from benchbook.evaluators.correctness.rows import CorrectnessRow
from benchbook.record.derived_files import hashes_of, pretty_json, write_manifest
from benchbook.record.facts import Reply, RunEnded, RunStarted
from benchbook.record.folder import Record, create_record
from benchbook.record.journal import JournalWriter
from benchbook.record.tables import write_table

SPEC = "answer_correctness@v1"
ITEMS = 4


def correctness_row(position: int, predicted: str | None = "4", expected: str = "4", **more: Any) -> CorrectnessRow:
    values: dict[str, Any] = dict.fromkeys(CorrectnessRow.__struct_fields__)
    values |= {
        "sample": position,
        "item_id": f"i{position}",
        "repeat": 0,
        "prompt": "2 + 2?",
        "eval_time_ms": 10 + position,
    }
    correctness = float(predicted is not None and predicted.casefold() == expected.casefold())
    texts = {"predicted": predicted, "expected": expected, "correctness": correctness}
    return CorrectnessRow(**(values | texts | more))


def start(runs: Path, run_id: str, *, spec: str = SPEC, items: int = ITEMS, **more: Any) -> Record:
    """A record that has begun."""
    evalset = runs.parent / "items.jsonl"
    if not evalset.exists():
        evalset.write_text('{"id": "i0"}\n', encoding="utf-8")

    def first(hashes: dict[str, str]) -> RunStarted:
        dry_run = more.get("dry_run", False)
        models = {"candidate": {"model_id": more.get("model", "org/m")}, "judge": {"model_id": more.get("judge")}}
        return RunStarted(
            run_id=run_id, spec=spec, spec_sha256="0" * 64, plan_sha256="0" * 64, n_items=items, repeats=1,
            config=more.get("config", {}), inputs=hashes,
            identity={"dataset_id": more.get("dataset", "golden"), "plan": models, "dry_run": dry_run},
            code_version={}, environment={},
        )  # fmt: skip

    return create_record(runs, run_id, {"evalset": evalset}, first)


def reply(record: Record, sample: int, text: str = "4") -> None:
    """One fact more."""
    with JournalWriter(record.journal) as journal:
        journal.append(Reply(sample=sample, role="candidate", text=text))


def finish(record: Record, rows: list[CorrectnessRow] | None = None, **more: Any) -> Record:
    """End the run, and derive its files. `score`, `aggregates` and manifest fields may be given."""
    with JournalWriter(record.journal) as journal:
        last, n_facts = journal.append(RunEnded()), journal.seq
    started = record.started()
    rows = rows if rows is not None else [correctness_row(position) for position in range(started.n_items)]
    write_table(record.samples, CorrectnessRow, rows)
    score = more.pop("score", sum(row.correctness for row in rows) / len(rows) if rows else None)
    n_scored = sum(row.predicted is not None for row in rows)
    card = {
        "spec": started.spec,
        "primary_score": score,
        "n_items": len(rows),
        "n_scored": n_scored,
        "n_skipped": len(rows) - n_scored,
    }
    content = more.pop("aggregates", card | {"section": [{"value": "core"}], "interval": {"low": 0.0, "high": 1.0}})
    record.aggregates.write_bytes(pretty_json(content))
    record.decision.write_bytes(pretty_json({"verdict": more.pop("verdict", "pass"), "reason": None}))
    manifest = {
        "run_id": record.run_id, "spec": started.spec, "state": "complete", "timestamp_utc": started.at,
        "ended_utc": started.at, "dataset_id": started.identity["dataset_id"],
        "model_id": started.identity["plan"]["candidate"]["model_id"], "model_version": "2026-01-01",
        "evaluator_model_id": started.identity["plan"]["judge"]["model_id"], "n_items": started.n_items, "repeats": 1,
        "config": started.config, "inputs": started.inputs, "journal_facts": n_facts, "journal_sha256": last,
        "derived": hashes_of(record.path, ["samples.parquet", "aggregates.json", "decision.json"]),
        "dry_run": started.identity["dry_run"],
    }  # fmt: skip
    write_manifest(record.path, manifest | more)
    return record


def made(runs: Path, run_id: str, rows: list[CorrectnessRow] | None = None, **more: Any) -> Record:
    """A complete record."""
    given = {
        name: more.pop(name)
        for name in ("spec", "items", "model", "judge", "dataset", "config", "dry_run")
        if name in more
    }
    given.setdefault("items", ITEMS if rows is None else max(len(rows), 1))
    return finish(start(runs, run_id, **given), rows, **more)


def content(catalog: Catalog) -> dict[str, list[Any]]:
    """All that stands in the catalog's tables."""
    with catalog.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for table in metadata.sorted_tables
        }


def plans_of(catalog: Catalog) -> list[str]:
    """The plan of each query from now on, as the database tells it."""
    plans: list[str] = []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if connection.dialect.name == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        else:  # a few rows are read more quickly otherwise: what it would do with many
            for other in ("seqscan", "bitmapscan"):
                cursor.execute(f"SET LOCAL enable_{other} = off")
            cursor.execute(f"EXPLAIN {statement}", parameters)
        plans.append("\n".join(str(row[-1]) for row in cursor.fetchall()))

    event.listen(
        catalog._engine,
        "before_cursor_execute",
        lambda *words: explain(*words) if words[2].startswith("SELECT") else None,
    )
    return plans


def predictions_of(catalog: Catalog, run_id: str) -> list[Row[Any]]:
    """The predictions of a run as the catalog has them, in the plan's order."""
    query = select(predictions).where(predictions.c.run_id == run_id).order_by(predictions.c.position)
    with catalog.read() as connection:
        return list(connection.execute(query).all())


def aggregates_of(catalog: Catalog, run_id: str) -> dict[str, int | str | None]:
    """A run's aggregates by name: billionths, or a text."""
    with catalog.read() as connection:
        rows = connection.execute(select(aggregates).where(aggregates.c.run_id == run_id)).all()
    return {row.name: row.value_nano if row.value_nano is not None else row.value_text for row in rows}
