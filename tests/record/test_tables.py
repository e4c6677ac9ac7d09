"""Derived tables: what is written is what is read, and the same rows are the same bytes (SPEC C6)."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import RecordError
from benchbook.evalsets.parquet_footer import Footer
from benchbook.record import tables
from benchbook.record.tables import ROW_GROUP, read_rows, row_of_sample, table_schema, write_table, writer_version
from support import examples


class Part(msgspec.Struct):
    name: str
    score: int | None = None


class Row(msgspec.Struct):
    n: int
    text: str | None = None
    share: float | None = None
    passed: bool | None = None
    reasons: list[str] = msgspec.field(default_factory=list)
    parts: list[Part] = msgspec.field(default_factory=list)
    best: Part | None = None


def written(folder: Path, *rows: Row) -> Path:
    path = folder / "rows.parquet"
    write_table(path, Row, rows)
    return path


def kept(folder: Path, *rows: Row) -> list[Row]:
    return list(read_rows(written(folder, *rows), Row))


FULL = Row(
    n=1, text="é", share=0.5, passed=True, reasons=["a", "b"], parts=[Part("p", 1), Part("q")], best=Part("r", 2)
)


# ── types ────────────────────────────────────────────────────────────────────────────────────────────────


def test_columns_are_the_rows_fields_and_no_others() -> None:
    part = pl.Struct({"name": pl.String, "score": pl.Int64})
    assert table_schema(Row) == pl.Schema(
        {"n": pl.Int64, "text": pl.String, "share": pl.Float64, "passed": pl.Boolean,
         "reasons": pl.List(pl.String), "parts": pl.List(part), "best": part}
    )  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(FULL, id="full"),
        pytest.param(Row(n=0), id="nulls"),
        pytest.param(Row(n=-(2**63)), id="least-integer"),
        pytest.param(Row(n=2**63 - 1), id="greatest-integer"),
        pytest.param(Row(n=0, share=1e-9), id="a-billionth"),
        pytest.param(Row(n=0, share=0.1 + 0.2), id="all-digits-of-a-float"),
        pytest.param(Row(n=0, share=5e-324), id="least-float"),
        pytest.param(Row(n=0, share=3.0), id="whole-float"),
        pytest.param(Row(n=0, passed=False), id="false-is-not-null"),
        pytest.param(Row(n=0, text=""), id="empty-is-not-null"),
        pytest.param(Row(n=0, parts=[Part("")]), id="a-part-with-null"),
        pytest.param(Row(n=0, text="2026-01-01T00:00:00Z"), id="a-time-stays-a-text"),
        pytest.param(Row(n=0, text="7"), id="a-number-stays-a-text"),
        pytest.param(Row(n=0, text="null"), id="the-word-null"),
        pytest.param(Row(n=0, text='{"a": ["\\n"]}'), id="json-in-a-text"),
        pytest.param(Row(n=0, text="a\r\nb\u2028c\x85d"), id="line-ends"),
        pytest.param(Row(n=0, text="\0\x1b[31m\u202e\ufeff\U0001f600\U0010ffff"), id="controls"),
        pytest.param(Row(n=0, text="x" * 3_000_000), id="three-megabytes"),
    ],
)
def test_a_row_comes_back(tmp_path: Path, row: Row) -> None:
    assert kept(tmp_path, row) == [row]


@pytest.mark.parametrize(
    ("row", "stored"),
    [
        (Row(n=0, text="\ud835x"), Row(n=0, text="\\ud835x")),
        (Row(n=0, reasons=["a", "\udc00"]), Row(n=0, reasons=["a", "\\udc00"])),
        (Row(n=0, parts=[Part("\ud835\ud835")]), Row(n=0, parts=[Part("\\ud835\\ud835")])),
    ],
    ids=["text", "list", "part"],
)
def test_a_lone_surrogate_is_stored_as_its_escape(tmp_path: Path, row: Row, stored: Row) -> None:
    """Parquet's texts are UTF-8, which can't hold it; the journal keeps it as it came."""
    assert kept(tmp_path, FULL, row, FULL) == [FULL, stored, FULL]


texts = st.text() | st.none()
parts = st.builds(Part, st.text(), st.integers(-(2**63), 2**63 - 1) | st.none())
rows = st.builds(
    Row,
    n=st.integers(-(2**63), 2**63 - 1),
    text=texts,
    share=st.floats(allow_nan=False, allow_infinity=False) | st.none(),
    passed=st.booleans() | st.none(),
    reasons=st.lists(st.text(), max_size=3),
    parts=st.lists(parts, max_size=2),
    best=parts | st.none(),
)


@examples(60)
@given(st.lists(rows, max_size=6))
def test_any_rows_come_back(tmp_path_factory: pytest.TempPathFactory, given_rows: list[Row]) -> None:
    assert kept(tmp_path_factory.mktemp("rows"), *given_rows) == given_rows


def test_no_rows_are_a_table_with_its_columns(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert list(read_rows(path, Row)) == []
    assert list(pl.read_parquet_schema(path)) == list(Row.__struct_fields__)


def test_polars_reads_it(tmp_path: Path) -> None:
    frame = pl.read_parquet(written(tmp_path, FULL, Row(n=2)))
    assert frame["n"].to_list() == [1, 2]
    assert frame["parts"].to_list() == [[{"name": "p", "score": 1}, {"name": "q", "score": None}], []]


# ── many rows ────────────────────────────────────────────────────────────────────────────────────────────

COUNTS = [1, tables.BATCH - 1, tables.BATCH, tables.BATCH + 1, 3_000]


@pytest.mark.parametrize("count", COUNTS)
def test_rows_come_back_in_order(tmp_path: Path, count: int) -> None:
    path = tmp_path / "rows.parquet"
    write_table(path, Row, (Row(n=n, text=f"t{n}") for n in range(count)))
    assert [row.n for row in read_rows(path, Row)] == list(range(count))


@pytest.mark.parametrize(
    ("count", "text", "groups"),
    [(3_000, "x", 1), (ROW_GROUP, "x", 1), (ROW_GROUP + 1, "x", 2), (3_000, "x" * 10_000, 4)],
    ids=["one-group", "a-full-group", "one-row-more", "long-texts-in-smaller-groups"],
)
def test_row_groups_are_bounded_in_rows_and_bytes(tmp_path: Path, count: int, text: str, groups: int) -> None:
    path = tmp_path / "rows.parquet"
    write_table(path, Row, (Row(n=n, text=text) for n in range(count)))
    assert len(Footer.of(path).groups) == groups
    assert [row.n for row in read_rows(path, Row)] == list(range(count))


def test_long_texts_end_a_batch_and_its_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the texts are, no more of them is held at once than a batch and one row."""
    monkeypatch.setattr(tables, "BATCH_BYTES", 1_000)
    monkeypatch.setattr(tables, "ROW_GROUP_BYTES", 1_000)
    path = tmp_path / "rows.parquet"
    write_table(path, Row, (Row(n=n, text="x" * 400) for n in range(7)))
    assert [group.n_rows for group in Footer.of(path).groups] == [3, 3, 1]
    assert [row.n for row in read_rows(path, Row)] == list(range(7))


