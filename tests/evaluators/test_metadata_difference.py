"""The difference of two manifests, leaf by leaf (SPEC A11)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.measured import LeafDifference, measured_differences, metadata_difference, unknown_in_both


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"n": 1}, {"n": 1}, []),
        ({"n": 1}, {"n": 2}, [("n", 1, 2)]),
        ({"n": 1}, {"n": 1.0}, [("n", 1, 1.0)]),
        ({"n": 1}, {"n": True}, [("n", 1, True)]),
        ({"n": None}, {}, [("n", None, "absent")]),
        ({}, {"n": 0}, [("n", "absent", 0)]),
        ({"config": {"model": {"stop": ["a", "b"]}}}, {"config": {"model": {"stop": ["a", "c", "d"]}}},
         [("config.model.stop[1]", "b", "c"), ("config.model.stop[2]", "absent", "d")]),
        ({"config": {}}, {"config": {"a": 1}}, [("config", {}, "absent"), ("config.a", "absent", 1)]),
        ({"x": {"a.b": 1, "": 2}}, {"x": {"a.b": 2, "": 3}}, [("x['']", 2, 3), ("x['a.b']", 1, 2)]),
        ({"run_id": "a", "journal_sha256": "1"}, {"run_id": "b", "journal_sha256": "2"}, []),
    ],
)  # fmt: skip
def test_every_leaf_that_differs(a: dict[str, Any], b: dict[str, Any], expected: list[tuple[str, Any, Any]]) -> None:
    found = metadata_difference(a, b)
    assert [(one.path, one.a if one.in_a else "absent", one.b if one.in_b else "absent") for one in found] == expected


SAME = {
    "dataset_version_or_hash": "sha256:1",
    "prompt_template_version_or_hash": "sha256:2",
    "generation_params_effective": {"temperature": 0.0},
    "spec": "rubric@v1",
    "spec_sha256": "3",
    "evaluator_model_id": "judge@1",
}


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({}, []),
        ({"model_id": "another"}, []),
        ({"dataset_version_or_hash": "sha256:9"}, ["evalset"]),
        ({"prompt_template_version_or_hash": None}, ["prompt_template"]),
        ({"generation_params_effective": {"temperature": 0.7}}, ["generation_params"]),
        ({"spec_sha256": "4"}, ["spec"]),
        ({"reasoning_tags": ["think"]}, ["spec"]),
        ({"evaluator_model_version": "2026-01-01", "spec": "rubric@v2"}, ["spec", "judge"]),
    ],
)
def test_what_was_measured(change: dict[str, Any], names: list[str]) -> None:
    assert [one.name for one in measured_differences(SAME, SAME | change)] == names


def test_what_neither_run_knows() -> None:
    assert unknown_in_both({"spec": "s"}, {"spec": "s", "prompt_template_version_or_hash": ""}) == (
        "evalset", "prompt_template", "generation_params",
    )  # fmt: skip
    assert unknown_in_both(SAME, {}) == ()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abc"), values), st.dictionaries(st.sampled_from("abc"), values))
def test_no_difference_exactly_where_they_are_equal_and_the_way_back_is_the_mirror(
    a: dict[str, Any], b: dict[str, Any]
) -> None:
    found = metadata_difference(a, b)
    assert bool(found) == (repr(_sorted(a)) != repr(_sorted(b)))
    mirrored = tuple(LeafDifference(path=one.path, a=one.b, b=one.a, in_a=one.in_b, in_b=one.in_a) for one in found)
    assert metadata_difference(b, a) == mirrored


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value
