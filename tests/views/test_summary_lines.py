"""The lines of a summary that no table has: means, spread, tokens; and no verdict that could be read as the score's."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.evaluators.answers.tokens import TokensUsed, tokens_used
from benchbook.evaluators.gates import RunVerdict
from benchbook.record.folder import Record
from benchbook.views.any_evaluator import _headline
from running import benchbook_here, run
from scored import scored
from scripted_server import always_good, running


def summary(record: Record) -> list[str]:
    return benchbook_here("show", str(record.path)).stdout.decode().splitlines()


def test_a_scored_run_has_its_spread_over_items(tmp_path: Path) -> None:
    """Two of five right: 0.4, with a standard deviation of sqrt(0.3)."""
    record = scored(tmp_path).record
    assert "Score: mean correctness 0.4000, SD over items 0.5477" in summary(record)
    assert tokens_used(record, 2) == TokensUsed(None, None)  # made elsewhere: nobody counted
    assert not [line for line in summary(record) if line.startswith("Tokens")]


def test_a_rubrics_run_has_means_spread_over_repeats_and_tokens(tmp_path: Path) -> None:
    """`always_good` takes 22 tokens an answer."""
    with running(always_good) as server:
        record = run(
            tmp_path, server, items=2, repeats=3, model_input_price=Decimal(1), model_output_price=Decimal(2)
        ).record
    lines = summary(record)
    assert "Accuracy, mean of 0 to 2: 2.000 (n = 6)" in lines
    assert "Tokens per fully correct answer: 22" in lines
    (taken,) = [line for line in lines if line.startswith("Tokens in all: ")]
    assert taken.startswith("Tokens in all: 132 (120 in, 12 out); $0.000")  # 120 at $1 and 12 at $2 a million
    assert [line for line in lines if line.startswith("Mean sample score, over 3 repeats: mean 1.0000, SD 0.0000")]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("pass", "Score 0.0000; the run itself: completed"), ("fail", "Score 0.0000; the run itself: failed")],
)
def test_a_verdict_on_the_run_is_no_word_of_the_score(verdict: Any, words: str) -> None:
    aggregates: Mapping[str, Any] = {"primary_score": 0.0}
    report: Any = SimpleNamespace(
        manifest=SimpleNamespace(spec="mine@v1"), evaluator=SimpleNamespace(primary="primary_score"),
        aggregates=aggregates, decision=RunVerdict(verdict=verdict, reason=None),
    )  # fmt: skip
    headline, tone, code = _headline(report)
    assert (headline, code) == (words, None)
    assert tone != "good"
