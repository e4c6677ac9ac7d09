"""The manual's page on rubrics of one's own: every key, placeholder, column, reason and aggregate stands in it."""

from __future__ import annotations

import json
import re
from typing import get_args

import msgspec
import pytest

from benchbook.evalsets import Item
from benchbook.evalsets.requirements import criteria_faults
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.plan import placeholders
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.rubric.reply import Judged, Parsed, ParseErrorReason, parse_reply
from benchbook.evaluators.rubric.row import MetRow, QuoteRow
from benchbook.specs.faults import SpecError
from docs.sessions import blocks_of, tables_of
from rubric_v1 import V1
from support import ROOT

PAGE = ROOT / "docs" / "reference" / "own-rubrics.md"
TEXT = PAGE.read_text(encoding="utf-8")
HEAD = 'name = "own"\nversion = 1\nabout = "x"\n'
GOOD = '[[criteria]]\nname = "good"\nquestion = "?"\nscale = [0, 1]\nat_least = 1\nquote = "report"\n'
GATE = '[[gates]]\naggregate = "pass_rate"\nat_least = 0.5\n'
PROMPT = b"{{answer}} {{criteria}}"


def known_keys(spec: str) -> list[str]:
    """The keys of the table in which a spec has one that nothing is near to, as its fault lists them."""
    with pytest.raises(SpecError) as told:
        read_rubric({"spec.toml": spec.encode(), "prompt.txt": PROMPT})
    (listed,) = re.findall(r"found a key that nothing reads; expected (?:one of )?([a-z_, ]+)", str(told.value))
    return [str(key) for key in listed.split(", ")]


@pytest.mark.parametrize(
    "spec",
    [
        HEAD + "qqqq = 1\n" + GOOD + GATE,
        HEAD + GOOD + "qqqq = 1\n" + GATE,
        HEAD + GOOD + "[item_criteria]\nqqqq = 1\n" + GATE,
        HEAD + GOOD + '[pass]\nrule = "all"\nqqqq = 1\n' + GATE,
        HEAD + GOOD + "[measures]\nqqqq = 1\n" + GATE,
        HEAD + GOOD + "[measures.cost]\nat_most = 1\nqqqq = 1\n" + GATE,
        HEAD + GOOD + "[reply]\nqqqq = 1\n" + GATE,
        HEAD + GOOD + GATE + "qqqq = 1\n",
    ],
)
def test_every_key_is_there(spec: str) -> None:
    named = set(re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)))
    words = {word for one in named for word in re.findall(r"[a-z_]+", one)}
    assert [key for key in known_keys(spec) if key not in words] == []


def test_every_placeholder_is_there() -> None:
    rows = [row["placeholder"] for table in tables_of(PAGE) for row in table if "placeholder" in row]
    assert {one.strip("{}") for one in rows} == {
        *(one for one in placeholders() if not one.startswith("item.")), "item.NAME",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [QuoteRow, MetRow])
def test_every_column_of_a_list_is_there(kind: type[msgspec.Struct]) -> None:
    tables = [[row["column"] for row in table] for table in tables_of(PAGE) if table and "column" in table[0]]
    assert list(kind.__struct_fields__) in tables


def test_every_reason_and_aggregate_of_its_own_is_there() -> None:
    of_v1 = (ROOT / "docs" / "reference" / "parse-formats.md").read_text(encoding="utf-8")
    assert [one for one in get_args(ParseErrorReason) if f"`{one}`" not in TEXT + of_v1] == []
    spec = read_rubric({
        "spec.toml": (HEAD + GOOD + "[item_criteria]\n[measures.cost]\nat_most = 1\n" + GATE).encode(),
        "prompt.txt": PROMPT,
    })  # fmt: skip
    own = [name.replace("good_", "<name>_") for name in table_of(spec) if name not in table_of(V1)]
    shared = ("<name>_mean", "<name>_full_credit_rate", "<name>_failure_rate")  # the how-to has them
    assert [name for name in own if f"`{name}`" not in TEXT and name not in shared] == []


def test_the_item_and_the_reply_that_are_shown_go_together() -> None:
    """5 of 8 is met: 0.625."""
    blocks = {block.language: block.text for block in blocks_of(PAGE)}
    shown = json.loads(blocks["jsonl"])
    item = Item(**shown)
    assert list(criteria_faults(item.criteria)) == []
    spec = read_rubric({"spec.toml": (HEAD + "[item_criteria]\n" + GATE).encode(), "prompt.txt": PROMPT})
    parsed = parse_reply(blocks["json"], spec, judged=Judged("30 days.", item))
    assert isinstance(parsed, Parsed)
    assert parsed.scores == (625_000_000,)
