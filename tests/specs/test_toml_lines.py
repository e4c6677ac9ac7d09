"""On which line each key of a TOML text stands."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from benchbook.specs.faults import KeyPath, key_lines

TEXT = '''\
# a comment with [brackets] and = signs
name = "a # no comment"
'quoted key' = 1
"b" . c = [ 1, # one
  2,
  { d = "}", e = [ [3], "]" ] },
]
long = """
[[checks]]
x = ""\\" """
raw = \'\'\'
y = 1\'\'\'
date = 2020-01-01T00:00:00Z
[[checks]]
name = "one"
compare = { after = "Answer:", otherwise = "whole" }

[checks.schema]
type = 'object'
[[checks]] # the second
name = "two"
[checks.schema.properties]
a.type = "string"
[ gates . x ]
last = true'''

LINES = {
    ("name",): 2, ("quoted key",): 3, ("b",): 4, ("b", "c"): 4, ("b", "c", 0): 4, ("b", "c", 1): 5, ("b", "c", 2): 6,
    ("b", "c", 2, "d"): 6, ("b", "c", 2, "e"): 6, ("b", "c", 2, "e", 0): 6, ("b", "c", 2, "e", 0, 0): 6,
    ("b", "c", 2, "e", 1): 6, ("long",): 8, ("raw",): 11, ("date",): 13,
    ("checks", 0): 14, ("checks", 0, "name"): 15, ("checks", 0, "compare"): 16, ("checks", 0, "compare", "after"): 16,
    ("checks", 0, "compare", "otherwise"): 16, ("checks", 0, "schema"): 18, ("checks", 0, "schema", "type"): 19,
    ("checks", 1): 20, ("checks", 1, "name"): 21, ("checks", 1, "schema", "properties"): 22,
    ("checks", 1, "schema", "properties", "a"): 23, ("checks", 1, "schema", "properties", "a", "type"): 23,
    ("gates", "x"): 24, ("gates", "x", "last"): 25,
}  # fmt: skip


def test_each_key_has_its_line() -> None:
    assert key_lines(TEXT) == LINES


def _keys(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    if isinstance(value, dict):
        steps: list[tuple[str | int, Any]] = list(value.items())
    else:
        steps = list(enumerate(value)) if isinstance(value, list) else []
    for step, inner in steps:
        yield (*path, step)
        yield from _keys(inner, (*path, step))


def test_no_key_that_tomllib_reads_is_missed() -> None:
    """But those of tables that no header names: their inner tables do."""
    assert set(_keys(tomllib.loads(TEXT))) - set(LINES) == {("checks",), ("checks", 1, "schema"), ("gates",)}


@pytest.mark.parametrize(
    "text", ["", "\n", "#", "a", "a =", "[", "[[", "a = [", "a = {", 'a = "', "= 1", "]", "a.b.", "é = 1"]
)
def test_what_is_no_toml_ends_the_scanner_too(text: str) -> None:
    key_lines(text)
