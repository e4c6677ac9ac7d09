"""Eval sets as CSV, TSV and Parquet are read as JSON lines are: the same items, the same findings."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.errors import InputError, UsageError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.validate import validate

Rows = list[dict[str, Any]]

ROWS: Rows = [
    {"id": "a", "prompt": "Where, \"when\"; or\nwhy?", "expected_answer": "4", "context": "[1] A text.", "group": "g"},
    {"id": "b", "prompt": "日本\u2028語", "expected_answer": "x", "context": '{"not": JSON}', "category": "näh"},
    {"id": "c", "prompt": "P", "expected_answer": "0.5", "section": "core", "note": "own"},
]  # fmt: skip
LISTS: Rows = [
    {"id": "1", "prompt": "P?", "expected_answer": "x", "context": ["one", "two; three"]},
    {"id": "2", "prompt": "Q?", "expected_answer": "y", "context": []},
]
OBJECTS: Rows = [
    {"id": "1", "prompt": "P?", "expected_answer": "x", "context": {"title": "T", "parts": [1.0, 2.5, None]}}
]
FAULTY: Rows = [
    {"id": "a", "prompt": "P?", "ground_truth": "x", "answer_format": "prose"},
    {"id": "a", "prompt": "p ?", "ground_truth": "y"},
    {"id": "c", "ground_truth": "z", "category": "k"},
]


def jsonl(rows: Rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def cells(rows: Rows, **form: Any) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, **form)
    writer.writeheader()
    for row in rows:
        writer.writerow({
            name: json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
            for name, value in row.items()
        })  # fmt: skip
    return text.getvalue()


def parquet(rows: Rows) -> bytes:
    data = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(data)
    return data.getvalue()


FORMS: list[tuple[str, Callable[[Rows], bytes]]] = [
    ("set.csv", lambda rows: cells(rows).encode()),
    ("excel.csv", lambda rows: cells(rows, delimiter=";", lineterminator="\r\n").encode("utf-8-sig")),
    ("declared.csv", lambda rows: ("sep=;\r\n" + cells(rows, delimiter=";")).encode("utf-8-sig")),
    ("set.tsv", lambda rows: cells(rows, delimiter="\t").encode()),
    ("SET.PARQUET", parquet),
]


@pytest.mark.parametrize(("name", "written"), FORMS, ids=[name for name, _ in FORMS])
@pytest.mark.parametrize("rows", [ROWS, LISTS, OBJECTS], ids=["texts", "lists", "objects"])
def test_the_items_are_the_same(rows: Rows, name: str, written: Callable[[Rows], bytes], tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_bytes(jsonl(rows))
    data = written(rows)
    path = tmp_path / name
    path.write_bytes(data)
    with open_evalset(tmp_path / "set.jsonl") as lines, open_evalset(path) as table:
        assert list(table) == list(lines)
        assert [table[index] for index in (-1, 0)] == [lines[index] for index in (len(rows) - 1, 0)]
        assert (len(table), table.grouped, table.contents) == (len(lines), lines.grouped, lines.contents)
        assert table.sha256 == hashlib.sha256(data).hexdigest()
        assert table.name == path.stem
        copy = tmp_path / "copy"  # without an ending, as in a record
        copy.write_bytes(data)
        assert list(table.copied_to(copy)) == list(open_evalset(copy, form=table.form, is_recorded=True)) == list(lines)


@pytest.mark.parametrize(("name", "written"), FORMS, ids=[name for name, _ in FORMS])
@pytest.mark.parametrize("profile", [None, "rubric"])
def test_validate_finds_the_same(
    profile: str | None, name: str, written: Callable[[Rows], bytes], tmp_path: Path
) -> None:
    def found(name: str, data: bytes) -> list[tuple[str | None, str, str, str]]:
        (tmp_path / name).write_bytes(data)
        findings = list(validate(tmp_path / name, profile))
        said = [(one.field, one.code, one.severity, one.reason) for one in findings]
        return [(*one[:3], one[3].replace("line 2", "line 1") if name != "set.jsonl" else one[3]) for one in said]

    expected = found("set.jsonl", jsonl(FAULTY))
    codes = {"duplicate_id", "missing_field", "unknown_value", "near_duplicate_prompt"}
    assert codes <= {code for _, code, _, _ in expected}
    assert [one[:3] for one in found(name, written(FAULTY))] == [one[:3] for one in expected]


def test_numbers_that_tables_write_for_ids_are_the_texts_of_them(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1, 2], "prompt": ["P", "Q"], "group": [7.0, None]}).write_parquet(tmp_path / "n.parquet")
    with open_evalset(tmp_path / "n.parquet") as found:
        assert [(item.id, item.group) for item in found] == [("1", "7"), ("2", None)]


def test_what_is_nothing_in_a_table_is_nothing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a"], "prompt": ["P"], "score": [float("nan")], "section": [None]})
    frame.write_parquet(tmp_path / "n.parquet")
    with open_evalset(tmp_path / "n.parquet") as found:
        assert (found[0].section, found.contents and found.contents.unread) == (None, {})


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        pytest.param("a.csv", b"id,prompt\na,P\nb\n", "a.csv:3: found another number of cells", id="ragged"),
        pytest.param("a.csv", b"id,prompt\na,\xe9\n", "a.csv:2: found no UTF-8", id="latin-1"),
        pytest.param("a.csv", b"id,prompt,prompt\na,P,Q\n", "a.csv:1: prompt: found the column", id="twice"),
        pytest.param("a.csv", b"id,prompt,task\na,P,Q\n", "a.csv:2: prompt: found prompt and task", id="two-names"),
        pytest.param("a.csv", b'id,prompt,context\na,P,"{""k"": 1, ""k"": 2}"\n', "a.csv:2: context.k:", id="key"),
        pytest.param("a.csv", b"id,prompt,context\na,P,[1e400]\n", "a.csv:2: context: found a number", id="huge"),
        pytest.param("a.csv", b"id,prompt\na,P\na,Q\n", "a.csv:3: id: found 'a' again (first on line 2)", id="an-id"),
        pytest.param("a.csv", "id,prompt\na,P\n".encode("utf-16"), "a.csv: the file is UTF-16", id="utf-16"),
        pytest.param("a.jsonl", '{"id": "a", "prompt": "P"}'.encode("utf-16"), "a.jsonl: the file is UTF-16", id="16"),
        pytest.param("a.csv", b"id,prompt\n", "a.csv: found no items; expected a row each", id="empty"),
        pytest.param("a.parquet", b"PAR1", "a.parquet: found no readable Parquet", id="no-parquet"),
    ],
)  # fmt: skip
def test_a_table_that_can_not_be_read_is_refused_by_both(name: str, data: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        open_evalset(path)
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(says)
    assert [one for one in validate(path, "rubric") if one.severity == "error"]


def test_a_workbook_is_told_how_to_be_saved(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    for opened in (open_evalset, lambda path: list(validate(path))):
        with pytest.raises(UsageError, match="a workbook; save its sheet as CSV"):
            opened(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("line", "says_so"),
    [("id,prompt", True), ("id;prompt", True), ("id\tprompt", True), ("plain words", False), ('{"id": "a",', False)],
)
def test_a_table_under_another_name_is_told_to_be_one(tmp_path: Path, line: str, says_so: bool) -> None:
    path = tmp_path / "items.txt"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        open_evalset(path)
    assert ("has to end in .csv" in str(refused.value)) is says_so
