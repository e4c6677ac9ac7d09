"""The seven real checkpoints and the trace run of `data/tunix-rt`, scored under `answer_correctness@v1` (SPEC A7)."""

from __future__ import annotations

import polars as pl
import pytest

from benchbook.evalsets import open_evalset
from benchbook.evalsets.predictions import align_predictions, items_frame, read_predictions
from benchbook.evaluators.correctness.columns import score_columns
from benchbook.evaluators.correctness.scorecard import floor_warning, tally_columns
from benchbook.evaluators.correctness.scoring import correctness, reason
from support import shared_data


@pytest.mark.parametrize(
    ("name", "n_inside"),
    [
        pytest.param("m45_m44_baseline", 40, id="m45-base"),
        pytest.param("m45_post_stage_a", 35, id="m45-stage-a"),
        pytest.param("m45_post_stage_b", 61, id="m45-stage-b"),
        pytest.param("m45_post_stage_c", 67, id="m45-stage-c"),
        pytest.param("m46_m45_stage_c", 72, id="m46-stage-c"),
        pytest.param("m46_m46_control", 69, id="m46-control"),
        pytest.param("m46_m46_self_correct", 64, id="m46-self-correct"),
        pytest.param("m44_v1_trace", 44, id="m44-trace"),
    ],
)
def test_a_real_checkpoint_scores_0_of_100_because_of_form(name: str, n_inside: int) -> None:
    folder = shared_data("tunix-rt")
    with open_evalset(folder / "eval_v2_original.jsonl", needs_expected_answer=True) as evalset:
        items = items_frame(evalset)
    rows = align_predictions(read_predictions(folder / f"{name}_predictions.jsonl"), items)
    scored = pl.concat([rows, score_columns(rows)], how="horizontal")
    for row in scored.iter_rows(named=True):
        assert row["correctness"] == correctness(row["expected"], row["predicted"])
        assert row["reason"] == reason(row["expected"], row["predicted"])
    card = tally_columns(scored).scorecard()
    assert (card.n_items, card.n_scored, card.primary_score, card.stddev) == (100, 100, 0.0, 0.0)
    assert card.misses["expected_inside_longer_text"] == n_inside
    assert [(part.value, part.n_items) for part in card.section] == [
        ("core", 60),
        ("trace_sensitive", 25),
        ("edge_case", 15),
    ]
    assert floor_warning(card) is not None
