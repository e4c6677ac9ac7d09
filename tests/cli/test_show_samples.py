"""`benchbook show --sample`, `--samples` and `--csv`: by an item's id or a number, with what was asked."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from benchbook.record.folder import Record
from running import benchbook_here, run
from scored import scored, write_lines
from scripted_server import always_good, running

ITEMS = (
    {"id": "q0", "prompt": "Where?", "context": {"page": 1}, "expected_answer": "here"},
    {"id": "q1", "prompt": "=Why?\x1b[31m", "context": "Because.", "expected_answer": "because"},
    {"id": "1", "prompt": "Who?", "expected_answer": "I"},
)


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A rubric's run of three items, twice each."""
    folder = tmp_path_factory.mktemp("repeated")
    evalset = write_lines(folder / "set.jsonl", ITEMS)
    with running(always_good) as server:
        record: Record = run(folder, server, evalset=str(evalset), repeats=2).record
        return record


def show(record: Record, *words: str) -> tuple[int, str, str]:
    done = benchbook_here("show", str(record.path), *words)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("words", "samples"),
    [
        pytest.param(["--sample", "q1"], [1, 4], id="an-item-and-all-its-repeats"),
        pytest.param(["--sample", "q1", "--repeat", "1"], [4], id="one-repeat"),
        pytest.param(["--sample", "3"], [3], id="a-number"),
        pytest.param(["--sample", "1"], [1], id="a-number-before-an-id"),
        pytest.param(["--sample", "1", "--repeat", "0"], [2], id="an-id-where-a-repeat-is-asked-for"),
    ],
)
def test_a_sample_by_its_item_or_its_number(repeated: Record, words: list[str], samples: list[int]) -> None:
    code, out, _ = show(repeated, *words, "--json")
    found = json.loads(out)
    rows = found if isinstance(found, list) else [found]
    assert (code, [row["sample"] for row in rows]) == (0, samples)
    code, out, _ = show(repeated, *words)
    assert [line for line in out.splitlines() if line.startswith("sample: ")] == [f"sample: {one}" for one in samples]


def test_a_number_that_is_an_id_too_is_said(repeated: Record) -> None:
    assert "note: 1 is also an item's id, of sample 2, 5: --repeat 0" in show(repeated, "--sample", "1")[2]
    assert show(repeated, "--sample", "0")[2] == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sample", "q10"], "no item 'q10'; did you mean 'q"),
        (["--sample", "zebra"], "no item 'zebra'; expected an item's id, or a sample's number"),
        (["--sample", "99"], "no sample 99 was attempted, and no item has this id"),
        (["--sample", "q1", "--repeat", "7"], "item 'q1' has no repeat 7; expected one of 0, 1"),
        (["--repeat", "1"], "--repeat: is of an item; name it with --sample"),
        (["--samples", "--failed"], "--failed and --samples: one of them"),
        (["--csv", "--json"], "--csv and --json: one of them"),
    ],
)
def test_what_is_not_there_is_said(repeated: Record, words: list[str], message: str) -> None:
    code, _, said = show(repeated, *words)
    assert code == 2
    assert message in said


def test_a_sample_is_shown_with_what_was_asked(repeated: Record) -> None:
    out = show(repeated, "--sample", "q0", "--repeat", "0")[1]
    assert 'prompt:\n    Where?\ncontext:\n    {"page":1}\nexpected_answer:\n    here\ncandidate_answer: ' in out
    row = json.loads(show(repeated, "--sample", "q1", "--repeat", "0", "--json")[1])
    assert (row["prompt"], row["context"], row["expected_answer"]) == ("=Why?\x1b[31m", "Because.", "because")


def test_all_samples_in_lines(repeated: Record) -> None:
    lines = show(repeated, "--samples")[1].splitlines()
    assert [line.split()[:2] for line in lines] == [[str(n), item] for n, item in enumerate(["q0", "q1", "1"] * 2)]
    assert all("Where?" in line for line in lines[::3])
    assert not any("\x1b" in line for line in lines)
    rows = json.loads(show(repeated, "--samples", "--json")[1])
    assert [row["prompt"] for row in rows] == [item["prompt"] for item in ITEMS] * 2


def test_all_samples_as_csv(repeated: Record) -> None:
    rows = list(csv.DictReader(io.StringIO(show(repeated, "--csv")[1], newline=""), strict=True))
    assert [row["item_id"] for row in rows] == ["q0", "q1", "1"] * 2
    assert [row["prompt"] for row in rows[:3]] == ["Where?", "'=Why?\\u001b[31m", "Who?"]  # no formula, no escape
    assert [row["context"] for row in rows[:3]] == ['{"page":1}', "Because.", ""]
    assert [row["expected_answer"] for row in rows[:3]] == ["here", "because", "I"]


def test_rows_that_have_their_prompt_get_their_context(tmp_path: Path) -> None:
    record = scored(tmp_path, [{"item_id": "q1", "predicted": "because"}], ITEMS).record
    row = json.loads(show(record, "--sample", "q1", "--json")[1])
    assert (row["context"], row["expected"]) == ("Because.", "because")
    assert "expected_answer" not in row
    assert "context:\n    " not in show(record, "--sample", "2")[1]
    assert "context: –" in show(record, "--sample", "2")[1].replace("\\u2013", "–")
