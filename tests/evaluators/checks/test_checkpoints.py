"""Seven real checkpoints under `contains@v1`, from the command line: their scores, and which of them differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests

from running import benchbook_here
from support import shared_data

# 40, 35, 61, 67, 72, 69 and 64 of 100 items hold what is expected.
SCORES = {
    "m45_m44_baseline": 0.40, "m45_post_stage_a": 0.35, "m45_post_stage_b": 0.61, "m45_post_stage_c": 0.67,
    "m46_m45_stage_c": 0.72, "m46_m46_control": 0.69, "m46_m46_self_correct": 0.64,
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record of each, and what its command printed."""
    data, folder = shared_data("tunix-rt"), tmp_path_factory.mktemp("checkpoints")
    for name in SCORES:
        words = ["--evalset", str(data / "eval_v2_original.jsonl"), "--run-id", name, "--reports", "none", "--json"]
        predictions = ["--predictions", str(data / f"{name}_predictions.jsonl")]
        done = benchbook_here("score", "contains@v1", *words, *predictions, cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / f"{name}.json").write_bytes(done.stdout)
    return folder


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def holds(name: str) -> list[bool]:
    """Of each item, whether the expected answer stands in the text: by lines that share nothing with Benchbook."""
    data = shared_data("tunix-rt")
    texts = {row["id"]: row["predicted_answer"] for row in rows(data / f"{name}_predictions.jsonl")}
    items = rows(data / "eval_v2_original.jsonl")
    return [item["expected_answer"].strip().casefold() in texts[item["id"]].casefold() for item in items]


@pytest.mark.parametrize(("name", "score"), SCORES.items())
def test_a_checkpoint_has_its_score(name: str, score: float, runs: Path) -> None:
    file = json.loads((runs / f"{name}.json").read_bytes())["aggregates"]
    assert (file["primary_score"], file["pass_rate"], file["n_passed"]) == (score, score, round(100 * score))
    assert file["n_passed"] == sum(holds(name))
    assert file["checks"]["contains"] == {"mean": score, "misses": {"not_inside": 100 - file["n_passed"]}}


@pytest.mark.slow
def test_which_of_them_differ(runs: Path) -> None:
    """Against McNemar's mid-p test by scipy's binomial, with Holm's p by statsmodels: stage A alone can't be told."""
    found = json.loads(benchbook_here("compare", *SCORES, "--json", cwd=runs).stdout)
    first, *others = (holds(name) for name in SCORES)
    lost = [sum(a > b for a, b in zip(first, other, strict=True)) for other in others]
    won = [sum(a < b for a, b in zip(first, other, strict=True)) for other in others]
    p = [
        min(1.0, 2 * binom.cdf(min(k, m), k + m, 0.5) - binom.pmf(min(k, m), k + m, 0.5))
        for k, m in zip(lost, won, strict=True)
    ]
    holm = multipletests(p, method="holm")[1]
    pairs = [pair["score"] for pair in found["comparisons"]]
    assert [(pair["n_lost"], pair["n_won"]) for pair in pairs] == list(zip(lost, won, strict=True))
    assert [pair["p"] for pair in pairs] == pytest.approx(p)
    assert [pair["verdict"] for pair in pairs] == ["better" if one <= 0.05 else "not_told" for one in holm]
    assert [pair["verdict"] for pair in pairs] == ["not_told", *["better"] * 5]


@pytest.mark.slow
def test_a_margin_is_held_to(runs: Path) -> None:
    """The regression gate: C of stage 46 is not worse than the baseline, and the baseline is worse than C."""
    words = ["gate", "m46_m45_stage_c", "--baseline", "m45_m44_baseline", "--json"]
    assert benchbook_here(*words, cwd=runs).returncode == 0
    words = ["gate", "m45_m44_baseline", "--baseline", "m46_m45_stage_c", "--json"]
    assert benchbook_here(*words, cwd=runs).returncode == 1
