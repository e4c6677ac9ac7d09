"""Curves, their segments and thinning: cases by hand and what always holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import InputError
from benchbook.training import MetricPoint, curves, thin
from benchbook.training.curves import (
    TRAINING_TABLE,
    Curve,
    Place,
    Segments,
    read_training_table,
    training_rows,
    write_training_table,
)


def points(*steps: int, name: str = "loss") -> list[MetricPoint]:
    """Points in the order of a log; the value of the n-th is n."""
    segments = Segments()
    return [
        MetricPoint(
            name=name,
            step=step,
            value=float(index),
            segment=segments.of(name, step),
        )
        for index, step in enumerate(steps)
    ]


def curve(*places: tuple[int, float | None]) -> Curve:
    made = [MetricPoint(name="loss", step=step, value=value) for step, value in places]
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


@pytest.mark.slow
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
