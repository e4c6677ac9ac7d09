"""Small aggregates and rows of Every Eval Ever, as its schema has them, for tests that change one thing of each."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

EVALUATION, MODEL = "capitals/acme_m1/1750000000", "acme/m1"
NAME = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


def row(sample: str = "s1", score: Any = 1.0, **changes: Any) -> dict[str, Any]:
    """A row that is right where it is not changed; `result` is the result's id."""
    found: dict[str, Any] = {
        "schema_version": "0.3.0",
        "evaluation_id": EVALUATION,
        "model_id": MODEL,
        "evaluation_name": "capitals",
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": f"What is the capital of {sample}?", "reference": ["Paris"]},
        "output": {"raw": ["Paris"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1.0},
    }
    if "result" in changes:
        found["evaluation_result_id"] = changes.pop("result")
    return found | changes


def result(score: float = 0.5, **changes: Any) -> dict[str, Any]:
    return {
        "evaluation_name": "capitals",
        "source_data": {"dataset_name": "capitals", "source_type": "other"},
        "metric_config": {
            "metric_name": "accuracy", "lower_is_better": False, "score_type": "continuous",
            "min_score": 0.0, "max_score": 1.0,
        },
        "score_details": {"score": score},
    } | changes  # fmt: skip


def metric(**changes: Any) -> dict[str, Any]:
    return {**result()["metric_config"], **changes}


def aggregate(*results: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": EVALUATION,
        "retrieved_timestamp": "1750000001",
        "evaluation_timestamp": "1750000000",
        "source_metadata": {
            "source_type": "evaluation_run", "source_organization_name": "Acme", "evaluator_relationship": "first_party"
        },
        "eval_library": {"name": "benchsuite", "version": "7"},
        "model_info": {
            "name": "m1", "id": MODEL,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": list(results),
    } | changes  # fmt: skip


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in rows)


def laid(
    folder: Path,
    rows: list[dict[str, Any]] | None,
    *results: dict[str, Any],
    named: dict[str, Any] | None = None,
    **changes: Any,
) -> Path:
    """An aggregate with its samples beside it, as the tool lays them; returns the aggregate."""
    folder.mkdir(parents=True, exist_ok=True)
    if rows is not None:
        data = lines(*rows)
        (folder / f"{NAME}_samples.jsonl").write_bytes(data)
        changes.setdefault("detailed_evaluation_results", {
            "format": "jsonl",
            "file_path": f"data/capitals/acme/m1/{NAME}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(data).hexdigest(),
            "total_rows": len(rows),
        } | (named or {}))  # fmt: skip
    place = folder / f"{NAME}.json"
    place.write_text(json.dumps(aggregate(*results, **changes), indent=2), "utf-8")
    return place
