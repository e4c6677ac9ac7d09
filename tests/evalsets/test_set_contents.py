"""Columns that nobody reads, and what a judge will not see: said alike by validate, a run, and its dry run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.evalsets import open_evalset
from benchbook.evalsets.items import field_meant
from benchbook.evalsets.set_contents import SetContents, doubtful, lacking, unread
from benchbook.evalsets.validate import validate

Row = dict[str, Any]

ALONE = "no item has a reference or a context: the judge sees the prompt and the answer alone"
NO_REFERENCE = "no item has a reference: the judge does not see what a right answer is"
NO_CONTEXT = "no item has a context: the judge does not see what an answer should be faithful to"
REFERENCE = "expected_answer, reference_answer or reference?"


def contents_of(folder: Path, rows: list[Row]) -> SetContents:
    path = folder / "set.jsonl"
    path.write_text(
        "".join(json.dumps({"id": f"i{n}", "prompt": f"P{n}"} | row) + "\n" for n, row in enumerate(rows)), "utf-8"
    )
    with open_evalset(path) as found:
        assert found.contents is not None
        return found.contents


@pytest.mark.parametrize(
    ("rows", "columns", "says", "lacks"),
    [
        pytest.param([{"answer": "x"}] * 2, ["answer"], f"which 2 items have; did you mean {REFERENCE}", ALONE,
                     id="answer"),
        pytest.param([{"ground_truth": "x", "context": "c"}], ["ground_truth"], "which 1 item has; did you",
                     NO_REFERENCE, id="ground-truth"),
        pytest.param([{"Ideal": "x"}, {"Target": "y"}], ["Ideal", "Target"], "'Ideal', which 1 item", ALONE, id="2"),
        pytest.param([{"expected_answr": "x"}], ["expected_answr"], REFERENCE, ALONE, id="spelling"),
        pytest.param([{"Reference-Answer": "x"}], ["Reference-Answer"], REFERENCE, ALONE, id="in-capitals"),
        pytest.param([{"reference": "x", "documents": ["d"]}], ["documents"], "did you mean context or",
                     NO_CONTEXT, id="documents"),
        pytest.param([{"reference": "x"}, {"answer": "y", "context": 1}], ["answer"], "1 item has", None, id="half"),
        pytest.param([{"reference": "x", "context": [], "answer": "said", "url": "u"}], [], "", None, id="all-there"),
        pytest.param([{"expected_answer": None, "answer": None}], [], "", ALONE, id="nulls"),
        pytest.param([{"source": "s", "url": "u"}], [], "", ALONE, id="of-ones-own"),
        pytest.param([{"ideal\u202e": "x"}], [], "", ALONE, id="unseen"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_set(
    rows: list[Row], columns: list[str], says: str, lacks: str | None, tmp_path: Path
) -> None:
    contents = contents_of(tmp_path, rows)
    found = list(unread(contents))
    assert [name for name, _ in found] == columns
    assert says in " ".join(reason for _, reason in found)
    assert lacking(contents) == lacks
    said = [one.reason for one in validate(tmp_path / "set.jsonl", "rubric") if one.line is None]
    assert said == [reason for _, reason in found] + [lacks] * (lacks is not None)


@pytest.mark.parametrize(
    ("name", "field"),
    [("query", "prompt"), ("Instruction", "prompt"), ("questoin", "prompt"), ("gold answer", "expected_answer"),
     ("retrieved_contexts", "context"), ("catgory", "category"), ("itemid", "id"), ("url", None), ("x" * 200, None)],
)  # fmt: skip
def test_what_a_name_is_likely_to_hold(name: str, field: str | None) -> None:
    assert field_meant(name) == field


def test_a_prompt_under_another_name_is_told_beside_the_fault(tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    path.write_text("id,query\na,P?\n", encoding="utf-8")
    (first, *_) = validate(path, "rubric")
    assert (first.line, first.field, first.reason) == (2, "prompt", "there is no prompt (query is there: rename it)")


def test_names_without_end_are_not_kept(tmp_path: Path) -> None:
    contents = contents_of(tmp_path, [{f"{n}{'x' * 500}": 1 for n in range(300)}])
    assert (len(contents.unread), max(map(len, contents.unread))) == (100, 100)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        pytest.param([{"prompt": "What is 2 + 2?"}, {"prompt": "What is 3 + 3?"}], [], id="none"),
        pytest.param([{"prompt": "Who?"}, {"prompt": "Who?"}, {"prompt": " who"}],
                     ["2 of 3 items ask what an earlier one asks, but for case, white space and punctuation"], id="2"),
        pytest.param([{"prompt": "Who?", "context": "a"}, {"prompt": "Who?", "context": "b"}], [], id="other-contexts"),
        pytest.param([{"prompt": "Is it 4 or 5?", "reference": "4"}, {"prompt": "14?", "reference": "4"}],
                     ["1 of 2 prompts holds the expected answer"], id="given-away"),
    ],
)  # fmt: skip
def test_what_is_doubtful_is_counted_as_validate_tells_it_line_by_line(
    tmp_path: Path, rows: list[Row], says: list[str]
) -> None:
    assert list(doubtful(contents_of(tmp_path, rows))) == says
    codes = [finding.code for finding in validate(tmp_path / "set.jsonl", "rubric")]
    told = sum(code in ("duplicate_prompt", "near_duplicate_prompt", "answer_in_prompt") for code in codes)
    assert told == sum(int(one.split()[0]) for one in says)
