"""Many runs in one table, two runs by their own numbers, and what differs in their records: values, and templates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.compared import compare, compare_runs
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.records import compared_run
from benchbook.comparison.whole_runs import RunNumber, WholeRun
from benchbook.views import numbers
from benchbook.views.comparison import comparison_html, comparison_markdown, comparison_summary
from benchbook.views.comparison_data import ComparisonReport, comparison_json
from benchbook.views.comparison_overview import overview_table, whole_table
from benchbook.views.record_differences import metadata_blocks, template_blocks
from benchbook.views.terminal import document_lines
from compared import answer, answers, marks
from running import run
from scripted_server import always_good, running


def terminal(*runs: ComparedRun, **how: Any) -> list[str]:
    report = ComparisonReport(compare_runs(runs))
    return list(document_lines(comparison_summary(report, **how), width=120))


# ── many runs ────────────────────────────────────────────────────────────────────────────────────────────────


def seven() -> list[ComparedRun]:
    """Checkpoints over twelve items, each with one more right than the one before."""
    runs = [marks(f"checkpoint-{n}00-of-a-long-name", "1" * (n + 3) + "0" * (9 - n)) for n in range(7)]
    whole = WholeRun(decision="READY", score=RunNumber(0.25, 0.1, 0.5))
    return [replace(runs[0], whole=whole), *runs[1:]]


def test_the_overview_has_a_row_a_run_in_the_order_given() -> None:
    rows = numbers.cells(overview_table(compare_runs(seven())))
    first, last = rows[0], rows[-1]
    assert first[1:] == ["0.2500", "0.1000 to 0.5000", "the first", "", "", "", "–", "", "READY"]
    assert last[1:4] + last[5:7] == ["0.7500", "–", "+0.5000", "0", "6"]  # nine right of twelve, three before
    assert len({row[0] for row in rows}) == 7
    assert all(len(row[0]) <= 22 for row in rows)


def test_without_a_decision_there_is_no_such_column() -> None:
    found = overview_table(compare_runs([marks("a", "10"), marks("b", "11"), marks("c", "11")]))
    assert [column.name for column in found.columns][-1] == "Is"


def test_seven_runs_are_shown_at_a_glance_and_in_full_on_demand() -> None:
    short, full = terminal(*seven()), terminal(*seven(), details=True)
    assert len(short) < 70
    assert len(full) > 4 * len(short)
    assert all(len(line) <= 120 for line in short)
    told = [line for line in short if "--details" in line]
    assert len(told) == 1
    one = "benchbook compare checkpoint-000-of-a-long-name checkpoint-100-of-a-long-name"
    assert one in " ".join(" ".join(short).split())


def test_what_was_not_the_same_is_said_once() -> None:
    same = {"prompt_template_version_or_hash": "1"}
    runs = [answers("a", answer("i", "yes"), **same), *(
        answers(name, answer("i", "yes"), prompt_template_version_or_hash="2") for name in "bc"
    )]  # fmt: skip
    told = [line for line in terminal(*runs) if "Not the same" in line]
    assert told == ["  ! Not the same was measured: the prompt template of b and c differs from that of a."]


# ── two runs, each as a whole ────────────────────────────────────────────────────────────────────────────────


def test_each_runs_own_numbers_those_of_gates_first() -> None:
    a, b = marks("a", "10"), marks("b", "11")
    a = replace(a, whole=WholeRun(
        aggregates={
            "pass_rate": RunNumber(0.5, 0.25, 0.75), "total_tokens": RunNumber(100), "cost_mean_usd": RunNumber(None),
        },
        gated=("pass_rate",),
    ))  # fmt: skip
    b = replace(b, whole=WholeRun(aggregates={"pass_rate": RunNumber(1.0), "latency_e2e_p95_ms": RunNumber(7.0, 5.0)}))
    assert numbers.cells(whole_table(compare(a, b))) == [
        ["Pass rate *", "50.0 %", "100.0 %", "+50.0 %", "25.0 % to 75.0 %", "–"],
        ["Latency end to end, p95", "– (not known)", "7 ms", "–", "–", "from 5 ms"],
        ["Tokens in all", "100", "– (not known)", "–", "–", "–"],
    ]


def test_a_rubrics_comparison_shows_every_gates_aggregate(tmp_path: Path) -> None:
    with running(always_good) as server:
        first, second = (run(tmp_path, server, run_id=name).record for name in ("one", "two"))
    found = compared_run(first)
    assert found.whole.gated == ("aggregate_score", "pass_rate", "faithfulness_failure_rate", "latency_e2e_p95_ms")
    assert found.whole.decision == "INCONCLUSIVE"
    assert found.whole.score.low is not None
    labels = [row[0] for row in numbers.cells(whole_table(compare(found, compared_run(second))))]
    assert labels[:4] == [
        "Mean sample score *", "Pass rate *", "Faithfulness failure rate *", "Latency end to end, p95 *",
    ]  # fmt: skip
    assert {"Accuracy, mean of 0 to 2", "Faithfulness, mean of 0 to 2", "Tokens in all"} <= set(labels)


# ── what differs ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("a", "b", "rows"),
    [
        pytest.param(
            {"model_id": "openai/m@1", "config": {"model": "openai/m@1", "run_id": "a"}},
            {"model_id": "openai/m@2", "config": {"model": "openai/m@2", "run_id": "b"}},
            [["Model", '"openai/m@1"', '"openai/m@2"']], id="once-and-without-what-every-run-has-of-its-own",
        ),
        pytest.param(
            {"generation_params": {"top_p": 1}, "generation_params_effective": {"top_p": 1}, "zz": 1},
            {"generation_params": {"top_p": 0}, "generation_params_effective": {"top_p": 0}, "zz": 2},
            [["Model's parameter top_p", "1", "0"], ["zz", "1", "2"]], id="parameters",
        ),
        pytest.param(
            {"environment": {"packages": {"numpy": "1"}}, "spec": "s@v1"},
            {"environment": {"packages": {"numpy": "2"}}, "spec": "s@v2"},
            [["Evaluator", '"s@v1"', '"s@v2"'], ["Package numpy", '"1"', '"2"']], id="versions",
        ),
    ],
)  # fmt: skip
def test_a_row_for_each_value_that_differs(a: dict[str, Any], b: dict[str, Any], rows: list[list[str]]) -> None:
    pair = compare(answers("a", answer("i", "yes"), **a), answers("b", answer("i", "yes"), **b))
    assert numbers.cells(metadata_blocks(pair)[0]) == rows


def with_templates(**templates: str) -> ComparedRun:
    manifest = {"prompt_template_version_or_hash": templates["prompt_template"]}
    return replace(
        answers(templates["prompt_template"], answer("i", "yes"), **manifest), whole=WholeRun(templates=templates)
    )


def test_templates_are_held_against_each_other_by_their_text() -> None:
    text = "\n".join(["You are careful.", *map(str, range(9)), "Answer {}.", "{{{{prompt}}}}"])
    a, b = (with_templates(prompt_template=text.format(how), judge="Be strict.") for how in ("briefly", "at length"))
    shown = terminal(a, b)
    place = shown.index("The prompt template: [-in A alone-] {+in B alone+}")
    assert shown[place + 1 : place + 5] == ["    …", "    8", "    Answer [-briefly-]{+at length+}.", "    {{prompt}}"]
    assert "the prompt template differs (its text)" in "\n".join(shown)
    assert not [line for line in shown if "judge's prompt" in line]  # it is the same
    report = ComparisonReport(compare_runs([a, b]))
    assert "<del>briefly</del><ins>at length</ins>" in "".join(comparison_html(report))
    assert "[-briefly-]{+at length+}" in "".join(comparison_markdown(report))
    spans = comparison_json(report)["comparisons"][0]["templates"]["prompt_template"]
    assert [one["text"] for one in spans if one["op"] != "same"] == ["briefly", "at length"]


def test_a_judges_prompt_that_changed_is_shown_and_hostile_text_stays_text() -> None:
    a, b = (
        with_templates(prompt_template="{{prompt}}", judge=judge) for judge in ("Grade.", "Grade \x1b[31m<b>.\n\u202e")
    )
    blocks = list(template_blocks(compare(a, replace(b, name="b"))))
    assert blocks
    shown = "\n".join(terminal(a, replace(b, name="b")))
    assert "The judge's prompt" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_record_has_the_texts_that_its_questions_were_made_from(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("In a word: {{prompt}}", encoding="utf-8")
    with running(always_good) as server:
        own = run(tmp_path, server, run_id="own", items=2, prompt_template=str(tmp_path / "short.txt")).record
        frozen = run(tmp_path, server, run_id="frozen", items=2).record
    a, b = compared_run(own), compared_run(frozen)
    assert a.whole.templates["prompt_template"] == "In a word: {{prompt}}"
    assert "{{context}}" in b.whole.templates["prompt_template"]
    assert a.whole.templates["judge"] == b.whole.templates["judge"]
    assert "{{item.prompt}}" in a.whole.templates["judge"]
