"""Judgements made elsewhere: bundles by a declared mapping, raw replies, tables (SPEC P6)."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError, ConfigError, InputError, UsageError
from benchbook.evalsets.output_set_sources import find_in_folder
from benchbook.evalsets.output_sets import Output, OutputSet, write_output_set
from benchbook.evaluators.evidence_text import NormalisedText
from benchbook.evaluators.protocol.import_bundles import read_bundle
from benchbook.evaluators.protocol.import_mapping import JudgementMapping, NoOutput, OutputIndex, load_mapping
from benchbook.evaluators.protocol.imported import ImportedJudgement, read_judgements
from benchbook.evaluators.protocol.importing import (
    How,
    find_reply_files,
    import_source,
    read_reply_file,
    read_reply_table,
    write_judgements,
)
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.protocol.validity import EvaluationSet, validate
from support import ROOT, shared_data

V1 = protocol_v1()
DRIFT_LAB = ROOT / "docs" / "examples" / "judgements" / "prompt-drift-lab.toml"

MAPPING = """
name = "small"
version = 1
entries = "result.files"

[[file_names]]
pattern = "{judge_model}-on-{target_model}.json"
method = "cross_judge"

[[file_names]]
pattern = "{judge_model}-alone.json"
method = "self_judge"

[bundle]
judge_model = "by.judge"
method = "by.method"
flags = "flags"
timestamp = "by.day"

[output]
at = ["file", "file_name"]
folder = "drop"
replace = { " " = "_" }

[scores]
at = "scores"
ignore = ["total"]

[dimensions]
form = "FORMAT_COMPLIANCE"
rules = "INSTRUCTION_COMPLIANCE"
limits = "INSTRUCTION_COMPLIANCE"
sense = "SEMANTIC_FIDELITY"
whole = "COMPLETENESS"
style = ""

[evidence]
at = "evidence"

[entry]
notes = "notes"
verdict = "verdict"
overall_score = "sum"

