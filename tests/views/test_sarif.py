"""Lost items for forges: SARIF's required fields, lines of the eval set, GitHub's orders with nothing smuggled in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.compared import compare
from benchbook.comparison.records import compared_run
from benchbook.comparison.regressions import check_regressions
from benchbook.record.folder import Record
from benchbook.views import sarif
from benchbook.views.sarif import LostItem, annotation_lines, lost_items, sarif_json
from scored import scored

ITEMS = [{"id": name, "prompt": f"Say {name}.", "expected_answer": name} for name in ("a", "b", "c, d: e", "f")]


def two_runs(folder: Path, **more: Any) -> tuple[Record, Record]:
    good = [{"item_id": one["id"], "predicted": one["id"]} for one in ITEMS]
    bad = [{"item_id": "a", "predicted": "a"}, *({"item_id": one["id"], "predicted": "no\n::x"} for one in ITEMS[1:3])]
    return (
        scored(folder, good, ITEMS, run_id="before", **more).record,
        scored(folder, bad, ITEMS, run_id="now", **more).record,
    )


def found_in(folder: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> list[LostItem]:
    monkeypatch.chdir(folder)
    before, now = two_runs(folder)
    pair = compare(compared_run(before), compared_run(now))
    return lost_items(now, pair, check_regressions(pair), root)


def test_each_stands_at_its_line_of_the_eval_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sets of mine").mkdir()
    found = found_in(tmp_path / "sets of mine", tmp_path, monkeypatch)
    assert [(one.rule, one.item_id, one.uri, one.line) for one in found] == [
        ("lost-item", "b", "sets%20of%20mine/items.jsonl", 2),
        ("lost-item", "c, d: e", "sets%20of%20mine/items.jsonl", 3),
        ("lost-item", "f", "sets%20of%20mine/items.jsonl", 4),
    ]
    assert found[0].words == "Item b was lost: score 1.0000 before, 0.0000 now. Expected: b Before: b Now: no ::x"


def test_an_eval_set_outside_of_the_repository_has_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    found = found_in(tmp_path, tmp_path / "elsewhere", monkeypatch)
    assert {(one.uri, one.line) for one in found} == {("evalset", None)}


def lost(words: str = "Item i was lost.", line: int | None = 2, **more: Any) -> LostItem:
    return LostItem(
        **({"rule": "lost-item", "item_id": "i", "words": words, "uri": "items.jsonl", "line": line} | more)
    )


def test_the_log_has_what_the_schema_requires() -> None:
    """By hand, of SARIF 2.1.0: `version` and `runs`; a driver's name; each result's message; ids that rules have."""
    log = json.loads(sarif_json([lost(), lost(rule="unanswered-item", line=None)], 2))
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "Benchbook"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"])
    assert run["invocations"] == [{"executionSuccessful": True}]
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        (place,) = result["locations"]
        artifact = place["physicalLocation"]["artifactLocation"]
        assert artifact == {"uri": "items.jsonl", "uriBaseId": "%SRCROOT%"}
        assert re.fullmatch("[0-9a-f]{64}", result["partialFingerprints"]["benchbookItem/v1"])
    assert [one["locations"][0]["physicalLocation"].get("region") for one in run["results"]] == [{"startLine": 2}, None]


def test_a_message_has_no_links_and_any_text() -> None:
    log = json.loads(sarif_json([lost(r"see [x](https://evil) \ " + "\ud835")], 1))
    assert log["runs"][0]["results"][0]["message"]["text"] == r"see \[x\](https://evil) \\ \ud835"


def test_no_more_than_code_scanning_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST_RESULTS", 2)
    found = found_in(tmp_path, tmp_path, monkeypatch)
    assert len(found) == 2
    (told,) = json.loads(sarif_json(found, 3))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("1 result more")


def test_annotations_are_one_order_a_line() -> None:
    hostile = "50 %\n::error::no\r\n##[command]x"
    lines = list(annotation_lines([lost(hostile, uri="a,b:c.jsonl"), lost(line=None, rule="unanswered-item")], 2))
    assert lines == [
        "::warning file=a%2Cb%3Ac.jsonl,line=2,title=Benchbook%3A lost-item::50 %25%0A::error::no%0D%0A# #[command]x",
        "::notice file=items.jsonl,title=Benchbook%3A unanswered-item::Item i was lost.",
    ]


def test_as_many_as_github_shows() -> None:
    lines = list(annotation_lines([lost()] * 30, 31))
    assert len(lines) == 10
    assert lines[-1] == "::warning title=Benchbook::… and 22 more: see the comment or the record"
