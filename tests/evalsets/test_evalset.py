"""Eval sets as they are read: which lines are taken, what is refused and where, and in how much memory (SPEC A8)."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import InputError
from benchbook.evalsets import Item, open_evalset, read_item
from support import examples

ONE = {"id": "a", "prompt": "How many days has a week?", "expected_answer": "Seven."}


def line(**fields: Any) -> bytes:
    return json.dumps(ONE | fields, ensure_ascii=False).encode() + b"\n"


def write(folder: Path, data: bytes) -> Path:
    path = folder / "set.jsonl"
    path.write_bytes(data)
    return path


def items(folder: Path, data: bytes) -> list[Item]:
    with open_evalset(write(folder, data)) as evalset:
        return list(evalset)


def fault(folder: Path, data: bytes, **options: bool) -> InputError:
    path = write(folder, data)
    with pytest.raises(InputError) as caught:
        open_evalset(path, **options)
    assert caught.value.path == str(path)
    return caught.value


# ── items ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_item_has_all_its_fields(tmp_path: Path) -> None:
    optional = {"section": "core", "category": "algebra", "difficulty": "easy", "answer_format": "answer_prefix"}
    context = {"doc": ["a", 1, None]}
    assert items(tmp_path, line(context=context, group="g", **optional)) == [
        Item(**ONE, context=context, group="g", **optional)  # type: ignore[arg-type]
    ]


def test_what_is_not_given_is_null(tmp_path: Path) -> None:
    assert items(tmp_path, b'{"id":"a","prompt":"p"}') == [Item(id="a", prompt="p")]


def test_nulls_are_as_if_not_given(tmp_path: Path) -> None:
    nulls = dict.fromkeys(("expected_answer", "context", "section", "category", "difficulty", "answer_format", "group"))
    assert items(tmp_path, line(**nulls)) == [Item(id="a", prompt=ONE["prompt"])]


def test_other_fields_are_passed_over(tmp_path: Path) -> None:
    assert items(tmp_path, line(source="x", weight=5, task_name="y")) == [Item(**ONE)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "names",
    [
        ("id", "prompt", "expected_answer", "context"),
        ("item_id", "task", "reference_answer", "provided_context"),
        ("item_id", "question", "reference", "context"),
    ],
)
def test_a_field_may_have_the_rubrics_name_or_another(tmp_path: Path, names: tuple[str, ...]) -> None:
    data = json.dumps(dict(zip(names, ("a", "p", "e", "c"), strict=True))).encode()
    assert items(tmp_path, data) == [Item(id="a", prompt="p", expected_answer="e", context="c")]


def test_names_may_differ_from_line_to_line(tmp_path: Path) -> None:
    data = b'{"id":"a","prompt":"p"}\n{"item_id":"b","task":"q"}\n{"id":"c","question":"r"}\n'
    assert [(item.id, item.prompt) for item in items(tmp_path, data)] == [("a", "p"), ("b", "q"), ("c", "r")]


@pytest.mark.parametrize(
    ("more", "field", "found"),
    [
        ({"item_id": "a"}, "id", "id and item_id"),
        ({"task": "p"}, "prompt", "prompt and task"),
        ({"question": "p", "task": "p"}, "prompt", "prompt and task and question"),
        ({"reference": "e"}, "expected_answer", "expected_answer and reference"),
        ({"context": 1, "provided_context": 1}, "context", "context and provided_context"),
    ],
)
def test_two_names_of_one_field_at_once_are_refused(
    tmp_path: Path, more: dict[str, Any], field: str, found: str
) -> None:
    error = fault(tmp_path, line() + line(**{"id": "b"} | more))
    assert (error.line, error.field, error.found, error.expected) == (2, field, found, "one of them")


def test_a_name_of_another_field_in_a_text_is_only_a_text(tmp_path: Path) -> None:
    (item,) = items(tmp_path, line(prompt='What is a "task"?', category="question"))
    assert (item.prompt, item.category) == ('What is a "task"?', "question")


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────

TWO = ["a", "b"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(line() + line(id="b"), id="lf"),
        pytest.param((line() + line(id="b")).replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(line() + line(id="b").rstrip(), id="no-last-line-end"),
        pytest.param(b"\xef\xbb\xbf" + line() + line(id="b"), id="byte-order-mark"),
        pytest.param(b"\xef\xbb\xbf\n" + line() + line(id="b"), id="byte-order-mark-alone-on-a-line"),
        pytest.param(b"\n\n" + line() + b"   \t\r\n" + line(id="b") + b"\n \n", id="blank-lines"),
        pytest.param(b"  " + line() + b"\t" + line(id="b")[:-1] + b"  \r\n", id="white-space-around"),
    ],
)
def test_lines_as_editors_write_them(tmp_path: Path, data: bytes) -> None:
    assert [item.id for item in items(tmp_path, data)] == TWO


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_lines_end_at_lf_alone(tmp_path: Path, mark: str) -> None:
    """Python's str.splitlines ends them at these too."""
    data = json.dumps(ONE | {"prompt": f"a{mark}b"}, ensure_ascii=mark < " ").encode() + b"\n" + line(id="b")
    assert [item.prompt for item in items(tmp_path, data)] == [f"a{mark}b", ONE["prompt"]]


