"""Parquet of any writer is read; whatever is wrong with a file is one error, and never the end of the process."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchbook.errors import InputError
from benchbook.evalsets.parquet import ParquetError, ParquetFile
from benchbook.evalsets.parquet_footer import FooterError, Struct, decoded, encoded, footer_bytes
from benchbook.evalsets.predictions import foreign_parquet
from benchbook.evalsets.tables import read_table

ROWS = 300
TABLE = pa.table(
    {
        "n": range(ROWS),
        "text": [f"t{n % 7}" * (n % 50) if n % 3 else None for n in range(ROWS)],
        "parts": [[{"name": "p", "score": n}] * (n % 4) for n in range(ROWS)],
    }
)


def written(folder: Path, table: pa.Table = TABLE, **how: Any) -> Path:
    path = folder / "rows.parquet"
    pq.write_table(table, path, **how)
    return path


# ── by whom it was written ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (pa.array(["é"], pa.large_string()), "é"),
        (pa.array(["a"]).dictionary_encode(), "a"),
        (pa.array([Decimal("1.25")], pa.decimal128(20, 2)), Decimal("1.25")),
        (pa.array([datetime(2026, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")), datetime(2026, 1, 1, tzinfo=UTC)),
        (pa.array([date(2026, 1, 1)]), date(2026, 1, 1)),
        (pa.array([timedelta(1)]), timedelta(1)),
        (pa.array([b"\0\xff"]), b"\0\xff"),
        (pa.array([2**63], pa.uint64()), 2**63),
        (pa.array([[{"a": [1, None]}]]), [{"a": [1, None]}]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), {"k": 1}),
        (pa.array([[1.0, 2.0]], pa.list_(pa.float64(), 2)), [1.0, 2.0]),
        (pa.nulls(1), None),
    ],
    ids=lambda value: str(getattr(value, "type", "")) or None,
)
def test_any_type_is_read(tmp_path: Path, array: pa.Array, value: Any) -> None:
    assert list(read_table(written(tmp_path, pa.table({"a": array})))) == [(1, {"a": value})]


@pytest.mark.parametrize(
    "how",
    [
        {"compression": "none", "use_dictionary": False},
        {"compression": "snappy", "row_group_size": 70},
        {"compression": "gzip", "data_page_size": 100},
        {"compression": "lz4"},
        {"compression": "brotli"},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"version": "1.0", "write_page_index": True, "write_page_checksum": True},
        {"use_dictionary": False, "column_encoding": {"n": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY"}},
    ],
    ids=lambda how: "-".join(map(str, how.values())),
)
def test_however_it_is_packed(tmp_path: Path, how: dict[str, Any]) -> None:
    table = TABLE.select(["n", "text"]) if "column_encoding" in how else TABLE
    path = written(tmp_path, table, **how)
    assert [row for _, row in read_table(path)] == table.to_pylist()


def test_whole_columns_are_read_over_all_row_groups(tmp_path: Path) -> None:
    with foreign_parquet(written(tmp_path, row_group_size=70)) as file:
        found = file.select({"twice": pl.col("n") * 2, "text": pl.col("text")})
    assert found.to_dict(as_series=False) == {"twice": list(range(0, 600, 2)), "text": TABLE["text"].to_pylist()}


@pytest.mark.parametrize("table", [TABLE.slice(0, 0), pa.table({"a": pa.array([], pa.string())})])
def test_a_table_without_rows_has_none(tmp_path: Path, table: pa.Table) -> None:
    assert list(read_table(written(tmp_path, table))) == []


def test_a_few_rows_are_read_from_where_they_are(tmp_path: Path) -> None:
    file = ParquetFile(written(tmp_path, row_group_size=70))
    assert file.rows(138, 4, ["n"])["n"].to_list() == [138, 139, 140, 141]
    assert [len(frame) for frame in file.frames()] == [ROWS]  # small groups come together


def test_a_file_that_changes_while_it_is_read_is_told(tmp_path: Path) -> None:
    file = ParquetFile(written(tmp_path))
    written(tmp_path, TABLE.slice(0, 10))
    with pytest.raises(ParquetError, match="written anew"):
        list(file.frames())


# ── what is wrong with it ────────────────────────────────────────────────────────────────────────────────

Change = Callable[[Struct], None]


def with_footer(path: Path, change: Change) -> None:
    data = path.read_bytes()
    footer = footer_bytes(io.BytesIO(data))
    fields, _ = decoded(footer)
    change(fields)
    new = encoded(fields)
    path.write_bytes(data[: -8 - len(footer)] + new + len(new).to_bytes(4, "little") + b"PAR1")


def groups(fields: Struct) -> list[Struct]:
    return fields[4][1][1]


def of_first_column(field: int, value: int) -> Change:
    def change(fields: Struct) -> None:
        groups(fields)[0][1][1][1][0][3][1][field] = (6, value)

    return change


def rows_everywhere(n: int) -> Change:
    def change(fields: Struct) -> None:
        fields[3] = groups(fields)[0][3] = (6, n)
        for column in groups(fields)[0][1][1][1]:
            column[3][1][5] = (6, n)

    return change


def deep(fields: Struct) -> None:
    root = fields[2][1][1][0]
    fields[2] = (9, (12, [root | {5: (5, 1)}] * 10_000 + [fields[2][1][1][1]]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (rows_everywhere(2**40), "values in 1099511627776 rows"),
        (rows_everywhere(-1), "a row group has -1 rows"),
        (of_first_column(5, 2**31 - 1), "2147483647 values in 300 rows"),
        (of_first_column(9, 2**40), "beyond the file"),
        (of_first_column(7, 2**40), "beyond the file"),
        (of_first_column(7, -1), "beyond the file"),
        (lambda fields: fields.update({3: (6, 299)}), "another number of rows"),
        (lambda fields: fields.pop(4), "lacks what it must say"),
        (lambda fields: groups(fields)[0][1][1][1].pop(), "other columns than its schema"),
        (deep, "no tree, or too deep a one"),
    ],
    ids=["rows", "no-rows", "values", "place", "bytes", "no-bytes", "sum", "no-groups", "columns", "deep"],
)
def test_a_footer_that_lies_is_refused(tmp_path: Path, change: Change, words: str) -> None:
    path = written(tmp_path)
    with_footer(path, change)
    with pytest.raises(InputError, match=f"no readable Parquet .*{words}"):
        list(read_table(path))


@pytest.mark.parametrize(
    "data",
    [b"", b"PAR1", b"PAR1" * 4, b"x" * 500, b"PAR1\xff\xff\xff\xff\xff\xff\x0f\x08\0\0\0PAR1"],
    ids=["empty", "magic", "magics", "garbage", "number-without-end"],
)
def test_what_is_no_parquet_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "rows.parquet").write_bytes(data)
    with pytest.raises(InputError, match="no readable Parquet"):
        list(read_table(tmp_path / "rows.parquet"))


@pytest.mark.parametrize(
    ("field", "value"),
    [((3,), 2**31 - 1), ((3,), -1), ((2,), 2**31 - 1), ((5, 1), -1), ((5, 1), 2**31 - 1), ((5, 1), 299)],
)
def test_a_page_that_lies_is_refused(tmp_path: Path, field: tuple[int, ...], value: int) -> None:
    """Polars would make room for as many values, and end the process that can't have it."""
    path = written(tmp_path, TABLE.select(["n"]), compression="none", use_dictionary=False)
    data, footer = path.read_bytes(), footer_bytes(io.BytesIO(path.read_bytes()))
    at = groups(decoded(footer)[0])[0][1][1][1][0][3][1][9][1]
    header, length = decoded(data[at:])
    inner = header
    for number in field[:-1]:
        inner = inner[number][1]
    inner[field[-1]] = (5, value)
    longer = len(encoded(header)) - length
    path.write_bytes(data[:at] + encoded(header) + data[at + length :])
    with_footer(path, of_first_column(7, groups(decoded(footer)[0])[0][1][1][1][0][3][1][7][1] + longer))
    with pytest.raises(InputError, match="no readable Parquet"):
        list(read_table(path))


