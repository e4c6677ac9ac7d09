"""The kind json: strict JSON, held against a schema."""

from __future__ import annotations

import pytest

from benchbook.evaluators.checks import read_checks, score_item
from checking import HEAD, judged

NOTHING = "[checks.schema.properties]\n'a/b~' = false"
ANY = 'value = "any"'
SCHEMA = """
[checks.schema]
type = "object"
required = ["score"]
properties.score = { type = "integer", maximum = 2 }
properties.at = { format = "date" }
properties.tags = { items = { pattern = "^(a+)+$" } }
"""


@pytest.mark.parametrize(
    ("answer", "settings", "reason", "found"),
    [
        pytest.param(' {"a": 1}\n', "", None, '{"a": 1}', id="an-object"),
        pytest.param("[1]", "", "not_an_object", "[1]", id="a-list-is-none"),
        pytest.param("[1]", ANY, None, "[1]", id="any-value"),
        pytest.param("null", ANY, None, "null", id="null-is-a-value"),
        pytest.param('```json\n{"a": 1}\n```', "", "malformed_json", '```json {"a": 1} ```', id="a-fence"),
        pytest.param("{'a': 1}", "", "malformed_json", "{'a': 1}", id="single-quotes"),
        pytest.param('{"a": 1, "a": 2}', "", "malformed_json", '{"a": 1, "a": 2}', id="a-key-twice"),
        pytest.param('{"a": NaN}', "", "malformed_json", '{"a": NaN}', id="nan"),
        pytest.param('{"a": 1} done', "", "malformed_json", '{"a": 1} done', id="something-behind"),
        pytest.param("[" * 100_000, ANY, "malformed_json", "[" * 199 + "…", id="too-deep"),
        pytest.param("[" * 150 + "]" * 150, ANY, None, "[" * 150 + "]" * 49 + "…", id="deep"),
        pytest.param('{"score": 2}', SCHEMA, None, '{"score": 2}', id="the-schema-holds"),
        pytest.param("{}", SCHEMA, "schema", "the whole: required", id="lacking"),
        pytest.param('{"score": 3}', SCHEMA, "schema", "/score: maximum", id="too-large"),
        pytest.param('{"score": "3"}', SCHEMA, "schema", "/score: type", id="another-type"),
        pytest.param('{"score": 1, "at": "soon"}', SCHEMA, "schema", "/at: format", id="a-format"),
        pytest.param('{"score": 1, "tags": ["a", "b"]}', SCHEMA, "schema", "/tags/1: pattern", id="within-a-list"),
        pytest.param('{"score": 3, "tags": ["b"]}', SCHEMA, "schema", "/score: maximum", id="the-first-by-place"),
        pytest.param('{"score": 1e999999}', SCHEMA, "schema", "a number beyond a double", id="beyond-a-double"),
        pytest.param('{"a/b~": 1}', NOTHING, "schema", "/a~1b~0: false", id="nothing-is-allowed"),
    ],
)  # fmt: skip
def test_a_json_answer(answer: str, settings: str, reason: str | None, found: str) -> None:
    result = judged("json", answer, settings)
    assert (result.reason, (result.found or "")[:200]) == (reason, found[:200])


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    ['{"score": 1, "tags": ["' + "a" * 1_000_000 + '!"]}', '{"score": 1, "tags": [' + '"b",' * 50_000 + '"b"]}'],
    ids=["a-pattern", "many-faults"],
)
def test_no_answer_makes_a_schema_slow(answer: str) -> None:
    assert judged("json", answer, SCHEMA).reason == "schema"


def test_a_schema_can_stand_in_a_file_beside_the_spec() -> None:
    text = f'{HEAD}[[checks]]\nname = "it"\nkind = "json"\nvalue = "any"\nschema = "reply.schema.json"\n'
    spec = read_checks(text, files={"reply.schema.json": b'{"enum": [null, 1]}'})
    assert score_item(spec, {}, "null").passed
    assert not score_item(spec, {}, "2").passed