@pytest.mark.parametrize("text", ["é", "日本語", "\U0001f600", "e\u0301", "\u202e", "\0", "\x7f", "\ufeff", "\ufffe"])
def test_texts_are_kept_as_they_are(tmp_path: Path, text: str) -> None:
    assert items(tmp_path, line(prompt=f"x{text}"))[0].prompt == f"x{text}"


# ── faults, with file, line, field, what was found and what would be right ───────────────────────────────


@pytest.mark.parametrize(
    ("data", "field", "found"),
    [
        pytest.param(b"{", None, "malformed JSON", id="cut"),
        pytest.param(b"{'id': 'a'}", None, "malformed JSON", id="single-quotes"),
        pytest.param(b'{"id":"a","prompt":"p",}', None, "malformed JSON", id="trailing-comma"),
        pytest.param(b'{"id":"a","prompt":"p"}{"id":"b","prompt":"q"}', None, "malformed JSON", id="two-on-a-line"),
        pytest.param(b'{"id":"a","prompt":"p","context":NaN}', None, "malformed JSON", id="nan"),
        pytest.param(b'{"id":"a","prompt":"\\ud800"}', None, "a lone surrogate", id="lone-surrogate"),
        pytest.param(b'{"id":"a","prompt":"p","context":' + b"[" * 100_000, None, "JSON that is nested", id="too-deep"),
        pytest.param(b'{"x":' + b"[" * 100_000, None, "JSON that is nested", id="an-unknown-field-too-deep"),
        pytest.param(b'{"id":"a","prompt":"p","id":"b"}', "id", "the field more than once", id="an-id-twice"),
        pytest.param(b'{"id":"a","prompt":"p","\\u0069d":"b"}', "id", "the field more than once", id="escaped-twice"),
        pytest.param(b'{"id":"a","prompt":"p","t\\u0061sk":"q"}', "prompt", "prompt and task", id="an-escaped-alias"),
        pytest.param(line(prompt="x" * (17 << 20)), None, "a line of over 16 MiB", id="a-very-long-line"),
        pytest.param(b"[]", None, "a JSON list", id="list"),
        pytest.param(b"[\n", None, "an array that begins here", id="the-beginning-of-an-array"),
        pytest.param(b"null", None, "a JSON NoneType", id="null"),
        pytest.param(b'{"prompt":"p"}', "id", "nothing", id="no-id"),
        pytest.param(b'{"id":"a"}', "prompt", "nothing", id="no-prompt"),
        pytest.param(b'{"id":7,"prompt":"p"}', "id", "7", id="a-number-as-id"),
        pytest.param(b'{"id":null,"prompt":"p"}', "id", "null", id="null-as-id"),
        pytest.param(b'{"id":"","prompt":"p"}', "id", "nothing but white space", id="empty-id"),
        pytest.param('{"id":"a","prompt":" \u2003"}'.encode(), "prompt", "nothing but white space", id="blank-prompt"),
        pytest.param(line(expected_answer=""), "expected_answer", "nothing but white space", id="empty-answer"),
        pytest.param(line(expected_answer=42), "expected_answer", "42", id="a-number-as-answer"),
        pytest.param(line(section=["core"]), "section", '["core"]', id="a-list-as-section"),
        pytest.param(line(group=" "), "group", "nothing but white space", id="blank-group"),
        pytest.param(line(answer_format="json"), "answer_format", "'json'", id="unknown-format"),
    ],
)
def test_a_fault_is_told_with_its_line_and_field(tmp_path: Path, data: bytes, field: str | None, found: str) -> None:
    error = fault(tmp_path, line(id="first") + b"\n" + data)
    assert (error.line, error.field) == (3, field)
    assert error.found.startswith(found)
    assert error.expected
    assert str(error).startswith(f"{error.path}:3: {field}: found " if field else f"{error.path}:3: found ")


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (b'{"id":"a","prompt":"caf\xe9"}', "byte 0xe9 at byte 24 of the line"),
        (b'{"id":"a","prompt":"p","note":"caf\xe9"}', "byte 0xe9 at byte 35 of the line"),
        (b"\xff\xfe{\x00", "byte 0xff at byte 1 of the line"),
        (b'{"id":"a","prompt":"\xed\xa0\x80"}', "byte 0xed at byte 21 of the line"),
        (b'{"id":"a","prompt":"\xc0\xaf"}', "byte 0xc0 at byte 21 of the line"),
    ],
    ids=["latin-1", "in-an-unknown-field", "utf-16", "encoded-surrogate", "overlong"],
)
def test_what_is_not_utf_8_is_told_with_its_byte(tmp_path: Path, bad: bytes, found: str) -> None:
    error = fault(tmp_path, line() + bad + b"\n")
    assert (error.line, error.found, error.expected) == (2, found, "UTF-8")


