"""Curves, their segments, alignment between runs, smoothing and thinning: cases by hand and what always holds."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import ConfigError, InputError
from benchbook.training import MetricPoint, align, curves, smooth, thin
from benchbook.training.curves import Curve, CurveFault, Place, on_axis
from benchbook.training.points import TRAINING_TABLE, Segments, read_training_table, training_rows, write_training_table


def points(*steps: int, name: str = "loss", tokens_a_step: int | None = None) -> list[MetricPoint]:
    """Points in the order of a log; the value of the n-th is n."""
    segments = Segments()
    return [
        MetricPoint(
            name=name,
            step=step,
            value=float(index),
            segment=segments.of(name, step),
            tokens=None if tokens_a_step is None else step * tokens_a_step,
        )
        for index, step in enumerate(steps)
    ]


def curve(*places: tuple[int, float | None], tokens_a_step: int | None = None) -> Curve:
    made = [
        MetricPoint(name="loss", step=step, value=value, tokens=tokens_a_step and step * tokens_a_step)
        for step, value in places
    ]
    return Curve("loss", tuple(made))


@pytest.mark.parametrize(
    ("steps", "main", "replaced"),
    [
        ((1, 2, 3), [(1, 0), (2, 1), (3, 2)], []),
        # Started again from a checkpoint: what came before it stays.
        ((10, 20, 30, 20, 30, 40), [(10, 0), (20, 3), (30, 4), (40, 5)], [[(20, 1), (30, 2)]]),
        # Started again from nothing.
        ((10, 20, 10), [(10, 2)], [[(10, 0), (20, 1)]]),
        # Twice, the second time from further back: the first restart lost its points too.
        ((10, 20, 30, 20, 30, 15, 25), [(10, 0), (15, 5), (25, 6)], [[(20, 1), (30, 2)], [(20, 3), (30, 4)]]),
        # Twice, the second time from further on.
        ((10, 20, 30, 15, 25, 35, 30), [(10, 0), (15, 3), (25, 4), (30, 6)], [[(20, 1), (30, 2)], [(35, 5)]]),
    ],
)
def test_the_last_segment_counts(
    steps: tuple[int, ...], main: list[tuple[int, int]], replaced: list[list[tuple[int, int]]]
) -> None:
    found = curves(points(*steps))["loss"]
    assert [(point.step, point.value) for point in found.points] == main
    assert [[(point.step, point.value) for point in segment] for segment in found.replaced] == replaced


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_nothing_is_lost_and_steps_rise(steps: list[int]) -> None:
    made = points(*steps)
    found = curves(made)["loss"]
    kept = [*found.points, *(point for segment in found.replaced for point in segment)]
    assert sorted(kept, key=lambda point: point.value or 0) == made
    rising = [point.step for point in found.points]
    assert rising == sorted(set(rising))
    assert found.points[-1] == made[-1]
    # A step that counts was not logged again later.
    for point in found.points:
        assert all(later.step > point.step for later in made[int(point.value or 0) + 1 :])


def test_curves_by_name_in_their_order() -> None:
    found = curves([*points(2, name="b"), *points(1, 2, name="a")])
    assert {name: len(one.points) for name, one in found.items()} == {"b": 1, "a": 2}
    assert curves([]) == {}
    assert curve((1, None), (2, 1.0)).n_not_finite == 1


def test_alignment_by_hand() -> None:
    a, b = curve((0, 4.0), (10, 2.0), (20, 1.0)), curve((5, 8.0), (15, 6.0))
    found = align({"a": a, "b": b}, "step")
    assert found.at == (0, 5, 10, 15, 20)
    assert found.values == {"a": (4.0, 3.0, 2.0, 1.5, 1.0), "b": (None, 8.0, 7.0, 6.0, None)}
    assert found.left_out == {}


def test_beside_a_value_that_was_not_finite_there_is_no_line() -> None:
    found = align({"a": curve((0, 1.0), (10, None), (20, 3.0)), "b": curve((5, 1.0), (10, 1.0), (15, 1.0))}, "step")
    assert found.values["a"] == (1.0, None, None, None, 3.0)


def test_by_tokens_and_what_was_logged_without_them() -> None:
    runs = {
        "small": curve((1, 1.0), (3, 3.0), tokens_a_step=100),
        "large": curve((1, 5.0), (2, 6.0), tokens_a_step=200),
        "silent": curve((1, 1.0)),
        "empty": Curve("loss", ()),
    }
    found = align(runs, "tokens")
    assert found.at == (100, 200, 300, 400)
    assert found.values == {"small": (1.0, 2.0, 3.0, None), "large": (None, 5.0, 5.5, 6.0)}
    assert found.left_out == {"silent": "it was logged without token counts", "empty": "it has no points"}


def timed(*times: float | None) -> Curve:
    made = [MetricPoint(name="loss", step=n, value=float(n), time_s=time) for n, time in enumerate(times)]
    return Curve("loss", tuple(made))


def test_time_counts_from_the_first_point() -> None:
    assert on_axis(timed(1000.0, None, 1010.0, 1010.0, 1015.5), "time") == [(0.0, 0.0), (10.0, 3.0), (15.5, 4.0)]
    with pytest.raises(CurveFault, match="its times go back at step 1,000"):
        on_axis(timed(*range(1000), 5.0), "time")


places = st.lists(
    st.tuples(st.integers(0, 1000), st.none() | st.floats(-1e6, 1e6)),
    min_size=1,
    max_size=80,
    unique_by=lambda one: one[0],
).map(sorted)


@given(st.dictionaries(st.text(max_size=3), places, min_size=1, max_size=4))
def test_alignment_keeps_what_was_logged_and_invents_nothing(made: dict[str, list[tuple[int, float | None]]]) -> None:
    found = align({name: curve(*one) for name, one in made.items()}, "step")
    assert found.at == tuple(sorted({step for one in made.values() for step, _ in one}))
    for name, one in made.items():
        logged = dict(one)
        known = [value for value in logged.values() if value is not None]
        for at, value in zip(found.at, found.values[name], strict=True):
            if at in logged:
                assert value == logged[int(at)]
            elif value is not None:
                assert min(logged) < at < max(logged)
                assert min(known) - 1e-6 <= value <= max(known) + 1e-6


def test_smoothing_by_hand() -> None:
    # Weight 0.5: mean 2, then 3, then 4.5; corrected by 1/2, 3/4, 7/8.
    assert smooth([4.0, 4.0, 6.0], 0.5) == [4.0, 4.0, 4.5 / 0.875]
    assert smooth([4.0, None, 4.0], 0.9) == pytest.approx([4.0, None, 4.0])
    assert smooth([1.0, 2.0, 3.0], 0) == [1.0, 2.0, 3.0]
    assert smooth([], 0.5) == []


@given(st.lists(st.none() | st.floats(-1e6, 1e6)), st.floats(0, 0.999))
def test_smoothing_stays_within_the_values(values: list[float | None], weight: float) -> None:
    smoothed = smooth(values, weight)
    known = [value for value in values if value is not None]
    assert [value is None for value in smoothed] == [value is None for value in values]
    assert all(min(known) - 1e-3 <= value <= max(known) + 1e-3 for value in smoothed if value is not None)


@pytest.mark.parametrize("weight", [-0.1, 1, 1.5, math.nan])
def test_a_weight_that_is_none(weight: float) -> None:
    with pytest.raises(ConfigError, match="smoothing: found"):
        smooth([1.0], weight)


@given(st.lists(st.none() | st.floats(-1e6, 1e6), max_size=400), st.integers(5, 60))
def test_thinning_keeps_what_would_be_seen(values: list[float | None], most: int) -> None:
    made: list[Place] = [(float(index), value) for index, value in enumerate(values)]
    thinned = thin(made, most)
    assert len(thinned) <= most
    assert thinned == [place for place in made if place in set(thinned)]
    if len(made) <= most:
        assert thinned == made
        return
    assert (thinned[0], thinned[-1]) == (made[0], made[-1])
    known = [value for value in values if value is not None]
    kept = [value for _, value in thinned if value is not None]
    assert [f(known, default=None) for f in (min, max)] == [f(kept, default=None) for f in (min, max)]
    assert (None in values) == any(value is None for _, value in thinned)


def test_a_single_spike_among_a_million_stays() -> None:
    made: list[Place] = [(float(index), 1.0) for index in range(1_000_000)]
    made[654_321] = (654_321.0, 9.0)
    made[123_456] = (123_456.0, None)
    thinned = thin(made, 1000)
    assert len(thinned) <= 1000
    assert {(654_321.0, 9.0), (123_456.0, None)} <= set(thinned)


def test_the_table_of_a_record(tmp_path: Path) -> None:
    made = [
        MetricPoint(name="loss", step=1, value=2.5, tokens=7, time_s=1.5, line=1),
        MetricPoint(name="eval/l\u00f6ss", step=-(2**62), value=None, segment=3),
    ]
    path = tmp_path / TRAINING_TABLE
    write_training_table(path, training_rows("train.jsonl", made))
    rows = list(read_training_table(path))
    assert [row.source for row in rows] == ["train.jsonl"] * 2
    assert [row.point() for row in rows] == made


def test_a_fault_half_way_leaves_no_table(tmp_path: Path) -> None:
    def broken() -> object:
        yield from training_rows("a", points(1, 2, 3))
        raise InputError("a", line=4, found="no JSON")

    with pytest.raises(InputError):
        write_training_table(tmp_path / TRAINING_TABLE, broken())  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
