"""A spec.toml of checks is read, or every fault in it is said: file, line, key, what was found, what would be right."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from benchbook.errors import UsageError
from benchbook.evaluators.checks import REASONS, ChecksSpecError, Gate, aggregate_names, read_checks
from benchbook.evaluators.checks.compared import Part
from benchbook.evaluators.checks.kinds.texts import Contains
from checking import HEAD

IT = f'{HEAD}[[checks]]\nname = "it"\n'  # its next line is the sixth


def _faults(text: str, files: dict[str, bytes] | None = None) -> list[str]:
    with pytest.raises(ChecksSpecError) as caught:
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
    assert capital.part == Part("after", "Answer:", "nothing")
    assert (capital.weight, capital.must_pass, short.weight, short.must_pass) == (Fraction(3, 10), True, 1, False)
    assert spec.gates == (
        Gate("primary_score", at_least=Fraction(4, 5)),
        Gate("short_mean", at_least=Fraction(1, 10), at_most=Fraction(1)),
    )


@pytest.mark.parametrize(
    ("compare", "part"),
    [
        ('"whole"', Part()),
        ('"last_line"', Part("last_line")),
        ('"boxed"', Part("boxed", otherwise="nothing")),
        ('{ part = "boxed", otherwise = "whole" }', Part("boxed", otherwise="whole")),
        ('{ after = "####" }', Part("after", "####", "whole")),
        ('{ tag = "answer" }', Part("tag", "answer", "nothing")),
    ],
)
def test_the_compared_part_and_its_default(compare: str, part: Part) -> None:
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
        ("a =", [":1: no TOML: Invalid value; expected lines such as name = value"]),
        ("\nb", [":2: no TOML: Expected '=' after a key in a key/value pair; expected lines such as name = value"]),
        ("a = " + "[" * 5000, [": found values nested too deeply; expected a spec of checks"]),
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


@pytest.mark.parametrize(
    ("check", "faults"),
    [
        ("weight = 1", [":4: checks[1].kind: found nothing; expected one of equals, contains, contains_all, regex, number, "
                        "choice, json, max_words, token_f1"]),
        ("kind = 3", [":6: checks[1].kind: found 3; expected one of equals, contains, contains_all, regex, number, "
                      "choice, json, max_words, token_f1"]),
        ('kind = "equals"\nweight = 0', [":7: checks[1].weight: found 0; expected a number above 0, of at most 1000000"]),
        ('kind = "equals"\nweight = -0.5', [":7: checks[1].weight: found -0.5; expected a number above 0, of at most 1000000"]),
        ('kind = "equals"\nweight = inf', [":7: checks[1].weight: found Infinity; expected a number above 0, of at most 1000000"]),
        ('kind = "equals"\nmust_pass = "yes"', [":7: checks[1].must_pass: found 'yes'; expected true or false"]),
        ('kind = "equals"\nmust_pass = false', [":7: checks[1].must_pass: found false for every check; expected true for at "
                                                "least one: else every item passes"]),
        ('kind = "equals"\nstrip = 1\nunicode = "nfkc"', [
            ":7: checks[1].strip: found 1; expected true or false",
            ':8: checks[1].unicode: found \'nfkc\'; expected "none", "NFC" or "NFKC"']),
        ('kind = "equals"\nexpected = []', [":7: checks[1].expected: found an empty list; expected text, a number, a list of "
                                            'these, or one field of the item such as "{{item.expected_answer}}"']),
        ('kind = "equals"\nexpected = 2020-01-01', [":7: checks[1].expected: found a date or time; expected text, a number, a "
                                                    'list of these, or one field of the item such as "{{item.expected_answer}}"']),
        ('kind = "equals"\nexpected = "{{item.a}}."', [":7: checks[1].expected: found '{{item.a}}.'; expected one field and "
                                                       'nothing else, such as "{{item.expected_answer}}"']),
        ('kind = "contains"\nexpected = " "', [":7: checks[1].expected: found ' '; expected text of which something is left to "
                                               "compare"]),
        ('kind = "contains"\nexpected = "!"\nignore_punctuation = true', [
            ":7: checks[1].expected: found '!'; expected text of which something is left to compare"]),
        ('kind = "number"\ntolerance = -1\nrelative_tolerance = nan\nwhich = "lats"\ndecimal_mark = ";"', [
            ":7: checks[1].tolerance: found -1; expected a number that is not negative",
            ":8: checks[1].relative_tolerance: found NaN; expected a number that is not negative",
            ':9: checks[1].which: found \'lats\'; expected "first", "last" or "only"',
            ':10: checks[1].decimal_mark: found \';\'; expected "." or ","']),
        ('kind = "number"\ntolerance = 1e-5000', [":7: checks[1].tolerance: found 1E-5000; expected a number that is not "
                                                  "negative"]),
        ('kind = "number"\nexpected = "Friday"', [":7: checks[1].expected: found 'Friday'; expected text with one number in it, "
                                                  "of at most 1000 digits"]),
        ('kind = "token_f1"', [":4: checks[1].at_least: found nothing; expected the score from which on it passes, such as 0.5; "
                               "or must_pass = false"]),
        ('kind = "token_f1"\nat_least = 1.5', [":7: checks[1].at_least: found 1.5; expected a number from 0 to 1"]),
        ('kind = "max_words"', [":4: checks[1].limit: found nothing; expected a value: it has no default"]),
        ('kind = "max_words"\nlimit = 0\nexpected = "a"', [
            ":7: checks[1].limit: found 0; expected a whole number from 1 to 1000000000",
            ":8: checks[1].expected: found a key that nothing reads; expected one of name, kind, weight, must_pass, compare, "
            "limit"]),
        ('kind = "choice"\nletters = ""', [":4: checks[1]: found no options; expected options, where they have no letters"]),
        ('kind = "choice"\nletters = "AB"\noptions = ["a", "b", "c"]', [":4: checks[1]: found 2 letters for 3 options; expected "
                                                                         "a letter for each"]),
        ('kind = "choice"\nletters = "Aa"\noptions = ["a"]', [
            ":7: checks[1].letters: found 'Aa'; expected each letter once",
            ":8: checks[1].options: found a list; expected a list of 2 to 26 options"]),
        ('kind = "choice"\nletters = "A-B"', [":7: checks[1].letters: found 'A-B'; expected letters or digits in a row, such as "
                                              '"ABCD"; "" where options have none']),
        ('kind = "choice"\noptions = ["a", " A"]', [":7: checks[1].options: found a list; expected options that are not blank, "
                                                    "and differ by more than case"]),
        ('kind = "choice"\noptions = ["x", "y"]\nexpected = "c"', [":8: checks[1].expected: found 'c'; expected one of A, B, or "
                                                                   "an option's text"]),
        ('kind = "regex"', [":4: checks[1].pattern: found nothing; expected a value: it has no default"]),
        ('kind = "regex"\npattern = "(?=a)"', [
            ":7: checks[1].pattern: found '(?=a)' (look-around, including look-ahead and look-behind, is not supported: no text "
            "may make a pattern slow); expected a regular expression of Rust's crate regex"]),
        ("kind = \"regex\"\npattern = '(a)\\1'", [
            ":7: checks[1].pattern: found '(a)\\1' (backreferences are not supported: no text may make a pattern slow); expected "
            "a regular expression of Rust's crate regex"]),
        (f'kind = "regex"\npattern = "{"a" * 2001}"', [":7: checks[1].pattern: found 2001 characters; expected a pattern of at "
                                                       "most 2000"]),
        ('kind = "json"\nvalue = "list"', [':7: checks[1].value: found \'list\'; expected "object" or "any"']),
        ('kind = "json"\nschema = 3', [":7: checks[1].schema: found 3; expected a table that is a JSON Schema, or the name of a "
                                       "file beside the spec that is one"]),
        ('kind = "json"\nschema = "x.json"', [":7: checks[1].schema: found 'x.json'; expected the name of a file beside the "
                                              "spec; there are bad.json"]),
        ('kind = "json"\nschema = { const = 2020-01-01 }', [":7: checks[1].schema: found no schema (JSON has no date); expected "
                                                            "a JSON Schema that needs no other document"]),
        ('kind = "equals"\ncompare = "lastline"', [':7: checks[1].compare: found \'lastline\'; expected "whole", "last_line" or '
                                                   '"boxed"']),
        ('kind = "equals"\ncompare = 3', [':7: checks[1].compare: found 3; expected "whole", "last_line", "boxed", '
                                          '{ after = "Answer:" } or { tag = "answer" }']),
        ('kind = "equals"\ncompare = {}', [":7: checks[1].compare: found neither part, after nor tag; expected one of part, "
                                           "after and tag"]),
        ('kind = "equals"\ncompare = { after = "x", tag = "y" }', [":7: checks[1].compare: found after and tag; expected one of "
                                                                   "part, after and tag"]),
        ('kind = "equals"\ncompare = { tagg = "y" }', [":7: checks[1].compare: found the key 'tagg'; expected tag, which is near"]),
        ('kind = "equals"\ncompare = { part = "last_line", otherwise = "whole" }', [
            ":7: checks[1].compare: found otherwise; expected no such key: last_line is always there"]),
        ('kind = "equals"\ncompare = { after = " x" }', [":7: checks[1].compare: found ' x'; expected a mark on one line, "
                                                         "without white space at its ends"]),
        ('kind = "equals"\ncompare = { after = 3 }', [":7: checks[1].compare: found 3; expected text that is not blank"]),
        ('kind = "equals"\ncompare = { tag = "<a>" }', [":7: checks[1].compare: found '<a>'; expected the name of a tag alone, "
                                                        "such as answer"]),
        ('kind = "equals"\ncompare = { tag = "a", otherwise = "none" }', [
            ':7: checks[1].compare: found \'none\'; expected "whole" or "nothing"']),
        ('kind = "equals"\n[[gates]]\naggregate = "it_mean"', [":7: gates[1].at_least: found nothing; expected at_least or "
                                                               "at_most, a number from 0 to 1"]),
        ('kind = "equals"\n[[gates]]\naggregate = "pass_rate"\nat_least = 2', [
            ":9: gates[1].at_least: found 2; expected a number from 0 to 1"]),
        ('kind = "equals"\n[[gates]]\nat_least = 1', [":7: gates[1].aggregate: found nothing; expected one of primary_score, "
                                                      "pass_rate, no_prediction_rate, it_mean"]),
        ('kind = "equals"\n[[gates]]\naggregate = "it_mean"\nat_least = 0.9\nat_most = 0.1', [
            ":10: gates[1].at_most: found less than at_least; expected a number that both can hold at"]),
        ('kind = "equals"\n[[gates]]\naggregate = "it_mean"\nat_least = 1\n[[gates]]\naggregate = "it_mean"\nat_most = 1', [
            ":11: gates[2].aggregate: found 'it_mean' a second time; expected one gate with both at_least and at_most"]),
        ('kind = "equals"\n[[checks]]\nname = "score"\nkind = "equals"', [
            ":8: checks[2].name: found 'score', a column of every record; expected another name"]),
        ('kind = "equals"\n[[checks]]\nname = "it_found"\nkind = "equals"', [
            ":8: checks[2].name: found 'it_found', whose columns meet those of 'it'; expected another name"]),
        ('kind = "equals"\n[[checks]]\nname = "It"\nkind = "equals"', [
            ":8: checks[2].name: found 'It'; expected a name of at most 48 small letters, digits and _, a letter first"]),
        ('kind = "equals"\n"\\u001b[2J" = 1', [
            ":7: checks[1].\\u001b[2J: found a key that nothing reads; expected one of name, kind, weight, must_pass, compare, "
            "expected, ignore_case, strip, ignore_punctuation, unicode"]),
    ],
)  # fmt: skip
def test_faults_of_a_check_and_of_gates(check: str, faults: list[str]) -> None:
    assert _faults(IT + check, {"bad.json": b"{"}) == faults


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