def test_a_surrogate_in_one_batch_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_table(path, Row, (Row(n=n, text="\ud800" if n == 1_500 else "x") for n in range(3_000)))
    found = list(read_rows(path, Row))
    assert [row.n for row in found if row.text != "x"] == [1_500]
    assert found[1_500].text == "\\ud800"


# ── the same rows, the same bytes ────────────────────────────────────────────────────────────────────────


def many() -> list[Row]:
    return [Row(n=n, text=f"t{n % 7}" * (n % 50), share=n / 7, reasons=["r"] * (n % 3)) for n in range(5_000)]


def test_the_same_rows_are_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_table(first, Row, many())
    write_table(second, Row, iter(many()))
    assert first.read_bytes() == second.read_bytes()


def test_the_same_rows_are_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Neither hash seed, nor time zone, nor the number of processors stands in them."""
    code = (
        "import msgspec, sys; from pathlib import Path; from benchbook.record.tables import write_table\n"
        "class Row(msgspec.Struct):\n    n: int\n    text: str\n"
        "write_table(Path(sys.argv[1]), Row, (Row(n, f't{n % 7}') for n in range(5_000)))"
    )
    for name, seed, zone in (("a", "1", "UTC"), ("b", "2", "Asia/Tokyo")):
        environment = {"PYTHONHASHSEED": seed, "TZ": zone, "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": seed}
        subprocess.run([sys.executable, "-c", code, tmp_path / name], check=True, env=environment)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("change", [{"text": "u"}, {"share": 0.25}, {"passed": None}, {"reasons": []}])
def test_other_rows_are_other_bytes(tmp_path: Path, change: dict[str, Any]) -> None:
    before = written(tmp_path, FULL).read_bytes()
    assert written(tmp_path, msgspec.structs.replace(FULL, **change)).read_bytes() != before


def test_what_else_the_bytes_depend_on_has_a_name() -> None:
    assert writer_version() == f"polars {pl.__version__}"


# ── whole or not at all ──────────────────────────────────────────────────────────────────────────────────


def test_rows_that_fail_half_way_leave_what_was_there(tmp_path: Path) -> None:
    path = written(tmp_path, FULL)
    before = path.read_bytes()

    def broken() -> Any:
        yield from (Row(n=n) for n in range(1_000))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_table(path, Row, broken())
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["rows.parquet"]


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"rows\.parquet: can't be written"):
        write_table(tmp_path / "none" / "rows.parquet", Row, [FULL])


@pytest.mark.parametrize("what", ["missing", "empty", "garbage", "cut", "folder", "a-changed-end"])
def test_what_is_no_table_is_refused(tmp_path: Path, what: str) -> None:
    path = written(tmp_path, FULL)
    data = path.read_bytes()
    match what:
        case "missing":
            path.unlink()
        case "folder":
            path.unlink()
            path.mkdir()
        case _:
            changed = {"empty": b"", "garbage": b"x" * 500, "cut": data[:-20], "a-changed-end": data[:-6] + b"\xff" * 6}
            path.write_bytes(changed[what])
    with pytest.raises(RecordError, match=r"rows\.parquet: not a readable table"):
        list(read_rows(path, Row))


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "parts.parquet", Part, [Part("p")])
    with pytest.raises(RecordError, match="not a readable table"):
        list(read_rows(tmp_path / "parts.parquet", Row))


# ── start-up ─────────────────────────────────────────────────────────────────────────────────────────────


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    """Where it is installed, it would cost 40 MB and 0.2 s for nothing; and so would pyarrow."""
    code = (
        "import msgspec, sys; from pathlib import Path; from benchbook.record.tables import read_rows, write_table\n"
        "class Row(msgspec.Struct):\n    n: int\n    text: str | None = None\n    reasons: list[str] = []\n"
        "path = Path(sys.argv[1])\n"
        "write_table(path, Row, (Row(n, '\\ud800') for n in range(300)))\n"
        "assert len(list(read_rows(path, Row))) == 300\n"
        "print(*sys.modules)"
    )
    (tmp_path / "pandas.py").write_text("", encoding="utf-8")  # one is installed, at any rate
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    found = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "t"], check=True, env=environment, capture_output=True, encoding="utf-8"
    )
    assert not {"pandas", "pyarrow"} & set(found.stdout.split())


def test_a_disk_that_can_not_be_written_is_told_and_nothing_hides_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a read-only disk the temporary file can't be made, and can't be taken away either."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "unlink", refuse)
    monkeypatch.setattr(tables, "footer_bytes", refuse)
    with pytest.raises(RecordError, match=r"t\.parquet: can't be written \(Read-only file system\)"):
        write_table(tmp_path / "t.parquet", Row, [])


class Sampled(msgspec.Struct):
    sample: int
    text: str = "x" * 40


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every second sample: a run that was stopped has gaps."""
    path = tmp_path_factory.mktemp("sampled") / "samples.parquet"
    write_table(path, Sampled, (Sampled(sample) for sample in range(0, 30_001, 2)))
    return path


@pytest.mark.parametrize(
    ("sample", "found"),
    [(0, 0), (10, 10), (2 * ROW_GROUP, 2 * ROW_GROUP), (30_000, 30_000), (11, None), (30_010, None), (-1, None)],
)
def test_one_sample_is_found_in_any_row_group(sampled: Path, sample: int, found: int | None) -> None:
    row = row_of_sample(sampled, Sampled, sample)
    assert (row.sample if row else None) == found


def test_one_sample_of_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"no table")
    with pytest.raises(RecordError, match="not a readable table"):
        row_of_sample(tmp_path / "t", Sampled, 0)
