"""Evaluation sets of judge_protocol@v1: found, held against the grid, written, read back (SPEC P1)."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evalsets.output_set_sources import Candidate, NamePattern, NotRead, find_in_folder, find_in_table
from benchbook.evalsets.output_sets import OutputSet, grid_of, read_output_set, write_output_set

FOUR = ("question_id", "prompt_variant", "target_model", "output_id")
USUAL = "{question_id}__{prompt_variant}__{target_model}__{output_id}.{ext}"


def folder_of(base: Path, *names: str) -> Path:
    for name in names:
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(f"The text of {name}", encoding="utf-8")
    return base


def table_of(base: Path, *rows: dict[str, Any]) -> Path:
    path = base / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(*key: str, **more: Any) -> dict[str, Any]:
    return dict(zip(FOUR, key, strict=True)) | more


def candidate(*key: str, text: str = "x") -> Candidate:
    return Candidate((key[0], key[1], key[2], key[3]), None, None, text, "here")


# Names


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        pytest.param("{a}.txt", "x.txt", {"a": "x"}, id="one"),
        pytest.param("{a}/{b}.txt", "x/y.txt", {"a": "x", "b": "y"}, id="a-folder"),
        pytest.param("{a}__{b}", "a_b__c_d", {"a": "a_b", "b": "c_d"}, id="a-part-of-the-literal-in-a-value"),
        pytest.param("{a}.txt", "x.txt.txt", {"a": "x.txt"}, id="the-literal-in-the-value"),
        pytest.param("{{{a}}}", "{x}", {"a": "x"}, id="braces"),
        pytest.param("{a}", "\x1b[31m", {"a": "\x1b[31m"}, id="an-escape"),
        pytest.param("{a}.txt", "x/y.txt", "does not fit", id="no-slash-in-a-value"),
        pytest.param("{a}.txt", ".txt", "does not fit", id="no-empty-value"),
        pytest.param("{a}.txt", " .txt", "does not fit", id="no-blank-value"),
        pytest.param("{a}.txt", "x_txt", "does not fit", id="a-dot-is-a-dot"),
        pytest.param("{a}.txt", "xtxt.txt2", "does not fit", id="to-the-end"),
        pytest.param("{a}_{b}", "x_y_z", "more than one way", id="two-ways"),
        pytest.param("{a}__{b}", "x___y", "more than one way", id="two-ways-by-one-character"),
        pytest.param("{a}_{b}_{c}_{ext}", "_" * 255, "does not fit", id="255-underscores"),
        pytest.param("{ext}{a}", "q3x", {"ext": "q3", "a": "x"}, id="declared-values-need-no-literal"),
        pytest.param("{ext}_{b}", "q3_x_y", {"ext": "q3", "b": "x_y"}, id="declared-values-leave-one-way"),
        pytest.param("{ext}_{b}", "q5_x_y", "does not fit", id="not-a-declared-value"),
    ],
)
def test_a_name_is_read_by_its_pattern_or_not_at_all(pattern: str, name: str, expected: dict[str, str] | str) -> None:
    read = NamePattern.parse(pattern, ("a", "b", "c", "ext"), {"ext": ["q3", "q4"]}).read(name)
    if isinstance(expected, dict):
        assert read == expected
    else:
        assert isinstance(read, NotRead)
        assert expected in read.reason


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        pytest.param("{x}", "found {x}; expected {a}, {b}", id="unknown"),
        pytest.param("{a}{b}", "a literal text between", id="side-by-side"),
        pytest.param("{a}-{a}", "more than once", id="twice"),
        pytest.param("{a", "expected '}'", id="open"),
        pytest.param("{}", "found {}", id="nameless"),
        pytest.param("{a!r}", "found {a}", id="a-conversion"),
        pytest.param("{a:>8}", "found {a:>8}", id="a-format"),
        pytest.param("{a.real}", "found {a.real}", id="an-attribute"),
    ],
)
def test_a_pattern_that_is_none_is_refused(pattern: str, says: str) -> None:
    with pytest.raises(ConfigError, match="pattern") as error:
        NamePattern.parse(pattern, ("a", "b"), {})
    assert says in str(error.value)


@given(st.lists(st.text(st.characters(exclude_characters="/_ "), min_size=1), min_size=3, max_size=3))
def test_what_a_pattern_writes_it_reads(values: list[str]) -> None:
    pattern = NamePattern.parse("{a}__{b}/{c}", ("a", "b", "c"), {})
    values = [value for value in values if not value.isspace()]
    if len(values) == 3:
        assert pattern.read("{}__{}/{}".format(*values)) == dict(zip("abc", values, strict=True))


# Finding


def test_a_folder_is_read_by_the_usual_pattern(tmp_path: Path) -> None:
    names = ("Q1__A__acme@1__o1.txt", "Q1__B__acme@1__o2.md", "Q2__A__acme@1__o3.PDF", "notes.txt", "Q1__A.txt")
    found = find_in_folder(folder_of(tmp_path, *names), USUAL)
    assert [each.key for each in found.candidates] == [
        ("Q1", "A", "acme@1", "o1"), ("Q1", "B", "acme@1", "o2"), ("Q2", "A", "acme@1", "o3"),
    ]  # fmt: skip
    assert [(other.name, other.reason) for other in found.others] == [
        ("Q1__A.txt", "does not fit the pattern"),
        ("notes.txt", "does not fit the pattern"),
    ]


def test_without_an_output_id_the_name_below_the_folder_is_it(tmp_path: Path) -> None:
    found = find_in_folder(folder_of(tmp_path, "m/A/Q1.pdf"), "{target_model}/{prompt_variant}/{question_id}.pdf")
    assert [each.key for each in found.candidates] == [("Q1", "A", "m", "m/A/Q1.pdf")]


def test_declared_values_say_where_a_value_ends(tmp_path: Path) -> None:
    base = folder_of(tmp_path, "q3_long_implicit.txt", "q4_weak.txt", "q5_weak.txt")
    pattern = "{question_id}_{prompt_variant}.txt"
    without = find_in_folder(base, pattern, {"target_model": ["m"]})
    assert [other.name for other in without.others] == ["q3_long_implicit.txt"]
    found = find_in_folder(base, pattern, {"target_model": ["m"], "question_id": ["q3", "q4"]})
    assert [each.key[:3] for each in found.candidates] == [("q3", "long_implicit", "m"), ("q4", "weak", "m")]
    assert [other.name for other in found.others] == ["q5_weak.txt"]


@pytest.mark.parametrize(
    ("pattern", "values", "says"),
    [
        pytest.param("{question_id}.txt", {}, "{prompt_variant} in the pattern and 0 values", id="none"),
        pytest.param("{question_id}.txt", {"prompt_variant": ["A", "B"]}, "2 values", id="two"),
        pytest.param("{output_id}.txt", {"model": ["m"]}, "found model", id="unknown"),
        pytest.param(USUAL, {"question_id": [""]}, "an empty value", id="empty"),
    ],
)
def test_what_names_no_output_is_refused(pattern: str, values: dict[str, list[str]], says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        find_in_folder(tmp_path, pattern, values)
    assert says in str(error.value)


def test_links_pipes_and_odd_names_are_told_and_not_read(tmp_path: Path) -> None:
    base = folder_of(tmp_path / "in", "a.txt")
    outside = folder_of(tmp_path / "out", "b.txt")
    (base / "link.txt").symlink_to(outside / "b.txt")
    (base / "linked").symlink_to(outside)
    os.mkfifo(base / "pipe.txt")
    expected = {
        "link.txt": "a link; links are not followed",
        "linked": "a link; links are not followed",
        "pipe.txt": "no regular file",
    }
    if sys.platform == "linux":
        (Path(os.fsdecode(os.fsencode(base) + b"/\xff.txt"))).write_bytes(b"x")
        expected["\udcff.txt"] = "its name is not UTF-8"
    values = {name: ["x"] for name in ("question_id", "prompt_variant", "target_model")}
    found = find_in_folder(base, "{output_id}.txt", values)
    assert [each.name for each in found.candidates] == ["a.txt"]
    assert {other.name: other.reason for other in found.others} == expected


def test_no_folder_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        find_in_folder(tmp_path / "nowhere", USUAL)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_a_table_names_files_or_holds_texts(form: str, tmp_path: Path) -> None:
    folder_of(tmp_path, "sub/a.md")
    rows = [row("Q1", "A", "m", "1", file="sub/a.md", text=None), row("Q1", "A", "m", "2", file=None, text="Yes")]
    frame = pl.DataFrame(rows)
    path = tmp_path / f"outputs.{form}"
    {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet}[form](path)
    found = find_in_table(path)
    assert [(each.key[3], each.name, each.text) for each in found.candidates] == [
        ("1", "sub/a.md", None),
        ("2", None, "Yes"),
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"question_id": None}, "question_id: found nothing", id="no-question"),
        pytest.param({"question_id": " "}, "question_id: found ' '", id="a-blank-question"),
        pytest.param({"target_model": 3}, "target_model: found 3", id="a-number"),
        pytest.param({"file": "a.txt", "text": "x"}, "file: found a file and a text", id="both"),
        pytest.param({"text": 3}, "text: found 3", id="a-number-for-a-text"),
        pytest.param({}, "file: found no file and no text", id="neither"),
        pytest.param({"file": ""}, "file: found ''", id="an-empty-name"),
        pytest.param({"file": "../secret.txt"}, "expected a name below", id="upwards"),
        pytest.param({"file": "/etc/passwd"}, "expected a name below", id="absolute"),
        pytest.param({"file": "link/secret.txt"}, "expected a name below", id="through-a-link"),
        pytest.param({"file": "a\0b"}, "expected a name below", id="nul"),
    ],
)
def test_a_row_that_names_no_output_is_an_error_with_its_line(given: dict[str, Any], says: str, tmp_path: Path) -> None:
    base = folder_of(tmp_path / "in", "a.txt")
    (base / "link").symlink_to(tmp_path)
    path = table_of(base, row("Q1", "A", "m", "1", text="x"), row("Q1", "A", "m", "2") | given)
    with pytest.raises(InputError) as error:
        find_in_table(path)
    assert str(error.value).startswith(f"{path}:2: ")
    assert says in str(error.value)


# The grid


def test_the_grid_names_gaps_doubles_and_cells_that_lack_repeats() -> None:
    keys = [
        ("Q1", "A", "m", "1"), ("Q1", "A", "m", "2"), ("Q1", "B", "m", "1"), ("Q2", "A", "m", "1"),
        ("Q2", "A", "m", "1"), ("Q2", "A", "n", "1"),
    ]  # fmt: skip
    grid = grid_of(candidate(*key) for key in keys)
    assert grid.n_cells == 8
    assert grid.n_gaps == 4
    assert list(grid.gaps()) == [("Q1", "A", "n"), ("Q1", "B", "n"), ("Q2", "B", "m"), ("Q2", "B", "n")]
    assert list(grid.doubles) == [("Q2", "A", "m", "1")]
    assert grid.uneven() == [(("Q1", "B", "m"), 1), (("Q2", "A", "m"), 1), (("Q2", "A", "n"), 1)]


def test_a_declared_value_without_outputs_is_a_row_of_gaps() -> None:
    grid = grid_of([candidate("Q1", "A", "m", "1")], {"question_id": ["Q1", "Q2"]})
    assert list(grid.gaps()) == [("Q2", "A", "m")]


def test_a_pattern_gone_wrong_costs_no_memory() -> None:
    """Every output a question, a variant and a target of its own: 10^9 cells."""
    grid = grid_of(candidate(str(n), str(n), str(n), "1") for n in range(1_000))
    assert grid.n_gaps == 10**9 - 1_000
    assert len(list(grid.gaps(10))) == 10


# Written and read back


def test_a_set_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    base = folder_of(tmp_path / "in", "m/A/Q1.txt", "m/B/Q1.md")
    (base / "m" / "A" / "Q2.txt").write_bytes(b"")
    found = find_in_folder(base, "{target_model}/{prompt_variant}/{question_id}.{ext}")
    written = write_output_set(found.candidates, tmp_path / "set")
    read = read_output_set(tmp_path / "set")
    assert read == written
    assert [output.key[:3] for output in read.outputs] == [("Q1", "A", "m"), ("Q1", "B", "m"), ("Q2", "A", "m")]
    assert read.text(read.outputs[0]) == "The text of m/A/Q1.txt"
    assert read.outputs[2].error is not None
    assert read.outputs[2].error.code == "empty"
    with pytest.raises(ValueError, match="no text"):
        read.text(read.outputs[2])
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["manifest.jsonl", "texts"]
    manifest = (tmp_path / "set" / "manifest.jsonl").read_bytes()
    assert read.sha256 == hashlib.sha256(manifest).hexdigest()
    assert json.loads(manifest.splitlines()[0])["file"] == "m/A/Q1.txt"


def test_the_bytes_do_not_depend_on_the_order_in_which_outputs_were_found(tmp_path: Path) -> None:
    found = [candidate("Q1", "A", "m", str(n), text=f"Text {n}") for n in range(5)]
    assert write_output_set(found, tmp_path / "a").sha256 == write_output_set(found[::-1], tmp_path / "b").sha256


HOSTILE = [
    "../up", "/etc/passwd", "nul\0", "CON", "x" * 300, "\u00e9", "e\u0301", "A", "a", "\x1b[31m", "{0}", "\n.",
    "\u202ea",
]  # fmt: skip


def test_no_identifier_names_a_path(tmp_path: Path) -> None:
    found = [candidate(hostile, hostile, hostile, hostile, text=f"Text {hostile}") for hostile in HOSTILE]
    read = write_output_set(found, tmp_path / "set")
    assert {output.output_id for output in read.outputs} == set(HOSTILE)
    assert [read.text(output) for output in read.outputs] == [f"Text {output.output_id}" for output in read.outputs]
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    names = {path.name for path in (tmp_path / "set" / "texts").iterdir()}
    assert names == {f"{output.text_sha256}.txt" for output in read.outputs}


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_any_text_and_identifier_come_back(tmp_path_factory: pytest.TempPathFactory, name: str, text: str) -> None:
    written = write_output_set([candidate(name, name, name, name, text=text)], tmp_path_factory.mktemp("s") / "set")
    (output,) = written.outputs
    assert (output.output_id, written.text(output)) == (name, text)


def test_one_sample_twice_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one sample"):
        write_output_set([candidate("Q", "A", "m", "1"), candidate("Q", "A", "m", "1", text="y")], tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_left_as_it_is(tmp_path: Path) -> None:
    folder_of(tmp_path, "set/mine.txt")
    with pytest.raises(UsageError, match="is in use"):
        write_output_set([candidate("Q", "A", "m", "1")], tmp_path / "set")
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["mine.txt"]


def a_set(folder: Path) -> OutputSet:
    return write_output_set([candidate("Q1", "A", "m", "1"), candidate("Q2", "A", "m", "1")], folder)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        pytest.param("Q2", "Q1", ":2: found the sample of line 1 again", id="twice"),
        pytest.param('"error":null', '"error": null', ":1: found another spelling", id="spaces"),
        pytest.param('"error":null', '"error":0', ":1: no output", id="another-type"),
        pytest.param('{"error"', '{"also":1,"error"', ":1: no output", id="another-field"),
        pytest.param("{", "[", ":1: no output", id="no-object"),
        pytest.param(
            '"error":null', '"error":{"code":"empty","detail":""}', ":1: error: found not one of", id="text-and-error"
        ),
    ],
)
def test_a_manifest_that_was_changed_is_told_with_its_line(before: str, after: str, says: str, tmp_path: Path) -> None:
    manifest = a_set(tmp_path / "set").folder / "manifest.jsonl"
    manifest.write_text(manifest.read_text("utf-8").replace(before, after), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_output_set(tmp_path / "set")
    assert says in str(error.value)


@pytest.mark.parametrize("stated", ["../../secret", "0" * 63 + "G", "0" * 65, ""])
def test_a_manifest_names_no_path_either(stated: str, tmp_path: Path) -> None:
    read = a_set(tmp_path / "set")
    manifest = read.folder / "manifest.jsonl"
    changed = manifest.read_text("utf-8").replace(read.outputs[0].text_sha256 or "", stated)
    manifest.write_text(changed, encoding="utf-8")
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        read_output_set(read.folder)


def test_a_text_that_was_changed_or_is_gone_is_told(tmp_path: Path) -> None:
    read = a_set(tmp_path / "set")
    (path,) = (read.folder / "texts").iterdir()
    path.write_text("y", encoding="utf-8")
    with pytest.raises(InputError, match="a text with the hash"):
        read.text(read.outputs[0])
    path.unlink()
    with pytest.raises(InputError, match="No such file"):
        read.text(read.outputs[0])
    with pytest.raises(InputError, match="no such text in the set"):
        read_output_set(read.folder)


def test_where_there_is_no_set_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="benchbook judge init"):
        read_output_set(tmp_path)
