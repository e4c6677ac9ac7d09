"""What `evalset validate` says of a set is what `run` says of it: both refuse the same, and both warn of the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from running import benchbook_here

SCRIPT = {"replies": [
    {"contains": "You are a strict evaluation judge",
     "text": '{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Right."}'},
    {"text": "4", "latency_ms": 5, "input_tokens": 5, "output_tokens": 1},
]}  # fmt: skip


def validated(folder: Path) -> tuple[int, str]:
    done = benchbook_here("evalset", "validate", "--as", "rubric", "items.jsonl", cwd=folder)
    return done.returncode, " ".join((done.stdout + done.stderr).decode().split())


def ran(folder: Path) -> tuple[int, str]:
    (folder / "s.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    done = benchbook_here(
        "run", "--evalset", "items.jsonl", "--model", "scripted/m@1", "--model-path", "s.json", "--judge",
        "scripted/j@1", "--judge-path", "s.json", "--run-id", "r", "--reports", "none", cwd=folder,
    )  # fmt: skip
    return done.returncode, " ".join((done.stdout + done.stderr).decode().split())


NUMBERS = ["1e400", "-1e400", "12345678901234567890123456789", "1.10", "1e308", "0.1e-400", "NaN", "01"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("where", ["context", "own"])
def test_what_one_refuses_the_other_refuses(tmp_path: Path, number: str, where: str) -> None:
    """50-validate-holds-run-refuses: a number that no computer can hold, and others that some can't."""
    value = f'{{"x": {number}}}'
    line = f'{{"id": "1", "prompt": "2+2?", "expected_answer": "4", "{where}": {value}}}\n'
    (tmp_path / "items.jsonl").write_text(line, encoding="utf-8")
    code_of_validate, said_of_validate = validated(tmp_path)
    code_of_run, said_of_run = ran(tmp_path)
    assert (code_of_validate == 0) == (code_of_run == 0), f"{said_of_validate}\n{said_of_run}"
    if number in ("1.10", "1e308"):
        assert code_of_run == 0
    if code_of_run:
        assert "items.jsonl:1: " in said_of_validate
        assert "items.jsonl:1: " in said_of_run
        assert "$[" not in said_of_run


REFERENCES: dict[str, tuple[dict[str, Any], str]] = {
    "answer": ({"question": "2+2?", "answer": "4"}, "answer"),
    "ground_truth": ({"prompt": "2+2?", "ground_truth": "4"}, "ground_truth"),
    "ideal": ({"prompt": "2+2?", "ideal": "4"}, "ideal"),
    "target": ({"prompt": "2+2?", "target": "4"}, "target"),
}


@pytest.mark.parametrize("case", REFERENCES)
def test_a_reference_under_another_name_is_told_by_both(tmp_path: Path, case: str) -> None:
    """48-reference-under-another-name: no item has a reference, and which column may be it."""
    item, name = REFERENCES[case]
    rows = [{"id": str(n)} | {key: value.replace("2+2", f"{n}+2") for key, value in item.items()} for n in range(2)]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for code, said in (validated(tmp_path), ran(tmp_path)):
        if code == 2:  # refused for its prompt's name: no less told
            assert "prompt" in said
            continue
        assert "no item has" in said.lower(), said
        assert name in said
        assert "expected_answer" in said


def test_a_set_with_references_is_not_told_so(tmp_path: Path) -> None:
    """48-reference-under-another-name, where it is not so."""
    item = {"id": "1", "prompt": "2+2?", "expected_answer": "4"}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    for code, said in (validated(tmp_path), ran(tmp_path)):
        assert (code, "no item has a reference" in said.lower()) == (0, False), said


def test_a_mistake_in_the_data_is_told_before_any_number(tmp_path: Path) -> None:
    """48-reference-under-another-name, on the first lines of the terminal."""
    (tmp_path / "items.jsonl").write_text('{"id": "1", "prompt": "2+2?", "ground_truth": "4"}\n', encoding="utf-8")
    _, said = ran(tmp_path)
    assert said.index("ground_truth") < said.index("No item has a reference") < said.index("INCONCLUSIVE")


def test_what_was_not_measured_is_told_before_any_number(tmp_path: Path) -> None:
    """R1.4: no sample can pass where no usage came, which says nothing of the model."""
    item = {"id": "1", "prompt": "2+2?", "expected_answer": "4"}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    (tmp_path / "outputs.jsonl").write_text(json.dumps({"id": "1", "output": "4"}) + "\n", encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    done = benchbook_here(
        "run", "--evalset", "items.jsonl", "--model", "recorded/m@1", "--outputs", "outputs.jsonl", "--judge",
        "scripted/j@1", "--judge-path", "s.json", "--run-id", "r", "--reports", "none", cwd=tmp_path,
    )  # fmt: skip
    said = done.stdout.decode()
    assert said.index("no latency and no tokens") < said.index("INCONCLUSIVE")
