"""Judged answers of an audit, made up, and a judge whose biases are planted."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from benchbook.judge_audit.effects import JudgedAnswers, JudgeEffect, judge_effects
from benchbook.judge_audit.stages import Look

GRADES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
SHARES = np.array([0.05, 0.1, 0.2, 0.3, 0.35])  # of a judge's scores, as those of many judges


def answers(scores: Sequence[float | None], groups: Sequence[str] | None = None) -> JudgedAnswers:
    n = len(scores)
    return JudgedAnswers(
        pl.DataFrame(
            {
                "item_id": [f"i{k}" for k in range(n)],
                "group": pl.Series(groups or [None] * n, dtype=pl.String),
                "judge_score": pl.Series(scores, dtype=pl.Float64),
                "sample_score": pl.Series(scores, dtype=pl.Float64),
                "passed": [one is not None and one > 0.5 for one in scores],
            }
        )
    )


def effects(
    judged: Mapping[str, JudgedAnswers], *, margin: float = 0.05, confidence: float = 0.95, seed: int = 0
) -> dict[str, JudgeEffect]:
    n = len(judged["original"].rows)
    found = judge_effects(judged, lambda _: Look(n, confidence), margin=margin, seed=seed)
    return {one.variant: one for one in found}


def judged_anew(rng: np.random.Generator, base: Any, bias: float, *, noise: float = 0.3) -> Any:
    """Scores of a judge that gives a share of the answers another score by chance, and moves each that has room by a
    grade, or two, as often as moves the mean by `bias`. Answers are independent of one another."""
    changes = rng.random(base.size) < noise
    scores = np.where(changes, rng.choice(GRADES, base.size, p=SHARES), base)
    if not bias:
        return scores
    step = np.sign(bias) * (0.25 if abs(bias) < 0.15 else 0.5)
    share = bias / ((np.clip(GRADES + step, 0.0, 1.0) - GRADES) @ SHARES)
    return np.where(rng.random(base.size) < share, np.clip(scores + step, 0.0, 1.0), scores)


def sum_items(n: int) -> list[dict[str, Any]]:
    return [{"id": f"i{k}", "prompt": f"What is {k} + {k % 7}?", "expected_answer": str(k + k % 7)} for k in range(n)]


def adds_up(prompt: Any) -> dict[str, Any]:
    """A model that is wrong on every fifth sum, and says so at length."""
    a, b = map(int, re.findall(r"\d+", str(prompt))[:2])
    text = f"Sure! Here is the answer. The sum is {a + b if a % 5 else a + b + 1}.\n\nI hope this helps!"
    return {"text": text, "input_tokens": 20, "output_tokens": 12}


def planted_judge(
    bias_of: Callable[[str], int] = lambda _: 0, asked: list[str] | None = None, *, reads_reference: bool = True
) -> Callable[[Any], str]:
    """A judge of sums that gives a right answer 2 and a wrong one 0, and to some by chance 1 less: by the text alone,
    so that it says the same again. `bias_of` an answer moves its scores; `asked` notes what it was asked."""

    def judge(prompt: Any) -> str:
        text = str(prompt)
        if asked is not None:
            asked.append(text)
        reference = re.search(r"^- reference_answer: (.*)$", text, re.MULTILINE)
        answer = text.split("- candidate_answer: ", 1)[1].split("\n\nINSTRUCTIONS", 1)[0]
        assert reference is not None
        said = re.search(r"The sum is (\d+)\.", answer)
        right = said is not None and (said[1] == reference[1].strip() or not reads_reference)
        chance = hashlib.sha256(answer.encode()).digest()[0] / 256
        score = (2 if right else 0) - (1 if right and chance < 0.3 else 0) + bias_of(answer)
        score = max(0, min(2, score))
        return json.dumps({"accuracy_score": score, "faithfulness_score": score, "rationale": "As planted."})

    return judge