MANY = """
import resource, sys
from pathlib import Path
from benchbook.errors import InputError
from benchbook.evalsets.tables import read_table
from benchbook.system.panics import hide_panics
hide_panics()
folder = Path(sys.argv[1])
list(read_table(folder / "whole.parquet"))
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for path in sorted(folder.glob("m*.parquet")):
    print(path.name, end=" ", flush=True)
    try:
        print(sum(1 for _ in read_table(path)))
    except InputError:
        print("refused")
"""


@pytest.mark.slow
def test_damaged_files_end_no_process_and_nothing_is_said_of_panics(tmp_path: Path) -> None:
    """Flipped bits, other bytes and cuts, where they hurt: in footers, headers of pages and the first values."""
    rng = random.Random(7)
    whole = []
    for number, how in enumerate(({"compression": "none"}, {"compression": "zstd", "data_page_version": "2.0"})):
        whole.append(written(tmp_path, row_group_size=100, **how).read_bytes())
        (tmp_path / f"whole{number or ''}.parquet").write_bytes(whole[-1])
    (tmp_path / "rows.parquet").unlink()
    for number in range(400):
        data = bytearray(whole[number % 2])
        footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        for _ in range(rng.choice((1, 1, 2, 8))):
            at = rng.randrange(footer, len(data)) if rng.random() < 0.5 else rng.randrange(400)
            data[at] = rng.choice((data[at] ^ 1 << rng.randrange(8), 0, 0x7F, 0x80, 0xFF))
        (tmp_path / f"m{number}.parquet").write_bytes(data)
    done = subprocess.run([sys.executable, "-c", MANY, tmp_path], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-200:]
    found = [line.split()[1] for line in done.stdout.splitlines()]
    assert len(found) == 400
    assert 100 < found.count("refused") < 400


# ── Thrift ───────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_not_known_of_a_footer_comes_out_as_it_went_in(tmp_path: Path) -> None:
    with written(tmp_path, write_page_index=True, sorting_columns=[pq.SortingColumn(0)]).open("rb") as file:
        footer = footer_bytes(file)
    assert encoded(decoded(footer)[0]) == footer


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x15", id="number"),
        pytest.param(b"\x18\x7f", id="text"),
        pytest.param(b"\x19\xf5\xff\xff\xff\xff\x0f", id="list"),
        pytest.param(b"\x1c" * 50, id="nested"),
        pytest.param(b"\x1d\0", id="unknown"),
        pytest.param(b"\x15\0\x05\x02\0", id="twice"),
        pytest.param(b"\x16" + b"\xff" * 11, id="long"),
    ],
)
def test_what_is_no_struct_is_refused(data: bytes) -> None:
    with pytest.raises(FooterError):
        decoded(data)
