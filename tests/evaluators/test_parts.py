"""`--limit`, `--where` and `--ids`: a part of an eval set is asked, recorded as such, and never a benchmark."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbook.catalog.observing import observe
from benchbook.errors import UsageError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.set_parts import PartAsked, choose_part
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record, open_record
from running import benchbook_here

JUDGE = {
    "contains": "You are a strict evaluation judge",
    "text": '{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Right."}',
}
ANSWER = {"text": "4", "latency_ms": 5, "input_tokens": 5, "output_tokens": 1}
SECTIONS = ("core", "edge_case", "core", "trace_sensitive", "core", "edge_case")


def rows() -> list[dict[str, Any]]:
    return [
        {"id": f"i{n}", "prompt": f"{n} + {n}?", "expected_answer": str(2 * n), "context": "c", "section": section,
         "lang": ("en", "de")[n % 2], "level": n % 3}
        for n, section in enumerate(SECTIONS)
    ]  # fmt: skip


def items(folder: Path, name: str = "items.jsonl") -> Path:
    path = folder / name
    if name.endswith(".csv"):
        names = list(rows()[0])
        lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows())]
    else:
        lines = [json.dumps(row) for row in rows()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["items.jsonl", "items.csv"])
@pytest.mark.parametrize(
    ("asked", "places", "words"),
    [
        pytest.param(PartAsked(limit=2), [0, 1], "2 of 6 items: --limit 2", id="limit"),
        pytest.param(PartAsked(where=("section=core",)), [0, 2, 4], "3 of 6 items: --where section=core", id="where"),
        pytest.param(
            PartAsked(where=("section=core", "section=edge_case")),
            [0, 1, 2, 4, 5],
            "5 of 6 items: --where section=core --where section=edge_case",
            id="either",
        ),
        pytest.param(
            PartAsked(where=("section=core", "lang=en")),
            [0, 2, 4],
            "3 of 6 items: --where section=core --where lang=en",
            id="both",
        ),
        pytest.param(
            PartAsked(where=("lang=de", "level=1")),
            [1],
            "1 of 6 items: --where lang=de --where level=1",
            id="own-columns",
        ),
        pytest.param(
            PartAsked(where=("expected_answer=4",)), [2], "1 of 6 items: --where expected_answer=4", id="text"
        ),
        pytest.param(
            PartAsked(limit=2, where=("section=core",)),
            [0, 2],
            "2 of 6 items: --where section=core --limit 2",
            id="first-of-those",
        ),
    ],
)
def test_the_items_that_were_asked_for(
    name: str, asked: PartAsked, places: list[int], words: str, tmp_path: Path
) -> None:
    whole = open_evalset(items(tmp_path, name))
    chosen, part = choose_part(whole, asked)
    assert part is not None
    with chosen, open_evalset(whole.path, is_recorded=True).part(part.ranges) as again:
        assert [item.id for item in chosen] == [f"i{place}" for place in places]
        assert (part.words, part.n_items, part.n_whole) == (words, len(places), 6)
        assert chosen.left_out() == {f"i{n}" for n in range(6)} - {f"i{n}" for n in places}
        assert chosen.contents is not None
        assert chosen.contents.n_items == len(places)
        assert list(again) == list(chosen)
        assert [again.line_of(0), again.left_out()] == [chosen.line_of(0), chosen.left_out()]
        with chosen.copied_to(whole.path) as copied:
            assert (list(copied), copied.left_out()) == (list(chosen), chosen.left_out())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("ids.txt", "i4\n\ni1\r\n i4 \n"),
        ("ids.csv", "n,item_id\n1,i4\n2,i1\n"),
        ("ids.jsonl", '{"id": "i4"}\n{"id": "i1"}\n'),
    ],
)
def test_a_list_of_ids_is_lines_or_a_table(name: str, data: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(data, encoding="utf-8")
    chosen, part = choose_part(open_evalset(items(tmp_path)), PartAsked(ids=str(tmp_path / name)))
    with chosen:
        assert [item.id for item in chosen] == ["i1", "i4"]  # in the order of the set
    assert part is not None
    assert part.words == f"2 of 6 items: --ids {name}"


@pytest.mark.parametrize(
    "asked", [PartAsked(), PartAsked(limit=6), PartAsked(limit=9), PartAsked(where=("context=c",))]
)
def test_all_of_them_are_no_part(asked: PartAsked, tmp_path: Path) -> None:
    whole = open_evalset(items(tmp_path))
    assert choose_part(whole, asked) == (whole, None)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param(
            PartAsked(where=("section=cor",)),
            "where: found no item with 'cor' in section; expected 'core' (3), 'edge_case' (2), 'trace_sensitive' (1)",
            id="value",
        ),
        pytest.param(
            PartAsked(where=("sction=core",)),
            "where: found the column 'sction', which no item has; expected one of id, prompt, expected_answer",
            id="column",
        ),
        pytest.param(
            PartAsked(where=("section=core", "level=7")), "where: found no item with '7' in level", id="second"
        ),
        pytest.param(
            PartAsked(where=("section=trace_sensitive", "lang=en")),
            "where: found no item that has all of it",
            id="together",
        ),
        pytest.param(
            PartAsked(where=("section=core", "section=edge")),
            "where: found no item with 'edge' in section",
            id="either",
        ),
        pytest.param(PartAsked(where=("core",)), "where: found 'core'; expected COLUMN=VALUE", id="no-pair"),
        pytest.param(PartAsked(ids="none.txt"), "none.txt: can't be read", id="no-file"),
    ],
)
def test_what_leaves_nothing_is_told_with_what_there_is(asked: PartAsked, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        choose_part(open_evalset(items(tmp_path)), asked)
    assert str(caught.value).startswith(says)


def test_an_id_that_no_item_has_is_told(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("i1\ni9\n", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"ids\.txt:2: id: found 'i9'; expected the id of one of the eval set's 6 items"
    ):
        choose_part(open_evalset(items(tmp_path)), PartAsked(ids=str(tmp_path / "ids.txt")))


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────────


def asked(folder: Path, run_id: str, *more: str, command: Sequence[str] = ("run",), code: int = 0) -> dict[str, Any]:
    (folder / "s.json").write_text(json.dumps({"replies": [JUDGE, ANSWER]}), encoding="utf-8")
    script = str(folder / "s.json")
    models = ["--model", "scripted/m@1", "--model-path", script]
    if command == ("run",):
        models += ["--judge", "scripted/j@1", "--judge-path", script]
    where = ["--runs", str(folder / "runs"), "--run-id", run_id, "--reports", "none", "--json"]
    done = benchbook_here(*command, "--evalset", str(items(folder)), *models, *where, *more)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code < 2 else {"error": done.stderr.decode()}


def record_of(folder: Path, run_id: str) -> Record:
    return open_record(folder / "runs" / run_id)


@pytest.mark.parametrize("command", [("run",), ("score",)], ids=["run", "score"])
def test_a_part_is_recorded_verified_and_no_benchmark(command: tuple[str, ...], tmp_path: Path) -> None:
    made = asked(tmp_path, "part", "--where", "section=core", "--limit", "2", command=command)
    whole = asked(tmp_path, "whole", command=command)
    words = "2 of 6 items: --where section=core --limit 2"
    part_of = "Only a part of the eval set was asked, {}. It is no benchmark, and no run of the whole set."
    assert made["aggregates"]["warnings"][0] == part_of.format(words)
    assert not [one for one in whole["aggregates"]["warnings"] if "part of the eval set" in one]
    record = record_of(tmp_path, "part")
    manifest = json.loads(record.manifest.read_bytes())
    assert (manifest["n_items"], manifest["part"]) == (
        2, {"n_whole": 6, "words": words}
    )  # fmt: skip
    other = json.loads(record_of(tmp_path, "whole").manifest.read_bytes())
    assert "part" not in other
    assert manifest["dataset_version_or_hash"] != other["dataset_version_or_hash"]
    assert manifest["plan_sha256"] != other["plan_sha256"]
    assert verify(record).holds
    shown = benchbook_here("show", str(record.path)).stdout.decode()
    assert re.search(r"items@[0-9a-f]{8}, 2 of 6 items; run part", shown)
    hashes = [one.row["dataset_sha256"] for run in ("part", "whole") if (one := observe(record_of(tmp_path, run)))]
    assert len(set(hashes)) == 2  # neither is ranked among the runs of the other
    refused = asked(tmp_path, "b", "--limit", "2", "--benchmark", command=command, code=2)
    assert "limit: found 2; expected nothing in a benchmark, which asks the whole set" in refused["error"]


def test_a_stopped_part_is_resumed_as_that_part(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    prices = ("--model-input-price", "1000000", "--max-cost-usd", "4", "--max-connections", "1")
    asked(tmp_path, "part", "--where", "section=core", *prices, code=3)
    record = record_of(tmp_path, "part")
    done = benchbook_here("run", "--resume", str(record.path), "--max-cost-usd", "1000", "--reports", "none", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["aggregates"]["ledger"]["n_scored"] == 3
    assert verify(record).holds
    refused = benchbook_here("run", "--resume", str(record.path), "--limit", "1")
    assert (refused.returncode, b"limit is part of the plan" in refused.stderr) == (2, True)


@pytest.mark.parametrize("command", ["run", "score"])
def test_recorded_texts_of_the_other_items_are_passed_over(command: str, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    lines = [{"item_id": f"i{n}", "output": str(2 * n)} for n in range(6)]
    texts.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps({"replies": [JUDGE]}), encoding="utf-8")
    words = [command, "--evalset", str(items(tmp_path)), "--model", "recorded/m@1", "--where", "lang=de"]
    if command == "run":
        words += ["--outputs", str(texts), "--judge", "scripted/j@1", "--judge-path", str(tmp_path / "s.json")]
    else:
        words += ["--predictions", str(texts)]
    done = benchbook_here(*words, "--runs", str(tmp_path / "runs"), "--run-id", "a", "--reports", "none", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["aggregates"]
    assert (found["ledger"]["n_scored"] if command == "run" else found["n_correct"]) == 3
    assert verify(record_of(tmp_path, "a")).holds


def test_the_dry_run_says_the_part(tmp_path: Path) -> None:
    found = asked(tmp_path, "x", "--limit", "1", "--dry-run")
    assert found["samples"] == 1
    assert found["warnings"][0].startswith("Only a part of the eval set was asked, 1 of 6 items: --limit 1.")


def test_different_parts_compare_as_different_sets(tmp_path: Path) -> None:
    for run, value in (("a", "section=core"), ("b", "section=edge_case"), ("c", "lang=en")):
        asked(tmp_path, run, "--where", value, command=("score",))
    runs = [str(record_of(tmp_path, run).path) for run in ("a", "b", "c")]
    said = " ".join(benchbook_here("compare", *runs[:2]).stdout.decode().split())
    assert "0 items compared, 5 left out (3 only in A, 2 only in B)." in said
    assert "Not the same was measured: the eval set differs (evalset: dataset_version_or_hash:" in said
    assert 'part: "3 of 6 items: --where section=core", then "2 of 6 items: --where section=edge_case"' in said
    same = benchbook_here("compare", runs[0], runs[2]).stdout.decode()  # the same items, in other words
    assert ("3 items compared, none left out." in same, "Not the same was measured" in same) == (True, False)