[models]
gem = "acme/gem@1"
"""
GOOD = {
    "file": "q1_a.txt",
    "scores": {"form": 2, "rules": 2, "limits": 1, "sense": 2, "whole": 2, "style": 0, "total": 9},
    "evidence": {"form": "One", "rules": "two", "limits": "three", "sense": "four", "whole": "five", "style": "six"},
    "notes": "Good.",
}


def output(question: str, variant: str, target: str, name: str) -> Output:
    return Output(question, variant, target, f"id-{name}", name, "0" * 64, "1" * 64, "utf-8", "1")


INDEX = OutputIndex(
    [
        output("Q1", "A", "acme/gem@1", "gem/q1_a.txt"),
        output("Q2", "A", "acme/gem@1", "gem/q2_a.txt"),
        output("Q1", "A", "other", "other/q1_a.txt"),
    ]
)


def mapping(folder: Path, text: str = MAPPING) -> JudgementMapping:
    path = folder / "mapping.toml"
    path.write_text(text, encoding="utf-8")
    return load_mapping(path, V1)


def bundle(folder: Path, *entries: Any, name: str = "judge1-on-gem.json", **more: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps({"result": {"files": entries}, **more}), encoding="utf-8")
    return path


def read(folder: Path, *entries: Any, text: str = MAPPING, **more: Any) -> list[ImportedJudgement]:
    return list(read_bundle(bundle(folder, *entries, **more), mapping(folder, text), V1, INDEX))


def reply_of(folder: Path, **changed: Any) -> dict[str, Any]:
    (judgement,) = read(folder, GOOD | changed)
    found: dict[str, Any] = json.loads(judgement.reply)
    return found


# Bundles


def test_an_entry_becomes_a_reply_in_the_protocols_form(tmp_path: Path) -> None:
    path = bundle(tmp_path, GOOD)
    (judgement,) = read_bundle(path, mapping(tmp_path), V1, INDEX)
    assert judgement.source == str(path)
    assert judgement.source_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert judgement.place == "result.files[0]"
    assert judgement.key == ("Q1", "A", "acme/gem@1", "id-gem/q1_a.txt")
    assert (judgement.judge_model, judgement.method, judgement.remarks) == ("judge1", "cross_judge", ())
    assert judgement.mapping_sha256 == mapping(tmp_path).sha256
    assert judgement.raw == judgement.written == json.dumps(GOOD)
    reply = json.loads(judgement.reply)
    assert judgement.reply == canonical_json(reply).decode()
    assert reply == {
        "meta": {
            "judge_model": "judge1", "method": "cross_judge", "question_id": "Q1", "prompt_variant": "A",
            "target_model": "acme/gem@1", "output_id": "id-gem/q1_a.txt",
        },
        "scores": {
            "FORMAT_COMPLIANCE": 2, "INSTRUCTION_COMPLIANCE": 1, "SEMANTIC_FIDELITY": 2, "COMPLETENESS": 2,
        },
        "evidence": [
            {"dimension": "FORMAT_COMPLIANCE", "quote": "One"},
            {"dimension": "INSTRUCTION_COMPLIANCE", "quote": "two"},
            {"dimension": "INSTRUCTION_COMPLIANCE", "quote": "three"},
            {"dimension": "SEMANTIC_FIDELITY", "quote": "four"},
            {"dimension": "COMPLETENESS", "quote": "five"},
        ],
        "notes": "Good.",
    }  # fmt: skip


def test_an_entry_is_kept_as_its_bytes_stand_in_the_file(tmp_path: Path) -> None:
    """Its white space, its order, its escapes, and numbers as they are spelled."""
    entries = ['{ "file":"q1_a.txt",\r\n "notes": "\\u00fc \U0001f600 }", "total": 1.50e0 }', '{"file": "q2_a.txt"}']
    path = tmp_path / "judge1-on-gem.json"
    path.write_bytes(('{"flags":[],"result":{"files" : [\n  ' + " ,\t".join(entries) + "]}}").encode())
    assert [one.written for one in read_bundle(path, mapping(tmp_path), V1, INDEX)] == entries


def test_what_it_lacks_is_found_to_be_missing(tmp_path: Path) -> None:
    (judgement,) = read(tmp_path, GOOD)
    found = validate(judgement.reply, output_text="One two three four five", asked=judgement.asked)
    assert found.flags == ("PROTOCOL_VIOLATION", "UNPARSABLE_OUTPUT")
    assert {detail.code for detail in found.details} == {"missing_field", "quote_too_short"}  # "One" and "two"
    assert {detail.field for detail in found.details if detail.code == "missing_field"} == {
        "meta.timestamp", "scores.overall_score", "verdict", "flags", *(f"evidence[{at}].reason" for at in range(5)),
    }  # fmt: skip


def test_a_bundle_that_has_all_of_it_makes_valid_evaluations(tmp_path: Path) -> None:
    entry = GOOD | {
        "scores": {"form": 2, "rules": 2, "limits": 2, "sense": 2, "whole": 1},
        "sum": 7,
        "verdict": "PASS",
        "evidence": [
            {"dimension": name, "quote": "One two", "reason": "It is there."}
            for name in ("form", "rules", "sense", "whole")
        ],
    }
    (judgement,) = read(tmp_path, entry, flags=[], by={"day": "2026-03-14"})
    found = validate(judgement.reply, output_text="One two", asked=judgement.asked)
    assert found.details == ()
    assert found.verdict == "PASS"


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param({"rules": 2, "limits": 0}, {"INSTRUCTION_COMPLIANCE": 0}, id="the-smaller-of-two"),
        pytest.param({"rules": 0, "limits": 3}, {"INSTRUCTION_COMPLIANCE": 3}, id="a-3-is-not-hidden"),
        pytest.param({"rules": -1, "limits": 0}, {"INSTRUCTION_COMPLIANCE": -1}, id="nor-a-minus-1"),
        pytest.param({"rules": 0, "limits": True}, {"INSTRUCTION_COMPLIANCE": True}, id="nor-a-true"),
        pytest.param({"rules": None, "limits": 0}, {"INSTRUCTION_COMPLIANCE": None}, id="nor-a-null"),
        pytest.param({"rules": 2}, {}, id="half-a-dimension-is-none"),
        pytest.param({"form": "2"}, {"FORMAT_COMPLIANCE": "2"}, id="a-text-stays-one"),
        pytest.param({"form": 1.0}, {"FORMAT_COMPLIANCE": 1.0}, id="a-float-stays-one"),
        pytest.param({"shape": 1}, {"shape": 1}, id="an-unknown-dimension-is-kept-to-be-flagged"),
        pytest.param({"total": 1, "style": 2}, {}, id="what-is-declared-as-no-dimension-goes"),
        pytest.param({}, {}, id="nothing"),
    ],
)  # fmt: skip
def test_scores_go_over_by_the_table(scores: dict[str, Any], expected: dict[str, Any], tmp_path: Path) -> None:
    found = reply_of(tmp_path, scores=scores)["scores"]
    assert json.dumps(found) == json.dumps(expected)


def test_the_larger_of_two_where_the_mapping_says_so(tmp_path: Path) -> None:
    (judgement,) = read(
        tmp_path, GOOD, text=MAPPING.replace('ignore = ["total"]', 'combine = "max"\nignore = ["total"]')
    )
    assert json.loads(judgement.reply)["scores"]["INSTRUCTION_COMPLIANCE"] == 2


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        pytest.param({"form": ["a", "b"]}, [("FORMAT_COMPLIANCE", "a"), ("FORMAT_COMPLIANCE", "b")], id="a-list"),
        pytest.param({"form": ""}, [("FORMAT_COMPLIANCE", "")], id="an-empty-quote-stays"),
        pytest.param({"form": None}, [("FORMAT_COMPLIANCE", None)], id="a-null-stays"),
        pytest.param({"form": {"quote": "a"}}, [("FORMAT_COMPLIANCE", "a")], id="an-object"),
        pytest.param({"shape": "a"}, [("shape", "a")], id="an-unknown-dimension-is-kept"),
        pytest.param({"style": "a"}, [], id="one-that-is-left-out"),
        pytest.param(["a"], [("none", "a")], id="strings-of-no-dimension"),
        pytest.param([{"dimension": "form", "quote": "a"}], [("FORMAT_COMPLIANCE", "a")], id="objects"),
        pytest.param([{"dimension": 3, "quote": "a"}], [(3, "a")], id="a-dimension-that-is-a-number"),
        pytest.param([7], [("none", 7)], id="a-number-for-a-quote"),
        pytest.param({}, [], id="none"),
    ],
)  # fmt: skip
def test_evidence_goes_over_in_all_its_forms(evidence: Any, expected: list[Any], tmp_path: Path) -> None:
    found = reply_of(tmp_path, evidence=evidence)["evidence"]
    assert [(item.get("dimension", "none"), item["quote"]) for item in found] == expected


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"evidence": "x"}, "evidence"),
        ({"scores": [1]}, "scores"),
        ({"scores": None}, "scores"),
        ({"notes": 3}, "notes"),
    ],
    ids=["evidence", "scores", "null-scores", "notes"],
)
def test_what_is_of_another_type_stays_so(changed: dict[str, Any], field: str, tmp_path: Path) -> None:
    assert reply_of(tmp_path, **changed)[field] == changed[field]


@pytest.mark.parametrize("field", ["scores", "evidence", "notes"])
def test_what_is_not_there_stays_missing(field: str, tmp_path: Path) -> None:
    (judgement,) = read(tmp_path, {name: value for name, value in GOOD.items() if name != field})
    assert field not in json.loads(judgement.reply)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param({"file": "q2_a.txt"}, "Q2", id="a-name"),
        pytest.param({"file": "q2 a.txt"}, "Q2", id="spaces"),
        pytest.param({"file": "old/folder/q2 a.txt"}, "Q2", id="a-folder-before-it"),
        pytest.param({"file_name": "q2_a.txt"}, "Q2", id="another-field"),
        pytest.param({"file": 3, "file_name": "q2_a.txt"}, "Q2", id="no-text-in-the-first"),
        pytest.param({"file": "Q2_a.txt"}, "no output of the set with file_name 'Q2_a.txt'", id="other-letters"),
        pytest.param({"file": "q9.txt"}, "no output of the set with file_name 'q9.txt'", id="unknown"),
        pytest.param({"file": "\x1b[31m"}, "no output of the set with file_name '\\u001b[31m'", id="hostile"),
        pytest.param({}, "it names no output", id="no-name"),
    ],
)
def test_a_name_finds_its_output_or_says_that_there_is_none(
    entry: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    (judgement,) = read(tmp_path, entry)
    if judgement.key is not None:
        assert (judgement.key[0], judgement.remarks) == (expected, ())
        return
    (remark,) = judgement.remarks
    assert remark.startswith(expected)
    meta = json.loads(judgement.reply)["meta"]
    assert meta.get("output_id") == entry.get("file")
    assert "question_id" not in meta
    found = validate(judgement.reply, output_text="", asked=judgement.asked, evaluation_set=EvaluationSet([]))
    assert "INCOMPLETE_COVERAGE" in found.flags


def test_a_name_of_two_outputs_is_none_of_them(tmp_path: Path) -> None:
    path = bundle(tmp_path, GOOD, name="any.json")
    declared = {"judge_model": "j", "method": "cross_judge"}
    (judgement,) = read_bundle(path, mapping(tmp_path), V1, INDEX, declared)
    assert judgement.key is None
    assert judgement.remarks == ("2 outputs of the set with file_name 'q1_a.txt'",)
    (judgement,) = read_bundle(path, mapping(tmp_path), V1, INDEX, declared | {"target_model": "other"})
    assert judgement.key == ("Q1", "A", "other", "id-other/q1_a.txt")


def test_an_output_that_is_judged_twice_is_said_and_kept(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD, GOOD | {"file": "q1 a.txt"})
    assert [judgement.remarks for judgement in found] == [
        (), ("the bundle judges this output at result.files[0] too",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "by", "declared", "expected", "stated"),
    [
        pytest.param("j-on-gem.json", {}, {}, ("j", "cross_judge"), ("j", "cross_judge"), id="the-name"),
        pytest.param("gem-alone.json", {}, {}, ("acme/gem@1", "self_judge"), ("acme/gem@1", "self_judge"), id="itself"),
        pytest.param(
            "x.json", {"judge": "k", "method": "cross_judge"}, {"target_model": "acme/gem@1"},
            ("k", "cross_judge"), ("k", "cross_judge"), id="the-bundle",
        ),
        pytest.param(
            "j-on-gem.json", {"judge": "k", "method": "self_judge"}, {},
            ("j", "cross_judge"), ("k", "self_judge"), id="a-bundle-that-contradicts-its-name",
        ),
        pytest.param(
            "j-on-gem.json", {}, {"judge_model": "d"}, ("d", "cross_judge"), ("d", "cross_judge"), id="the-caller"
        ),
        pytest.param("j-on-gem.json", {"judge": 3}, {}, ("j", "cross_judge"), (3, "cross_judge"), id="of-another-type"),
    ],
)  # fmt: skip
def test_who_judged_is_told_by_caller_name_or_bundle(
    name: str,
    by: dict[str, Any],
    declared: dict[str, str],
    expected: tuple[str, str],
    stated: tuple[Any, str],
    tmp_path: Path,
) -> None:
    (judgement,) = read_bundle(bundle(tmp_path, GOOD, name=name, by=by), mapping(tmp_path), V1, INDEX, declared)
    meta = json.loads(judgement.reply)["meta"]
    assert (judgement.judge_model, judgement.method) == expected
    assert (meta["judge_model"], meta["method"]) == stated
    assert judgement.key is not None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "no JSON", id="empty"),
        pytest.param(b"\xff", "byte 0xff", id="no-utf-8"),
        pytest.param(b"{", "no JSON", id="cut"),
        pytest.param(b"[" * 100_000, "no JSON", id="deep"),
        pytest.param(b"[]", "result.files: found nothing; expected a list", id="a-list"),
        pytest.param(b'{"result": {"files": {}}}', "found an object; expected a list", id="no-list"),
        pytest.param(b'{"result": {"files": [3]}}', "result.files[0]: found a number", id="an-entry-of-another-type"),
        pytest.param(b'{"a": 1, "a": 2}', "2 times in one object", id="a-key-twice"),
        pytest.param(b'{"a": NaN}', "no JSON", id="nan"),
        pytest.param(b'{"a": [{"b": 1e999}]}', "a number beyond", id="infinity-by-another-name"),
        pytest.param(b'{"a": "\\ud800"}', "no JSON", id="a-lone-surrogate"),
    ],
)
def test_a_file_that_is_no_bundle_is_told(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "judge1-on-gem.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        list(read_bundle(path, mapping(tmp_path), V1, INDEX))
    assert str(error.value).startswith(str(path))
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("name", "declared", "error", "says"),
    [
        pytest.param("x.json", {}, InputError, "judge_model: found nothing that says who judged", id="no-judge"),
        pytest.param("x.json", {"judge_model": "j"}, InputError, "method: found nothing", id="no-method"),
        pytest.param("x.json", {"method": "guess"}, ConfigError, "found 'guess'", id="another-method"),
        pytest.param("x.json", {"judge": "j"}, ConfigError, "found judge", id="another-value"),
        pytest.param("x.json", {"judge_model": " "}, ConfigError, "an empty value", id="an-empty-value"),
        pytest.param("absent.json", {}, UsageError, "can't be read", id="no-file"),
    ],
)
def test_without_a_judge_nothing_is_read(
    name: str, declared: dict[str, str], error: type[BenchbookError], says: str, tmp_path: Path
) -> None:
    bundle(tmp_path, GOOD, name="x.json")
    with pytest.raises(error, match=re.escape(says)):
        list(read_bundle(tmp_path / name, mapping(tmp_path), V1, INDEX, declared))


# Mappings


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        pytest.param("[scores]", "[score]", "unknown field `score`", id="a-typing-error"),
        pytest.param('at = "scores"', 'to = "scores"', "unknown field `to`", id="a-typing-error-within"),
        pytest.param(
            "COMPLETENESS", "COMPLETE", "dimensions.whole: found 'COMPLETE'; expected FORMAT", id="no-dimension"
        ),
        pytest.param("-on-{target_model}", "-on-{target}", "found {target}", id="no-placeholder"),
        pytest.param('"drop"', '"forget"', "'forget'", id="no-rule"),
        pytest.param("version = 1", 'version = "1"', "Expected `int`", id="another-type"),
        pytest.param("version = 1", "version =", "no TOML", id="no-toml"),
        pytest.param("\nname", "\nnome", "unknown field `nome`", id="no-name"),
    ],
)
def test_a_mapping_that_is_none_is_refused(before: str, after: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        mapping(tmp_path, MAPPING.replace(before, after, 1))
    assert says in str(error.value)


def test_a_mappings_hash_is_that_of_what_it_says(tmp_path: Path) -> None:
    one = mapping(tmp_path)
    assert one.sha256 == hashlib.sha256(one.canonical).hexdigest()
    assert mapping(tmp_path, "# A comment\n" + MAPPING).sha256 == one.sha256
    assert mapping(tmp_path, MAPPING.replace('"COMPLETENESS"', '"SEMANTIC_FIDELITY"')).sha256 != one.sha256


# Raw replies


def test_a_folder_of_raw_replies_is_read_by_its_pattern(tmp_path: Path) -> None:
    (tmp_path / "cross_judge" / "j").mkdir(parents=True)
    texts = {"Q1__acme.json": b"{}", "Q2__acme.json": b"\xff not UTF-8", "Q9__acme.json": b"", "notes.txt": b"x"}
    for name, data in texts.items():
        (tmp_path / "cross_judge" / "j" / name).write_bytes(data)
    pattern = "{method}/{judge_model}/{question_id}__acme.json"
    files, others = find_reply_files(tmp_path, pattern, {"target_model": "acme/gem@1"})
    assert [other.name for other in others] == ["cross_judge/j/notes.txt"]
    found = [read_reply_file(tmp_path, name, known, INDEX) for name, known in files]
    assert [judgement.reply for judgement in found] == ["{}", "\udcff not UTF-8", ""]
    assert [judgement.odd_bytes for judgement in found] == [None, b"\xff not UTF-8", None]
    assert [judgement.question_id for judgement in found] == ["Q1", "Q2", None]
    assert {(judgement.judge_model, judgement.method, judgement.mapping_sha256) for judgement in found} == {
        ("j", "cross_judge", None)
    }
    assert found[2].remarks == ("no output of the set with question_id 'Q9', target_model 'acme/gem@1'",)
    assert found[2].key is None
    assert validate(found[1].reply, output_text="").flags == ("JUDGE_REFUSAL_OR_EVASION", "UNPARSABLE_OUTPUT")


def test_a_table_of_replies_is_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    rows = [
        {"judge_model": "j", "method": "self_judge", "output_id": "id-gem/q1_a.txt", "reply": "No.", "also": 1},
        {"judge_model": "j", "file": "gem/q2_a.txt", "reply": {"b": 1, "a": [2]}},
        {"judge_model": "j", "question_id": "Q1", "reply": None},
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    found = list(read_reply_table(path, INDEX, {"method": "cross_judge"}))
    assert [(each.place, each.method, each.reply) for each in found] == [
        ("line 1", "self_judge", "No."),
        ("line 2", "cross_judge", '{"b": 1, "a": [2]}'),
        ("line 3", "cross_judge", ""),
    ]
    assert [each.question_id for each in found] == ["Q1", "Q2", None]
    assert found[2].remarks == ("2 outputs of the set with question_id 'Q1'",)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        pytest.param({"judge_model": None}, "judge_model: found nothing", id="no-judge"),
        pytest.param({"judge_model": 3}, "judge_model: found 3; expected a text", id="a-number"),
        pytest.param({"method": "guess"}, "method: found 'guess'", id="another-method"),
        pytest.param({"reply": 3}, "reply: found 3", id="a-number-for-a-reply"),
        pytest.param({"output_id": ["x"]}, "output_id: found ['x']", id="a-list"),
    ],
)
def test_a_row_that_is_no_reply_is_an_error_with_its_line(row: dict[str, Any], says: str, tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    good = {"judge_model": "j", "method": "cross_judge", "output_id": "x", "reply": "{}"}
    path.write_text(json.dumps(good | row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(says)) as error:
        list(read_reply_table(path, INDEX))
    assert error.value.line == 1


def test_a_table_without_replies_is_told(tmp_path: Path) -> None:
    path = tmp_path / "replies.csv"
    path.write_text("judge_model,method,output_id\nj,cross_judge,x\n", encoding="utf-8")
    with pytest.raises(InputError, match="reply: found nothing"):
        list(read_reply_table(path, INDEX))


# Written and read back


def test_judgements_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Q1.txt").write_bytes(b"\xff\x00\x1b[31m \xe2\x80\xa8")
    how = How(pattern="{question_id}.txt", declared={"judge_model": "j", "method": "cross_judge"})
    found = import_source(str(tmp_path / "in"), INDEX, how).judgements
    found += import_source(str(bundle(tmp_path, GOOD)), INDEX, How(mapping(tmp_path))).judgements
    write_judgements(tmp_path / "out.jsonl", found)
    assert tuple(read_judgements(tmp_path / "out.jsonl")) == found
    with pytest.raises(UsageError, match="is there already"):
        write_judgements(tmp_path / "out.jsonl", found)
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_line_that_is_no_judgement_is_told(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    path.write_text('{"source": 3}\n', encoding="utf-8")
    with pytest.raises(InputError, match=":1: no judgement"):
        list(read_judgements(path))


def test_an_output_is_found_by_all_that_is_known_of_it() -> None:
    assert isinstance(INDEX.find({"question_id": "Q2"}), Output)
    assert isinstance(INDEX.find({}), NoOutput)
    assert INDEX.find({"question_id": "Q2", "file": "gem/q1_a.txt"}) == NoOutput(
        "no output of the set with file 'gem/q1_a.txt', question_id 'Q2'"
    )


# The real bundles


@pytest.fixture(scope="module")
def drift_lab(tmp_path_factory: pytest.TempPathFactory) -> OutputSet:
    if find_spec("pypdfium2") is None:
        pytest.skip("pypdfium2 is not installed")
    outputs = shared_data("prompt-drift-lab") / "outputs"
    pattern = "{target_model}/{question_id}_{prompt_variant}.pdf"
    found = find_in_folder(outputs, pattern, {"question_id": ["q3", "q4"]})
    return write_output_set(found.candidates, tmp_path_factory.mktemp("drift-lab") / "set")


@pytest.mark.slow
def test_the_real_outputs_are_a_set_without_gaps(drift_lab: OutputSet) -> None:
    assert len(drift_lab.outputs) == 32
    assert {output.question_id for output in drift_lab.outputs} == {"q3", "q4"}
    assert len({output.prompt_variant for output in drift_lab.outputs}) == 8
    assert all(output.error is None and output.n_pages for output in drift_lab.outputs)


def stated_table() -> dict[str, tuple[int, ...]]:
    """Quotes, exact, normalised, fragments, not found, empty: as the data's README says."""
    readme = (shared_data("prompt-drift-lab").parent / "README.md").read_text("utf-8")
    rows = re.findall(r"\| (v\d_\w+/\w+) \|((?: \d+ \|){6})", readme)
    return {name: tuple(map(int, re.findall(r"\d+", numbers))) for name, numbers in rows}


@pytest.mark.slow
def test_the_quotes_of_the_real_bundles_are_found_as_the_readme_says(drift_lab: OutputSet) -> None:
    index, rules = OutputIndex(drift_lab.outputs), load_mapping(DRIFT_LAB, V1)
    cells = EvaluationSet(output.cell for output in drift_lab.outputs)
    texts = {output.key: NormalisedText(drift_lab.text(output)) for output in drift_lab.outputs}
    folder = shared_data("prompt-drift-lab") / "judge_bundles"
    found: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.glob("*/*judge_*.json")):
        counts: Counter[str | None] = Counter()
        for judgement in read_bundle(path, rules, V1, index):
            assert judgement.key is not None
            evaluation = validate(
                judgement.reply, output_text=texts[judgement.key], asked=judgement.asked, evaluation_set=cells
            )
            assert not {"not_as_asked", "not_in_evaluation_set"} & {detail.code for detail in evaluation.details}
            assert evaluation.scores is not None
            counts.update(evaluation.located)
        kinds = tuple(counts[kind] for kind in ("exact", "normalised", "fragments", "not_found", "empty"))
        found[f"{path.parent.name}/{path.stem}"] = (counts.total(), *kinds)
    assert len(found) == 10
    assert found == stated_table()
