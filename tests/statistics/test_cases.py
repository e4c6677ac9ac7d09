"""STATISTICS.md: the reference values of `statistics.json`, each from two independent computations."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import pytest

from benchbook import statistics as st
from support import cases, shared_data

Inputs = Mapping[str, Any]
Found = dict[str, Any]


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("statistics"))
def test_a_function_gives_the_value_of_the_case(case: dict[str, Any]) -> None:
    assert case["function"] in FUNCTIONS, f"no function {case['function']!r}"
    found = FUNCTIONS[case["function"]](case["inputs"], case["options"])
    for key, expected in case["expected"].items():
        assert key in found, f"no {key!r} in {found}"
        assert _same(found[key], expected, case["tolerance"]), f"{key}: found {found[key]}, expected {expected}"


def _same(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            _same(one, other, tolerance) for one, other in zip(found, expected, strict=True)
        )
    if expected is None or isinstance(expected, str):
        return bool(found == expected)
    return found is not None and math.isclose(found, expected, rel_tol=0, abs_tol=tolerance)


def _agreement(function: Callable[..., st.Agreement]) -> Callable[[Inputs, Inputs], Found]:
    def run(inputs: Inputs, options: Inputs) -> Found:
        return asdict(function(**inputs, **options))

    return run


def _cohens_kappa(inputs: Inputs, options: Inputs) -> Found:
    found = {weights: st.cohens_kappa(**inputs, **options, weights=weights) for weights in WEIGHTS}
    return asdict(found["unweighted"]) | {weights: one.estimate for weights, one in found.items()}


def _ppi(inputs: Inputs, options: Inputs) -> Found:
    renamed = {("judge_weight" if key == "lambda" else key): value for key, value in options.items()}
    found = asdict(st.prediction_powered_mean(**inputs, **renamed))
    return found | {"lambda": found["judge_weight"]}


def _rank_correlation(inputs: Inputs, options: Inputs) -> Found:
    found = st.rank_correlation(**inputs, **options)
    return {
        "kendall_tau_b": found.kendall_tau_b.estimate,
        "spearman": found.spearman.estimate,
        "reason": found.spearman.reason,
        "n": found.spearman.n,
    }


def _two_proportions(inputs: Inputs, options: Inputs) -> Found:
    found = asdict(st.sample_size_two_proportions(**inputs, **options))
    return found | {"n_per_group": found["n"]}


def _real_paired(inputs: Inputs, options: Inputs) -> Found:
    """Two of tunix-rt's real checkpoints on the same 100 items, the ten categories as clusters."""
    rows_a, rows_b = (
        [json.loads(line) for line in (shared_data("tunix-rt") / file).read_text("utf-8").splitlines() if line.strip()]
        for file in inputs["files"]
    )
    assert [row["id"] for row in rows_a] == [row["id"] for row in rows_b]
    a, b = ([int(_stands_inside(row)) for row in rows] for rows in (rows_a, rows_b))
    plain, clustered = st.paired_binary(a, b), st.paired_difference(a, b, clusters=[row["category"] for row in rows_a])
    return {
        "a": sum(a),
        "b": sum(b),
        "only_a": plain.only_a,
        "only_b": plain.only_b,
        "difference": plain.difference.estimate,
        "standard_error": plain.difference.standard_error,
        "clustered_standard_error": clustered.standard_error,
        "p_exact": plain.test.p_exact,
        "p_mid": plain.test.p_mid,
    }


def _stands_inside(row: Mapping[str, Any]) -> bool:
    return row["expected_answer"].strip().casefold() in row["predicted_answer"].casefold()


WEIGHTS: tuple[st.Weights, ...] = ("unweighted", "linear", "quadratic")
FUNCTIONS: dict[str, Callable[[Inputs, Inputs], Found]] = {
    "wilson_interval": lambda inputs, options: asdict(st.wilson(**inputs, **options)),
    "clopper_pearson_interval": lambda inputs, options: asdict(st.clopper_pearson(**inputs, **options)),
    "mean_interval": lambda inputs, options: asdict(st.mean_interval(**inputs, **options)),
    "clustered_standard_error": lambda inputs, options: asdict(st.clustered_mean(**inputs, **options)),
    "percentile_interval_ranks": lambda inputs, options: asdict(st.percentile_ranks(**inputs, **options)),
    "paired_difference": lambda inputs, options: asdict(st.paired_difference(**inputs, **options)),
    "mcnemar": lambda inputs, options: asdict(st.mcnemar(**inputs, **options)),
    "paired_permutation_test": lambda inputs, options: asdict(st.paired_permutation_test(**inputs, **options)),
    "wilcoxon_signed_rank": lambda inputs, options: asdict(st.wilcoxon_signed_rank(**inputs, **options)),
    "adjust_p_values": lambda inputs, options: asdict(st.adjust_p_values(**inputs, **options)),
    "cohens_kappa": _cohens_kappa,
    "gwet_ac1": _agreement(st.gwet_ac),
    "gwet_ac2": _agreement(st.gwet_ac),
    "krippendorff_alpha": _agreement(st.krippendorff_alpha),
    "fleiss_kappa": _agreement(st.fleiss_kappa),
    "rank_correlation": _rank_correlation,
    "rogan_gladen": lambda inputs, options: asdict(st.rogan_gladen(**inputs, **options)),
    "prediction_powered_mean": _ppi,
    "sample_size_two_proportions": _two_proportions,
    "sample_size_paired_binary": lambda inputs, options: asdict(st.sample_size_paired_binary(**inputs, **options)),
    "real_paired": _real_paired,
}
