"""A model and a judge of this process, and what they are asked."""

from __future__ import annotations

from typing import Any

ROWS: list[dict[str, Any]] = [
    {
        "id": f"i{n}",
        "prompt": f"{n} and {n}?",
        "expected_answer": str(2 * n),
        "section": "core" if n % 2 else "edge_case",
    }
    for n in range(1, 9)
]


def doubling(prompt: str) -> dict[str, Any]:
    """Right but for 4 and 8."""
    n = int(prompt.split()[0])
    return {"text": str(2 * n) if n % 4 else "no <b>idea</b>", "input_tokens": 5, "output_tokens": 2}


def kindly(prompt: str) -> dict[str, Any]:
    accuracy = 0 if "candidate_answer: no" in prompt else 2
    text = f'{{"accuracy_score": {accuracy}, "faithfulness_score": 2, "rationale": "So."}}'
    return {"text": text, "input_tokens": 9, "output_tokens": 9}
