"""A fourth evaluator, in one folder that nothing else knows (`tests/fourth`): whatever is done with records works."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import RecordError
from benchbook.evaluators.registry import evaluator_named
from benchbook.server.running import make_app
from running import benchbook_here, write_items
from scripted_server import Reply, running
from server.making import Api, settings

FOURTH = Path(__file__).parents[1] / "fourth"
# By item: 2 words of ten, 12, none, 5: 0.8, 0.0, 0.0 and 0.5 make a mean of 0.325.
ANSWERS = ("two words", "one " * 12, "", "this has five words, right")


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOURTH))


def answering(texts: tuple[str, ...], broken: list[int]) -> Any:
    """A model that says these texts, item by item; what is in `broken` it fails to answer."""

    def answer(role: str, n: int, request: Mapping[str, Any]) -> Reply:
        del role, n
        found = re.search(r"What is (\d+)", request["messages"][-1]["content"])
        assert found is not None
        number = int(found[1])
        if number in broken:
            return {"status": 500, "body": {}}
        return {"status": 200, "content": texts[number], "usage": {"prompt_tokens": 5, "completion_tokens": 3}}

    return answer


def run(folder: Path, texts: tuple[str, ...] = ANSWERS, run_id: str = "run", **more: Any) -> bb.Run:
    write_items(folder / "items.jsonl", len(texts))
    with running(answering(texts, more.pop("broken", []))) as server:
        return bb.score(
            str(folder / "items.jsonl"), spec="brevity@v1", model="openai/m@2026-01-01", model_base_url=server.base_url,
            runs=str(folder / "runs"), run_id=run_id, max_retries=0, **more,
        )  # fmt: skip


def test_it_runs_and_verifies(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert found.aggregates.primary_score == 0.325
    assert found.samples["words"].to_list() == [2, 12, 0, 5]
    assert found.decision.decision == "NOT_READY"
    assert bb.verify(found.path).holds
    assert bb.load(found.path).aggregates.primary_score == 0.325


def test_what_it_would_ask_is_told_before(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 4)
    with running(answering(ANSWERS, [])) as server:
        words = ["--spec", "brevity@v1", "--evalset", "items.jsonl", "--model", "openai/m@2026-01-01"]
        more = ["--model-base-url", server.base_url, "--model-params", "max_tokens=500", "--model-output-price", "1000"]
        found = json.loads(benchbook_here("doctor", *words, *more, "--json", cwd=tmp_path).stdout)
    assert (found["samples"], found["calls"], found["most_cost_usd"]) == (
        4,
        4,
        "2.00",
    )  # 2,000 tokens, $1,000 a million


def test_it_resumes_what_was_not_answered(tmp_path: Path) -> None:
    stopped = run(tmp_path, broken=[3])
    assert stopped.stopped is not None
    with running(answering(ANSWERS, [])) as server:
        whole = bb.resume(stopped.path, model_base_url=server.base_url)
    assert whole.aggregates.primary_score == 0.325
    assert bb.verify(whole.path).holds


@pytest.mark.slow
def test_runs_of_it_are_compared_and_gated(tmp_path: Path) -> None:
    run(tmp_path, run_id="first")
    run(tmp_path, ("two words",) * 4, run_id="second")
    runs = str(tmp_path / "runs")
    compared = bb.compare(tmp_path / "runs" / "first", tmp_path / "runs" / "second")
    assert compared.score.difference == pytest.approx(0.475)  # 0.8 - 0.325
    assert benchbook_here("gate", "first", "--runs", runs).returncode == 1
    assert benchbook_here("gate", "second", "--runs", runs).returncode == 0
    assert benchbook_here("gate", "first", "--runs", runs, "--min-score", "0.6").returncode == 1


def test_its_reports_show_it_without_words_of_its_own(tmp_path: Path) -> None:
    found = run(tmp_path, ("two words", "<b>long " * 12))
    assert "0.4000" in str(found)
    html, markdown, table = sorted(found.write_reports(tmp_path / "reports"), key=lambda path: path.suffix == ".csv")
    page = html.read_text("utf-8")
    assert "Did not pass: 1 sample" in page
    assert "&lt;b&gt;long" in page
    assert "too\\_long" in markdown.read_text("utf-8")
    assert len(table.read_text("utf-8").splitlines()) == 3
    shown = benchbook_here("show", "run", "--runs", str(tmp_path / "runs"), "--failed")
    assert shown.returncode == 0, shown.stderr.decode()
    assert len(shown.stdout.splitlines()) == 1


def test_people_label_its_answers(tmp_path: Path) -> None:
    run(tmp_path)
    book = str(tmp_path / "runs" / "book")  # where it lies among the runs, it is none of them
    drawn = benchbook_here("label", "sample", "run", "--runs", str(tmp_path / "runs"), "--n", "2", "--out", book)
    assert drawn.returncode == 0, drawn.stderr.decode()
    rows = list(csv.DictReader(io.StringIO(benchbook_here("label", "export", book).stdout.decode("utf-8-sig"))))
    sheet = tmp_path / "filled.csv"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "passed": "1"} for row in rows)
    taken = benchbook_here("label", "import", book, str(sheet), "--labeller", "ann", "--json")
    assert json.loads(taken.stdout)["recorded"] == 2, taken.stderr.decode()
    listed = benchbook_here("runs", "--runs", str(tmp_path / "runs"), "--json").stdout
    assert [one["run"] for one in json.loads(listed)] == ["run"]


def test_its_runs_are_listed_beside_the_others(tmp_path: Path) -> None:
    run(tmp_path)
    listed = benchbook_here("runs", "--runs", str(tmp_path / "runs"), "--json")
    assert listed.returncode == 0, listed.stderr.decode()
    assert [(one["run"], one["decision"]) for one in json.loads(listed.stdout)] == [("run", "NOT_READY")]


def test_the_server_lists_it_and_shows_its_samples_and_its_report(tmp_path: Path) -> None:
    run(tmp_path)
    app = make_app(settings(tmp_path / "runs", str(tmp_path / "catalog.sqlite")))
    api = Api(app)
    listed = api.json("/api/v1/runs")["runs"]
    assert [(one["spec"], one["primary"], one["decision"]) for one in listed] == [("brevity@v1", 0.325, "NOT_READY")]
    assert api.json("/api/v1/runs/run/aggregates")["primary_score"] == 0.325
    assert api.json("/api/v1/runs/run/decision")["decision"] == "NOT_READY"
    missed = api.json("/api/v1/runs/run/samples?outcome=failed")["samples"]
    assert [one["item_id"] for one in missed] == ["i1", "i2"]
    assert api.json("/api/v1/runs/run/samples/1")["row"]["words"] == 12
    app.stop()


def test_a_record_of_one_that_is_not_installed_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(tmp_path)
    monkeypatch.undo()
    with pytest.raises(RecordError, match="'brevity@v1': not known here"):
        bb.load(found.path)


def test_what_a_package_gives_must_be_the_evaluator_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "other-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n", encoding="utf-8")
    entry = "[benchbook.evaluators]\nother@v1 = brevity:EVALUATOR\nrubric@v1 = brevity:EVALUATOR\n"
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RecordError, match="is no evaluator 'other@v1'"):
        evaluator_named("other@v1")
    assert evaluator_named("rubric@v1").id == "rubric@v1"
    assert type(evaluator_named("rubric@v1")).__name__ == "RubricEvaluator"
