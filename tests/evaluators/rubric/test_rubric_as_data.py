"""`rubric@v1`, written in the form of a user's own rubric, is the same rubric: the proof that the form is right."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evalsets import Item
from benchbook.evaluators.rubric import tables
from benchbook.evaluators.rubric.plan import JudgePrompt, reply_schema
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.rubric.reply import parse_reply
from benchbook.evaluators.rubric.spec import RubricSpec, rubric_v1
from benchbook.record.folder import Record
from benchbook.specs import Template, load_spec
from benchbook.specs.folders import FilesBeside
from golden.views import FOLDERS
from support import cases

FOLDER = Path(__file__).parent / "rubric_as_data" / "rubric@v1"
AS_DATA = read_rubric(FilesBeside(FOLDER), FOLDER / "spec.toml")
V1 = rubric_v1()


def test_it_compiles_to_the_same() -> None:
    ours = replace(AS_DATA, sha256=V1.sha256, prompt_sha256=V1.prompt_sha256)
    assert {one.name: getattr(ours, one.name) for one in fields(RubricSpec)} == {
        one.name: getattr(V1, one.name) for one in fields(RubricSpec)
    }


def test_the_schema_of_its_reply_follows_from_its_criteria() -> None:
    frozen = msgspec.json.decode(load_spec("rubric@v1").files["reply.schema.json"])
    assert frozen | reply_schema(AS_DATA) == frozen
    assert list(reply_schema(AS_DATA)["properties"]) == list(frozen["properties"])  # its bytes are sent, in this order


hostile = st.text() | st.sampled_from(["{{answer}}", "{{item.context}}{{task}}", "{{", "}}", "{{{{item.prompt}}}}"])


@given(
    st.builds(
        Item, id=hostile, prompt=hostile, expected_answer=st.none() | hostile,
        context=st.none() | hostile | st.lists(hostile, max_size=2) | st.dictionaries(hostile, hostile, max_size=2),
    ),
    hostile,
)  # fmt: skip
def test_a_judge_is_asked_the_same_bytes(item: Item, answer: str) -> None:  # R2.2
    values: dict[str, Any] = {"task": item.prompt, "candidate_answer": answer}
    values |= {"reference_answer": item.expected_answer} if item.expected_answer is not None else {}
    values |= {"provided_context": item.context} if item.context is not None else {}
    expected = Template(load_spec("rubric@v1").text("prompt.txt")).render(values)
    assert JudgePrompt(AS_DATA).render(item, answer) == JudgePrompt(V1).render(item, answer) == expected


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("judge_reply"))
def test_replies_are_read_alike(case: dict[str, Any]) -> None:
    tags = case.get("options", {}).get("reasoning_tags", ())
    assert parse_reply(case["reply"], AS_DATA, tags) == parse_reply(case["reply"], V1, tags)


def _is_a_rubrics(path: Path) -> bool:
    return Record(path).started().spec == "rubric@v1"


@pytest.mark.parametrize("name", [name for name, path in FOLDERS.items() if _is_a_rubrics(path)])
def test_records_are_derived_to_the_same_bytes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record(FOLDERS[name])
    files = ("samples.parquet", "aggregates.json", "decision.json")
    (tmp_path / "v1").mkdir()
    tables.derive(record, tmp_path / "v1")
    monkeypatch.setattr(tables, "spec_of", lambda _, plan: AS_DATA.without(plan.unmeasured))
    (tmp_path / "data").mkdir()
    tables.derive(record, tmp_path / "data")
    assert {
        file for file in files if (tmp_path / "data" / file).read_bytes() != (tmp_path / "v1" / file).read_bytes()
    } == set()
