"""A table in parts is the table of its rows, however it is cut; and parts made of columns are those of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.record import tables
from benchbook.record.columns import MadeColumn, Same, coded_lists, lists_of_one, part_of_columns, sizes_of
from benchbook.record.tables import TablePart, in_order, row_groups, table_parts, table_schema


class Made(msgspec.Struct):
    attempt: int
    text: str | None


class Row(msgspec.Struct):
    n: int
    text: str | None
    share: float | None
    passed: bool
    nothing: int | None
    reasons: list[str]
    made: list[Made]


_texts = st.none() | st.text(max_size=20) | st.sampled_from(['"\\', "\x00\n", "é😀"])
_rows = st.lists(
    st.builds(
        Row, n=st.integers(-(2**63), 2**63 - 1), text=_texts, share=st.none() | st.floats(0, 1e12),
        passed=st.booleans(), nothing=st.none(), reasons=st.lists(st.sampled_from(["a", "é"]), max_size=2),
        made=st.builds(Made, attempt=st.just(1), text=_texts).map(lambda one: [one]),
    ),
    min_size=1, max_size=12,
)  # fmt: skip
_BATCH, _BATCH_BYTES, _GROUP, _GROUP_BYTES = 4, 60, 8, 150


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        sizes = {"BATCH": _BATCH, "BATCH_BYTES": _BATCH_BYTES, "ROW_GROUP": _GROUP, "ROW_GROUP_BYTES": _GROUP_BYTES}
        for name, size in sizes.items():
            patched.setattr(tables, name, size)
        yield


def _group_ends(sizes: Sequence[int]) -> list[int]:
    """Where groups end, row by row: a batch ends at its rows or bytes, a group with a batch at its own."""
    ends, rows, size, of_batch, batch_bytes = [], 0, 0, 0, 0
    for place, one in enumerate(sizes, start=1):
        of_batch, batch_bytes = of_batch + 1, batch_bytes + one
        if of_batch == _BATCH or batch_bytes >= _BATCH_BYTES:
            rows, size, of_batch, batch_bytes = rows + of_batch, size + batch_bytes, 0, 0
            if rows >= _GROUP or size >= _GROUP_BYTES:
                ends.append(place)
                rows = size = 0
    return [*ends, *([len(sizes)] if len(sizes) not in ends and sizes else [])]


@given(sizes=st.lists(st.integers(1, 80), max_size=60), cuts=st.sets(st.integers(0, 60)))
def test_groups_do_not_depend_on_how_rows_are_cut(sizes: list[int], cuts: set[int]) -> None:
    whole = TablePart(pl.DataFrame({"n": range(len(sizes))}), pl.Series(sizes, dtype=pl.Int64).to_numpy())
    places = sorted({0, len(sizes), *(cut for cut in cuts if cut < len(sizes))})
    parts = [TablePart(whole.frame[start:end], whole.sizes[start:end]) for start, end in pairwise(places)]
    found = [one["n"].to_list() for one in row_groups(parts)]
    ends = _group_ends(sizes)
    assert found == [list(range(start, end)) for start, end in pairwise([0, *ends])]


@given(rows=_rows)
def test_columns_give_the_part_of_their_rows(rows: list[Row]) -> None:
    columns = {
        "n": [one.n for one in rows],
        "text": [one.text for one in rows],
        "share": [one.share for one in rows],
        "passed": [one.passed for one in rows],
        "nothing": Same(None),
        "reasons": coded_lists([tuple(one.reasons) for one in rows]),
        "made": lists_of_one(
            {"attempt": Same(1), "text": [one.made[0].text for one in rows]}, table_schema(Row)["made"], len(rows)
        ),
    }
    found = part_of_columns(Row, columns, len(rows))
    expected = list(table_parts(table_schema(Row), rows))
    assert found.frame.equals(pl.concat([one.frame for one in expected]))
    assert found.frame.schema == table_schema(Row)
    assert found.sizes.tolist() == [size for one in expected for size in one.sizes.tolist()]


def test_what_no_column_holds_is_refused() -> None:
    class Alone(msgspec.Struct):
        n: int | None = None
        text: str | None = None

    with pytest.raises(OverflowError):
        part_of_columns(Alone, {"n": [2**63], "text": Same(None)}, 1)
    with pytest.raises(UnicodeEncodeError):
        part_of_columns(Alone, {"n": Same(None), "text": ["half \ud800"]}, 1)


def test_parts_are_put_in_order_with_their_sizes() -> None:
    one, other = (TablePart(pl.DataFrame({"n": ns}), pl.Series(ns).to_numpy() * 10) for ns in ([0, 3, 4], [1, 2]))
    (found,) = in_order([one, other], "n")
    assert found.frame["n"].to_list() == [0, 1, 2, 3, 4]
    assert found.sizes.tolist() == [0, 10, 20, 30, 40]
    assert in_order([one], "n") == [one]
    assert in_order([], "n") == []


def test_sizes_are_those_of_json() -> None:
    assert sizes_of(["é", None, 1.5, True, [], "\n"]).tolist() == [4, 4, 3, 4, 2, 4]
    assert isinstance(coded_lists([("a",), (), ("a",)]), MadeColumn)
    assert coded_lists([("a",), (), ("a",)]).series.to_list() == [["a"], [], ["a"]]
