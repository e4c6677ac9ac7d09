"""What is told of a prompt template before anything is asked, and of an eval set first in a run's warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import ConfigError
from benchbook.evaluators.candidate import read_template
from benchbook.evaluators.verify import verify
from benchbook.record.folder import open_record
from running import benchbook_here

SCRIPT = {
    "replies": [
        {
            "contains": "You are a strict evaluation judge",
            "text": '{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Right."}',
        },
        {"text": "4", "latency_ms": 5, "input_tokens": 5, "output_tokens": 1},
    ]
}
WORDS = [
    "Nobody reads the column 'answer', which 1 item has; did you mean expected_answer, reference_answer or reference?",
    "No item has a reference or a context: the judge sees the prompt and the answer alone.",
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("In {{language}}: {{prompt}}", "'{{language}}' on line 1", id="unknown"),
        pytest.param("{{prompt}}\n\n{{ prompt }}", "'{{ prompt }}' on line 3", id="with-spaces"),
        pytest.param("{{prompt}} {{Context}}", "'{{Context}}' on line 1", id="in-capitals"),
        pytest.param("{{prompt}}{{reference_answer}}", "'{{reference_answer}}' on line 1", id="of-the-judge"),
        pytest.param("{{prompt}}{{item.id}}", "'{{item.id}}' on line 1", id="with-a-point"),
    ],
)
def test_a_name_that_is_not_there_is_told_with_those_that_are(text: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_template(path)
    assert found in caught.value.found
    assert caught.value.expected == "{{prompt}}, {{context}}, {{id}} or {{category}}"


@pytest.mark.parametrize(
    "text", ["{{prompt}}", "{{id}} {{category}}: {{context}} {{prompt}}", "{{prompt}} {x} {{}} {% if %} {{1 + 1}}"]
)
def test_other_braces_are_text(text: str, tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(text, encoding="utf-8")
    assert read_template(path) == text


def words(folder: Path, *more: str) -> list[str]:
    (folder / "s.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    (folder / "items.csv").write_text("id,question,answer\n1,2+2?,4\n", encoding="utf-8")
    script = str(folder / "s.json")
    model = ["--model", "scripted/m@1", "--model-path", script, "--judge", "scripted/j@1", "--judge-path", script]
    return ["run", "--evalset", str(folder / "items.csv"), *model, *more]


def said(*arguments: str) -> Any:
    done = benchbook_here(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_run_its_dry_run_and_validate_say_the_same(tmp_path: Path) -> None:
    assert said(*words(tmp_path, "--dry-run"))["warnings"] == WORDS
    made = said(*words(tmp_path, "--runs", str(tmp_path / "runs"), "--run-id", "a", "--reports", "none"))
    assert made["aggregates"]["warnings"][:2] == WORDS
    assert verify(open_record(tmp_path / "runs" / "a")).holds
    findings = said("evalset", "validate", "--as", "rubric", str(tmp_path / "items.csv"))["findings"]
    assert [one["reason"][1:] for one in findings] == [one[1:].rstrip(".") for one in WORDS]
