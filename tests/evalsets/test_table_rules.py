"""One rule for every table: what `run --outputs` reads, `score --predictions` reads, and so for what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.errors import InputError, UsageError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.predictions import align_predictions, items_frame, read_predictions
from benchbook.evalsets.table_columns import comma_hint
from benchbook.evalsets.tables import read_table, table_form
from benchbook.evaluators.protocol.plan import read_task_prompts
from benchbook.evaluators.recorded_outputs import find_columns, read_outputs
from benchbook.labels.position import read_pair_verdicts
from benchbook.text import looks_like, quoted

Read = Callable[[Path, Path], dict[str, tuple[str | None, int | None]]]


def evalset_file(tmp_path: Path, *ids: str) -> Path:
    path = tmp_path / "set.jsonl"
    rows = [{"id": one, "prompt": f"{one}?", "expected_answer": "x"} for one in ids or ("a", "b")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def as_run_reads(items: Path, path: Path) -> dict[str, tuple[str | None, int | None]]:
    """Text and milliseconds of each item that the file has."""
    with open_evalset(items) as evalset:
        columns = find_columns(path, {}, evalset, 1)
        outputs = read_outputs(path, table_form(path), columns, evalset, 1)
        return {evalset[one.sample].id: (one.output, one.latency_e2e_ms) for one in outputs}


def as_score_reads(items: Path, path: Path) -> dict[str, tuple[str | None, int | None]]:
    with open_evalset(items) as evalset:
        predictions = read_predictions(path, own_keys=True)
        aligned = align_predictions(predictions, items_frame(evalset))
    there = set(predictions.frame["item_id"])
    rows = aligned.select("item_id", "predicted", "eval_time_ms").iter_rows()
    return {item_id: (text, ms) for item_id, text, ms in rows if item_id in there}


READERS = [
    pytest.param(as_run_reads, "latency_e2e_ms", id="run"),
    pytest.param(as_score_reads, "eval_time_ms", id="score"),
]


def write(tmp_path: Path, name: str, text: str | bytes, milliseconds: str) -> Path:
    path = tmp_path / name
    data = text.encode("utf-8") if isinstance(text, str) else text
    path.write_bytes(data.replace(b"MS", milliseconds.encode()))
    return path


@pytest.mark.parametrize(("read", "ms"), READERS)
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("o.jsonl", "", {}, id="an-empty-file-is-all-missing"),
        pytest.param("o.csv", "id,output\n", {}, id="a-header-alone"),
        pytest.param("o.jsonl", '{"id":"b","output":"y"}\n', {"b": ("y", None)}, id="one-row-of-two"),
        pytest.param(
            "o.jsonl", '{"id":"a","output":"x"}\n{"id":"b","output":"y","MS":7}\n',
            {"a": ("x", None), "b": ("y", 7)}, id="a-column-after-the-first-row",
        ),
        pytest.param(
            "o.jsonl", '{"id":"a","MS":7}\n{"id":"b","output":"y"}\n',
            {"a": (None, 7), "b": ("y", None)}, id="the-output-after-the-first-row",
        ),
        pytest.param(
            "o.jsonl", '{"id":"a","output":"x","MS":100.0}\n{"id":"b","output":NaN,"MS":NaN}\n',
            {"a": ("x", 100), "b": (None, None)}, id="pandas-jsonl",
        ),
        pytest.param(
            "o.csv", "id,output,MS\na,x,100.0\nb,y,\n", {"a": ("x", 100), "b": ("y", None)}, id="pandas-csv"
        ),
        pytest.param("o.csv", "id,output,MS\na,x,NaN\nb,y, 7 \n", {"a": ("x", None), "b": ("y", 7)}, id="csv-nan"),
        pytest.param(
            "o.csv", "\ufeffid;output;MS\r\na;x, y;7\r\nb;z;\r\n;;\r\n",
            {"a": ("x, y", 7), "b": ("z", None)}, id="excel-semicolons-and-an-empty-row",
        ),
        pytest.param("o.csv", "sep=;\nid;output\na;x\n", {"a": ("x", None)}, id="excel-sep"),
        pytest.param("o.csv", "id;output;;\na;x;;\n", {"a": ("x", None)}, id="excel-columns-without-a-name"),
        pytest.param("o.tsv", "id\toutput\tMS\na\tx,y\t7\n", {"a": ("x,y", 7)}, id="tabs"),
        pytest.param("o.csv", "id\toutput\na\tx\n", {"a": ("x", None)}, id="tabs-in-csv"),
        pytest.param("o.csv", 'id,output\na,"x;y\r\nz"\n', {"a": ("x;y\r\nz", None)}, id="semicolons-in-a-cell"),
        pytest.param(
            "o.jsonl", '{"id":"a","output":"x","own":[NaN,{"k":-Infinity}],"big":1e400}\n', {"a": ("x", None)},
            id="not-finite-in-a-column-of-ones-own",
        ),
        pytest.param("o.jsonl", '{"id":"a","output":"\\ud800","own":NaN}\n', None, id="beside-half-a-character"),
        pytest.param("o.jsonl", '{"id":"a","answer":"x"}\n', {"a": ("x", None)}, id="answer-where-nothing-else-is"),
        pytest.param(
            "o.jsonl", '{"id":"a","answer":"x","output":"y"}\n', {"a": ("y", None)}, id="answer-beside-the-output"
        ),
    ],
)  # fmt: skip
def test_both_read(read: Read, ms: str, name: str, text: str, expected: dict[str, Any] | None, tmp_path: Path) -> None:
    found = read(evalset_file(tmp_path), write(tmp_path, name, text, ms))
    if expected is None:
        assert set(found) == {"a"}
    else:
        assert found == expected


@pytest.mark.parametrize(("read", "ms"), READERS)
@pytest.mark.parametrize(
    ("name", "text", "line", "field", "said"),
    [
        ("o.jsonl", '{"id":"a","output":"x","MS":99999999999999999999}\n', 1, "MS", "99999999999999999999"),
        ("o.jsonl", '{"id":"a","output":"x"}\n{"id":"b","output":"x","MS":1e400}\n', 2, "MS", "too large"),
        ("o.jsonl", '{"id":"a","output":"x","MS":' + "9" * 5000 + "}\n", 1, "MS", "too large"),
        ("o.jsonl", '{"id":"a","output":"x","MS":Infinity}\n', 1, "MS", "Infinity"),
        ("o.csv", "id,output,MS\na,x,inf\n", 1 + 1, "MS", "Infinity"),
        ("o.csv", "id,output,MS\na,x," + "9" * 30 + "\n", 2, "MS", "at most"),
        ("o.csv", "id;output;MS\na;x;1,5\n", 2, "MS", "found '1,5'; expected a decimal point: 1.5"),
        ("o.csv", "id;output;MS\na;x;1,500\n", 2, "MS", "expected 1500, or a decimal point: 1.500"),
        ("o.csv", "id,output,MS\na,x,1.5\n", 2, "MS", "found '1.5'"),
        ("o.jsonl", '{"id":"a","output":"x","MS":-1}\n', 1, "MS", "found -1"),
        ("o.jsonl", '{"id":"a","output":"x","MS":true}\n', 1, "MS", "found True"),
        ("o.jsonl", '{"id":"a","output":3}\n', 1, None, "found 3; expected a text, or nothing"),
        ("o.jsonl", '{"output":"x"}\n', 1, "item_id", "no such column among output"),
        ("o.jsonl", '{"id":"a"}\n{"id":"b"}\n', 1, None, "no such column among id"),
        ("o.jsonl", '{"id":"a","output":"x"}\n{"output":"y"}\n', 2, "item_id", "found nothing; expected a text"),
        ("o.jsonl", '{"id":"a","output":"x"}\n{"id":"b","predicted":"y"}\n', 2, None, "output and predicted"),
        ("o.jsonl", '{"id":"a","answer":"x"}\n{"id":"b","output":"y"}\n', 2, None, "answer and output"),
        ("o.jsonl", '{"id":"a","output":"y"}\n{"id":"b","answer":"x"}\n', 2, None, "output and answer"),
        ("o.jsonl", '{"id":"a","output":"x","expected":"z"}\n', 1, "expected", "'x', as the eval set has it"),
        ("o.jsonl", '{"id":"a","output":"x"}\n{"id":"a","output":"x"}\n', 2, "item_id", "'a' again"),
        ("o.jsonl", '{"id":"a\\u00a0","output":"x"}\n', 1, "item_id", r"found 'a\u00a0'; an item 'a' is there"),
        ("o.jsonl", '{"id":"\u200ba","output":"x"}\n', 1, "item_id", r"found '\u200ba'; an item 'a' is there"),
        ("o.csv", "id,output\na\u00ad,x\n", 2, "item_id", r"found 'a\u00ad'; an item 'a' is there"),
        ("o.csv", "id,output\n\u202ea,x\n", 2, "item_id", r"found '\u202ea'; an item 'a' is there"),
        ("o.jsonl", '{"id":"a ","output":"x"}\n', 1, "item_id", "found 'a '; an item 'a' is there"),
        ("o.jsonl", '{"id":"c\\u200b","output":"x"}\n', 1, "item_id", r"found 'c\u200b'; expected the id of one of"),
        ("o.csv", "id;output;;\na;x;;y\n", 2, None, "'y' in a column without a name"),
        ("o.csv", b"id,output\na,\xe9\n", 2, None, "save it as CSV UTF-8"),
        ("o.csv", "id\toutput\n".encode("utf-16"), None, None, "the file is UTF-16"),
    ],
)  # fmt: skip
def test_both_refuse(
    read: Read, ms: str, name: str, text: str | bytes, line: int | None, field: str | None, said: str, tmp_path: Path
) -> None:
    path = write(tmp_path, name, text, ms)
    with pytest.raises(InputError) as caught:
        read(evalset_file(tmp_path), path)
    assert said in str(caught.value)
    assert caught.value.line == line
    if field is not None:
        assert caught.value.field == (ms if field == "MS" else field)


@pytest.mark.parametrize(("read", "ms"), READERS)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([100.0, None], [100, None], id="a-gap"),
        pytest.param([100.0, float("nan")], [100, None], id="nan"),
        pytest.param([100, None], [100, None], id="whole"),
        pytest.param([float("nan"), float("nan")], [None, None], id="nothing-but-nan"),
        pytest.param([1.5, 2.0], "1.5", id="a-fraction"),
        pytest.param([2.0, float("inf")], "", id="infinity"),
        pytest.param([-1.0, 2.0], "-1", id="negative"),
    ],
)
def test_numbers_of_parquet(read: Read, ms: str, values: list[Any], expected: Any, tmp_path: Path) -> None:
    path = tmp_path / "o.parquet"
    pl.DataFrame({"id": ["a", "b"], "output": ["x", "y"], ms: values}, strict=False).write_parquet(path)
    items = evalset_file(tmp_path)
    if isinstance(expected, str):
        with pytest.raises(InputError, match=ms) as caught:
            read(items, path)
        assert expected in str(caught.value)
    else:
        found = read(items, path)
        assert [found[one][1] for one in ("a", "b")] == expected


@pytest.mark.parametrize(("read", "ms"), READERS)
@pytest.mark.parametrize("ids", [[1, 2], [1.0, 2.0]])
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_items_that_a_table_numbers(read: Read, ms: str, ids: list[float], form: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ids, "output": ["x", "y"]})
    path = tmp_path / f"o.{form}"
    frame.write_parquet(path) if form == "parquet" else frame.write_ndjson(path)
    assert read(evalset_file(tmp_path, "1", "2"), path) == {"1": ("x", None), "2": ("y", None)}


def test_an_id_composed_in_another_way_is_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path, "o.jsonl", '{"id":"e\u0301","output":"x"}\n', "")
    with pytest.raises(InputError, match=r"found 'e\\u0301'; an item '\\xe9' is there"):
        as_run_reads(evalset_file(tmp_path, "\xe9"), path)


def test_what_is_not_finite_is_null_among_ones_own_keys(tmp_path: Path) -> None:
    text = '{"id":"a","output":"x","own":[NaN,{"k":-Infinity}],"t":"\\ud800","n":Infinity}\n'
    frame = read_predictions(write(tmp_path, "o.jsonl", text, ""), own_keys=True).frame
    assert frame["own_keys"].to_list() == ['{"n":null,"own":[null,{"k":null}],"t":"\\ud800"}']


def test_prompts_and_verdicts_follow_the_same_rules(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.csv"
    prompts.write_bytes(b"\xef\xbb\xbfquestion_id;prompt;prompt_variant\r\n1;Name it, please;\r\n")
    assert read_task_prompts(prompts).of("1", "any") == "Name it, please"
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text(
        '{"judge":"j","item":1.0,"winner_ab":1.0}\n{"judge":"j","item":2,"winner_ba":2,"winner_ab":NaN}\n',
        encoding="utf-8",
    )
    assert [(one.item, one.ab, one.ba) for one in read_pair_verdicts(verdicts)] == [("1", 1, None), ("2", None, 2)]


@pytest.mark.parametrize("name", ["o.xlsx", "o.XLS", "o.ods"])
def test_a_workbook_is_to_be_saved_as_csv(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04")
    with pytest.raises(UsageError, match="a workbook; save its sheet as CSV"):
        list(read_table(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0,40", "a decimal point: 0.40"),
        ("-1,5", "a decimal point: -1.5"),
        ("1,234", "1234, or a decimal point: 1.234"),
        ("1,234,567", "1234567"),
        ("1,2,3", None),
        ("a,b", None),
        ("12", None),
    ],
)
def test_numbers_with_commas(text: str, hint: str | None) -> None:
    assert comma_hint(text) == hint


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", "'a'"),
        ("caf\xe9 日本", "'caf\xe9 日本'"),
        ("a\u00a0b\u200d\ufeff\u00ad\u202e\u2066", r"'a\u00a0b\u200d\ufeff\u00ad\u202e\u2066'"),
        ("\x1b[31m\t", r"'\u001b[31m\u0009'"),
        ("\ud800\u3164\ufe0f\U000e0041", r"'\ud800\u3164\ufe0f\U000e0041'"),
    ],
)
def test_what_is_not_seen_is_shown(text: str, shown: str) -> None:
    assert quoted(text) == shown


def test_texts_that_look_the_same() -> None:
    assert len({looks_like(one) for one in ("a b", "a\u00a0b", " a  b\u200b", "\ufeffa\tb\n", "a\u2003b")}) == 1
    assert looks_like("ab") != looks_like("a b")
    assert looks_like("a") != looks_like("A")