def test_an_id_that_comes_again_is_told_with_both_lines(tmp_path: Path) -> None:
    error = fault(tmp_path, line() + b"\n" + line(id="b") + line() + line(id="b"))
    assert (error.line, error.field, error.found) == (4, "id", "'a' again (first on line 1)")
    assert error.expected == "an id of its own"


def test_ids_differ_in_case_and_form(tmp_path: Path) -> None:
    data = b"".join(line(id=one) for one in ("a", "A", "a ", "\u00e9", "e\u0301"))
    assert len(items(tmp_path, data)) == 5


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n"], ids=["empty", "blank", "mark", "white"])
def test_a_set_without_items_is_refused(tmp_path: Path, data: bytes) -> None:
    assert fault(tmp_path, data).found == "no items"


@pytest.mark.parametrize("what", ["missing", "folder"])
def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path, what: str) -> None:
    with pytest.raises(InputError, match="the eval set can't be read"):
        open_evalset(tmp_path / "none.jsonl" if what == "missing" else tmp_path)


def test_an_answer_may_be_asked_for(tmp_path: Path) -> None:
    data = line() + b'{"id":"b","prompt":"p"}'
    assert len(items(tmp_path, data)) == 2
    error = fault(tmp_path, data, needs_expected_answer=True)
    assert (error.line, error.field, error.found) == (2, "expected_answer", "nothing")


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_any_line_is_an_item_or_a_fault(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^set\.jsonl:7: "):
        read_item(data, "set.jsonl", 7)


# ── reading by index ─────────────────────────────────────────────────────────────────────────────────────

MIXED = (
    b"\xef\xbb\xbf" + line() + b"\r\n" + line(id="b", group="g")[:-1] + b"\r\n" + b'{"item_id":"c","task":"p"}\n'
    b"  \n" + line(id="d", prompt="日\u2028本")[:-1]
)  # fmt: skip
PLAIN = b"\xef\xbb\xbf" + line() + b"\n\r\n" + line(id="b")[:-1] + b"\r\n" + line(id="c")[:-1]


@pytest.mark.parametrize("data", [MIXED, PLAIN], ids=["with-other-names", "plain"])
def test_an_item_by_index_is_the_one_of_the_iteration(tmp_path: Path, data: bytes) -> None:
    with open_evalset(write(tmp_path, data)) as evalset:
        everything = list(evalset)
        backwards = [evalset[index] for index in reversed(range(len(evalset)))]
        assert everything == backwards[::-1]
        assert everything == [evalset[index - len(evalset)] for index in range(len(evalset))]
        with pytest.raises(IndexError):
            evalset[len(evalset)]


@examples(50)
@given(st.lists(st.tuples(st.text(), st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \n"])), min_size=1, max_size=8))
def test_any_prompts_come_back_by_index(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, bytes]]
) -> None:
    prompts = [f"p{text}" for text, _ in lines]
    rows = [json.dumps({"id": f"i{n}", "prompt": prompt}).encode() for n, prompt in enumerate(prompts)]
    path = write(tmp_path_factory.mktemp("set"), b"".join(row + end for row, (_, end) in zip(rows, lines, strict=True)))
    with open_evalset(path) as evalset:
        assert [evalset[index].prompt for index in range(len(evalset))] == prompts


@pytest.mark.parametrize(("data", "lines"), [(MIXED, [1, 3, 4, 6]), (PLAIN, [1, 4, 5])], ids=["mixed", "plain"])
def test_the_line_of_an_item(tmp_path: Path, data: bytes, lines: list[int]) -> None:
    evalset = open_evalset(write(tmp_path, data))
    assert [evalset.line_of(index) for index in range(len(evalset))] == lines


@pytest.mark.parametrize(("data", "grouped"), [(MIXED, True), (PLAIN, False)], ids=["mixed", "plain"])
def test_whether_some_item_names_a_group(tmp_path: Path, data: bytes, grouped: bool) -> None:
    assert open_evalset(write(tmp_path, data)).grouped is grouped


def test_the_hash_is_that_of_the_files_bytes(tmp_path: Path) -> None:
    assert open_evalset(write(tmp_path, MIXED)).sha256 == hashlib.sha256(MIXED).hexdigest()


@pytest.mark.parametrize(
    ("name", "shown"), [("eval_v2.jsonl", "eval_v2"), ("a.b.jsonl", "a.b"), ("set", "set"), ("x.json", "x.json")]
)
def test_the_name_is_the_files_without_its_ending(tmp_path: Path, name: str, shown: str) -> None:
    path = tmp_path / name
    path.write_bytes(line())
    assert open_evalset(path).name == shown


@pytest.mark.parametrize("data", [MIXED, PLAIN], ids=["with-other-names", "plain"])
def test_a_copy_is_read_and_not_the_original(tmp_path: Path, data: bytes) -> None:
    """A run reads the copy in its record: the user's file may change meanwhile."""
    original = write(tmp_path, data)
    evalset = open_evalset(original)
    expected = list(evalset)
    evalset.close()
    (tmp_path / "copy").write_bytes(data)
    original.write_bytes(line(prompt="changed"))
    with evalset.copied_to(tmp_path / "copy") as copy:
        assert list(copy) == expected
        assert (copy.sha256, copy.grouped, copy.path) == (evalset.sha256, evalset.grouped, tmp_path / "copy")


def test_a_set_that_was_closed_opens_again(tmp_path: Path) -> None:
    evalset = open_evalset(write(tmp_path, PLAIN))
    with evalset:
        first = evalset[0]
    evalset.close()
    with evalset:
        assert evalset[0] == first


# ── size ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100,000 lines, 50 MB."""
    path = tmp_path_factory.mktemp("large") / "set.jsonl"
    filler = "x" * 430
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f'{{"id":"item-{n}","prompt":"{filler}{n}","expected_answer":"{n}"}}\n' for n in range(100_000))
    return path


MEASURE = """
import resource, sys
import numpy
from benchbook.evalsets import open_evalset
def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
before = peak_mb()
with open_evalset(sys.argv[1]) as evalset:
    assert evalset[50_000].expected_answer == "50000"
    assert sum(1 for _ in evalset) == 100_000
print(peak_mb() - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_length_of_the_lines(large: Path) -> None:
    """Eight bytes an item for its place, eight for the hash of its id, and as many to sort these."""
    found = subprocess.run([sys.executable, "-c", MEASURE, large], capture_output=True, check=True, encoding="utf-8")
    assert float(found.stdout) < 10


@pytest.mark.slow
def test_an_id_that_comes_again_far_away_is_found(large: Path, tmp_path: Path) -> None:
    error = fault(tmp_path, large.read_bytes() + line(id="item-7"))
    assert (error.line, error.found) == (100_001, "'item-7' again (first on line 8)")
