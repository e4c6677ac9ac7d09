"""A spec.toml of checks is read, or every fault in it is said: file, line, key, what was found, what would be right."""

from __future__ import annotations

import pickle
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import UsageError
from benchbook.evaluators.checks import REASONS, GateSpec, aggregate_names, read_checks
from benchbook.evaluators.checks.compared import AnswerPart
from benchbook.evaluators.checks.kinds.texts import Contains
from benchbook.specs.faults import SpecError
from checking import HEAD

IT = f'{HEAD}[[checks]]\nname = "it"\n'  # its next line is the sixth


def _faults(text: str, files: dict[str, bytes] | None = None) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read_checks(text, "mine/spec.toml", files)
    assert all(fault.path == "mine/spec.toml" for fault in caught.value.faults)
    return [str(fault).removeprefix("mine/spec.toml") for fault in caught.value.faults]


def test_a_spec_is_read_exactly() -> None:
    spec = read_checks(
        """
name = "capital_in_form"
version = 2
about = "Names the capital, in the form that was asked for."

[[checks]]
name = "capital"
kind = "contains"
expected = ["Paris", 3.10]
whole_words = true
compare = { after = "Answer:", otherwise = "nothing" }
weight = 0.3

[[checks]]
name = "short"
kind = "max_words"
limit = 20
must_pass = false

[[gates]]
aggregate = "primary_score"
at_least = 0.80

[[gates]]
aggregate = "short_mean"
at_least = 0.1
at_most = 1
"""
    )
    assert (spec.id, spec.about) == ("capital_in_form@v2", "Names the capital, in the form that was asked for.")
    capital, short = spec.checks
    assert isinstance(capital.kind, Contains)
    assert capital.kind.expected.texts({}) == ("Paris", "3.10")
    assert (capital.kind.whole_words, capital.kind.ignore_case) == (True, True)
    assert capital.part == AnswerPart("after", "Answer:", "nothing")
    assert (capital.weight, capital.must_pass, short.weight, short.must_pass) == (Fraction(3, 10), True, 1, False)
    assert spec.gates == (
        GateSpec("primary_score", at_least=Fraction(4, 5)),
        GateSpec("short_mean", at_least=Fraction(1, 10), at_most=Fraction(1)),
    )


@pytest.mark.parametrize(
    ("compare", "part"),
    [
        ('"whole"', AnswerPart()),
        ('"last_line"', AnswerPart("last_line")),
        ('"boxed"', AnswerPart("boxed", otherwise="nothing")),
        ('{ part = "boxed", otherwise = "whole" }', AnswerPart("boxed", otherwise="whole")),
        ('{ after = "####" }', AnswerPart("after", "####", "whole")),
        ('{ tag = "answer" }', AnswerPart("tag", "answer", "nothing")),
    ],
)
def test_the_compared_part_and_its_default(compare: str, part: AnswerPart) -> None:
    assert read_checks(f'{IT}kind = "equals"\ncompare = {compare}').checks[0].part == part


def test_every_fault_is_said_at_once() -> None:
    text = """name = "X"
version = 1.5
abuot = "x"
[[checks]]
name = "a"
kind = "regx"
[[checks]]
name = "a"
kind = "regex"
pattern = "("
weigt = 3
[[gates]]
aggregate = "pass_rat"
"""
    assert _faults(text) == [
        ": about: found nothing; expected one sentence, shown in reports",
        ":1: name: found 'X'; expected a name of at most 48 small letters, digits and _, a letter first",
        ":2: version: found 1.5; expected a whole number from 1 to 1000000000",
        ":3: abuot: found a key that nothing reads; expected about, which is near",
        ":6: checks[1].kind: found 'regx'; expected regex, which is near",
        ":8: checks[2].name: found 'a' a second time; expected a name of its own for each check",
        ":10: checks[2].pattern: found '(' (unclosed group); expected a regular expression of Rust's crate regex",
        ":11: checks[2].weigt: found a key that nothing reads; expected weight, which is near",
        ":13: gates[1].aggregate: found 'pass_rat'; expected pass_rate, which is near",
    ]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("a =", [':1: no TOML: Invalid value; expected lines such as name = "value"']),
        ("\nb", [":2: no TOML: Expected '=' after a key in a key/value pair; expected lines such as name = \"value\""]),
        ("a = " + "[" * 5000, [": found values nested too deeply; expected fewer levels"]),
        ("a = 1" + "0" * 5000, [": found a number beyond reading; expected numbers of at most 1000 digits"]),
        ("a = 1e99999999999999999999", [": found a number beyond reading; expected numbers of at most 1000 digits"]),
        (HEAD, [": checks: found nothing; expected at least one [[checks]] table"]),
        (HEAD + "checks = []", [":4: checks: found nothing; expected at least one [[checks]] table"]),
        (HEAD + 'checks = "x"', [":4: checks: found 'x'; expected [[checks]] tables"]),
        (HEAD + "checks = [1]", [":4: checks: found a list; expected [[checks]] tables"]),
        (HEAD + '[checks]\nname = "a"', [":4: checks: found a table; expected [[checks]] tables"]),
        (
            "",
            [
                ": name: found nothing; expected a name of at most 48 small letters, digits and _, a letter first",
                ": version: found nothing; expected a whole number from 1",
                ": about: found nothing; expected one sentence, shown in reports",
                ": checks: found nothing; expected at least one [[checks]] table",
            ],
        ),
    ],
    ids=["value", "equals-sign", "deep", "digits", "exponent", "no-checks", "none", "text", "list", "table", "empty"],
)
def test_faults_of_the_whole(text: str, faults: list[str]) -> None:
    assert [fault.replace("found no TOML", "no TOML") for fault in _faults(text)] == faults


CASES = tomllib.loads(Path(__file__).with_name("spec_faults.toml").read_text("utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["check"].replace("\n", " ")[:60])
def test_faults_of_a_check_and_of_gates(case: dict[str, Any]) -> None:
    check = case["check"].replace("{LONG}", "a" * 2001)
    assert _faults(IT + check, {"bad.json": b"{"}) == case["faults"]


@pytest.mark.parametrize(
    "schema",
    ['{ type = "nonsense" }', '{ pattern = "(?=a)" }', '{ "$ref" = "https://example.com/a.json" }',
     '{ "$ref" = "file:///etc/passwd" }', '{ "$ref" = "#/$defs/a" }', '{ minimum = 1e999 }', '"bad.json"'],
)  # fmt: skip
def test_what_is_no_schema_or_needs_another_document(schema: str) -> None:
    (fault,) = _faults(f'{IT}kind = "json"\nschema = {schema}', {"bad.json": b"{"})
    assert fault.startswith(
        (":7: checks[1].schema: found no schema (", ":7: checks[1].schema: found 'bad.json', which is no JSON")
    )


def test_the_error_is_wrong_use_and_can_be_sent_to_another_process() -> None:
    with pytest.raises(UsageError) as caught:
        read_checks("", "spec.toml")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert str(caught.value).count("\n") == 3


def test_aggregates_have_names() -> None:
    assert aggregate_names(["a", "b"]) == ("primary_score", "pass_rate", "no_prediction_rate", "a_mean", "b_mean")


def test_every_reason_has_its_words() -> None:
    assert all(words and not words.endswith(".") for words in REASONS.values())
