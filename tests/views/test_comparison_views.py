"""The views of a comparison: the same sentences in each, text stays text, nothing from outside."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import polars as pl
import pytest

from benchbook.comparison.compared import compare, compare_runs
from benchbook.comparison.regressions import check_regressions
from benchbook.errors import RecordError
from benchbook.text import storable, visible
from benchbook.training.curves import Curve, MetricPoint
from benchbook.views import comparison_tables, numbers
from benchbook.views.comparison import comparison_html, comparison_markdown, comparison_summary, gate_lines
from benchbook.views.comparison_data import (
    MAX_SHOWN,
    ComparisonReport,
    comparison_frame,
    comparison_json,
    shown_items,
    write_comparison_parquet,
)
from benchbook.views.junit import regressions_junit
from benchbook.views.several_runs import leaderboard_lines
from benchbook.views.terminal import document_lines
from compared import answer, answers, marks, unanswered
from views.made_up import HOSTILE
from views.test_html import TAGS, Page

MORE_TAGS = TAGS | {"del", "ins"}


def report_of(*runs: object, **more: object) -> ComparisonReport:
    return ComparisonReport(compare_runs(runs), **more)  # type: ignore[arg-type]


def four_lost_eleven_won() -> ComparisonReport:
    return report_of(marks("before", "1" * 4 + "0" * 11 + "1" * 45), marks("after", "0" * 4 + "1" * 11 + "1" * 45))


def views(report: ComparisonReport) -> dict[str, str]:
    return {
        "terminal": "\n".join(document_lines(comparison_summary(report), width=120)),
        "markdown": "".join(comparison_markdown(report)),
        "html": "".join(comparison_html(report)),
    }


def test_every_view_begins_with_what_is_compared_and_says_the_verdict() -> None:
    for name, shown in views(four_lost_eleven_won()).items():
        assert "60 items compared, none left out." in shown, name
        assert "4 lost, 11 won of 60: score 0.8167 → 0.9333" in shown, name
        assert shown.index("60 items compared") < shown.index("4 lost, 11 won"), name
        assert "No training metrics" in shown, name


def test_what_is_left_out_is_in_the_first_line() -> None:
    pair = compare(
        answers("a", answer("i", "yes"), answer("j", "yes"), answer("k", "yes")),
        answers("b", answer("i", "yes"), answer("j", "yes", expected="no"), answer("l", "yes"), answer("m", "no")),
    )
    line = "1 item compared, 4 left out (1 only in A, 2 only in B, 1 with another expected answer)."
    assert comparison_tables.first_line(pair) == line


def test_what_was_measured_stands_above_the_numbers() -> None:
    a = answers("a", answer("i", "yes"), spec="s", dataset_version_or_hash="1", evaluator_model_id="j@1")
    b = answers(
        "b", answer("i", "no"), spec="s", dataset_version_or_hash="1", evaluator_model_id="j@2", state="interrupted"
    )
    for name, shown in views(report_of(a, b)).items():
        plain = Page(shown).words if name == "html" else [" ".join(shown.replace("\\", "").split())]
        words = " ".join("".join(plain).split()).replace("&#64;", "@").replace("! ", "")
        assert 'Not the same was measured: the judge differs (judge: evaluator_model_id: "j@1", then "j@2").' in words
        assert "Run B is not complete: it is interrupted." in words
        assert words.index("Not the same was measured") < words.index("1 lost, 0 won of 1"), name


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_text_stays_text(kind: str) -> None:
    bad = storable(HOSTILE[kind] or "-")  # as tables hold it
    a = answers(bad, answer(bad, bad, prompt=bad, expected=f"{bad}!", section=bad), model_id=bad, config={bad: bad})
    b = answers(f"{bad}2", answer(bad, f"{bad}!", prompt=bad, expected=f"{bad}!", section=bad), model_id=f"{bad}3")
    report = report_of(a, b)
    page = Page("".join(comparison_html(report)))
    assert not page.faults
    assert not page.open
    assert {tag for tag, _ in page.tags} <= MORE_TAGS
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    links = {str(link["href"]) for link in page.of("a") + page.of("link")}
    assert all(link.startswith(("data:,", "#")) for link in links)
    for shown in (
        "\n".join(document_lines(comparison_summary(report), width=120)),
        "".join(comparison_markdown(report)),
    ):
        assert "\x1b" not in shown
        assert visible(shown) == shown
    json.dumps(msgspec.to_builtins(comparison_json(report)))
    junit = "".join(regressions_junit(report.found.pairs[0], check_regressions(report.found.pairs[0])))
    ET.fromstring(junit)


def test_the_page_marks_what_changed_by_word() -> None:
    report = report_of(
        answers("a", answer("i", "the answer is 41 now")), answers("b", answer("i", "the answer is 42 now"))
    )
    html = "".join(comparison_html(report))
    assert "the answer is <del>41</del><ins>42</ins> now" in html
    assert "the answer is [-41-]{+42+} now" in "\n".join(document_lines(comparison_summary(report), width=120))
    assert "the answer is [-41-]{+42+} now" in "".join(comparison_markdown(report))


def test_a_page_shows_a_bounded_number_of_items_and_says_so() -> None:
    report = report_of(marks("a", "1" * 300), marks("b", "0" * 300))
    html = "".join(comparison_html(report))
    assert html.count("<details") == MAX_SHOWN
    assert "300 items with a change. Here are the first 200; --parquet has them all." in html


def test_what_matters_most_is_shown_first() -> None:
    a = answers("a", answer("t", "no"), answer("w", "no"), answer("l", "oh yes"), answer("i", "no"), answer("r", "yes"))
    b = answers("b", answer("t", "na"), answer("w", "ah yes"), answer("l", "na"), answer("i", "yes"), answer("r", "no"))
    shown = [(item.item_id, item.change) for item in shown_items(compare(a, b), 10)]
    assert shown == [
        ("r", "regressed"), ("i", "improved"), ("l", "answer_lost"), ("w", "answer_won"), ("t", "text_changed"),
    ]  # fmt: skip


def test_three_runs_have_pairs_histories_and_a_ranking() -> None:
    report = report_of(marks("a", "1100"), marks("b", "1010"), marks("c", "1011"))
    for name, shown in views(report).items():
        assert "Learned: wrong, then right" in shown, name
        assert "3 runs ranked over 4 items" in shown, name
    found = comparison_json(report)
    assert [(pair["a"], pair["b"]) for pair in found["comparisons"]] == [("a", "b"), ("a", "c")]
    assert [(one["item_id"], one["history"], one["marks"]) for one in found["histories"][0]["items"]] == [
        ("i1", "forgotten", "100"), ("i2", "learned", "011"), ("i3", "learned", "001"),
    ]  # fmt: skip


def test_losses_are_told_where_nothing_is_drawn() -> None:
    """First, lowest and last in the text views, every point in JSON; a gap and a restart are said."""
    points = tuple(
        MetricPoint(name="loss", step=step, value=value) for step, value in ((1, 3.0), (2, None), (3, 0.5), (4, 0.75))
    )
    replaced = (MetricPoint(name="loss", step=3, value=9.0),)
    report = report_of(marks("a", "1"), marks("b", "1"), curves={"a": Curve("loss", points, (replaced,)), "b": None})
    shown = views(report)
    for name in ("terminal", "markdown"):
        assert "Lowest" in shown[name]
        assert "0.75" in shown[name]
        assert "1 value logged as NaN or infinite." in shown[name]
        assert "trained again 1 time from step 3 on; the last time counts." in shown[name]
        assert "b: no training loss" in shown[name]
    found = comparison_json(report)["training_loss"]
    assert set(found) == {"a"}
    assert (found["a"]["n_points"], found["a"]["n_replaced"]) == (4, 1)
    assert found["a"]["points"][1] == {"step": 2, "tokens": None, "time_s": None, "value": None}


def test_loss_curves_are_drawn_over_one_another() -> None:
    points = tuple(MetricPoint(name="loss", step=step, value=1 / (step + 1)) for step in range(5))
    curves = {"a": Curve("loss", points), "b": None}
    html = "".join(comparison_html(report_of(marks("a", "1"), marks("b", "1"), curves=curves)))
    assert "curve-0" in html
    assert "No training metrics" not in html
    assert not Page(html).faults


def test_every_item_goes_into_the_parquet_file(tmp_path: Path) -> None:
    report = report_of(marks("a", "110"), marks("b", "011"))
    path = write_comparison_parquet(report, tmp_path / "items.parquet")
    frame = pl.read_parquet(path)
    assert frame.select("a", "b", "item_id", "class", "text_a", "text_b").rows() == [
        ("a", "b", "i0", "regressed", "yes", "no"),
        ("a", "b", "i1", "same_correct", "yes", "yes"),
        ("a", "b", "i2", "improved", "no", "yes"),
    ]
    assert frame["text_difference"].to_list()[:2] == [
        [{"op": "deleted", "text": "yes"}, {"op": "inserted", "text": "no"}],
        None,
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["items.parquet"]


def test_a_file_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="can't be written"):
        write_comparison_parquet(report_of(marks("a", "1"), marks("b", "1")), tmp_path / "absent" / "items.parquet")


def test_items_under_other_ids_keep_their_rows_in_the_frame() -> None:
    pair = compare(
        answers("a", answer("i", "x", prompt="P?")), answers("b", answer("k", "y", prompt="P?"), answer("l", "z"))
    )
    assert comparison_frame(pair).select("item_id", "item_id_b").rows() == [("i", "k"), ("l", "l")]


def test_junit_has_a_case_for_every_item_of_the_baseline() -> None:
    pair = compare(
        marks("a", "1101"), answers("b", answer("i0", "no"), answer("i1", "yes"), answer("i2", "no"), answer("n", "no"))
    )
    root = ET.fromstring("".join(regressions_junit(pair, check_regressions(pair))))
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("6", "2", "1", "1")
    outcomes = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert outcomes == {
        "against a": ["failure"], "i0": ["failure"], "i1": [], "i2": [], "i3": ["error"], "n": ["skipped"],
    }  # fmt: skip


def test_junit_by_the_margin_fails_no_item_that_chance_may_have_lost() -> None:
    """14 lost and 14 won of 100: the gate can't tell, which is an error and no failure. What was not answered too."""
    a = marks("a", "1" * 14 + "0" * 14 + "1" * 72)
    pair = compare(a, marks("b", "0" * 14 + "1" * 14 + "1" * 72), margin=0.05)
    root = ET.fromstring("".join(regressions_junit(pair, check_regressions(pair))))
    assert (root.get("failures"), root.get("errors")) == ("0", "1")
    told = root.find(".//testcase[@name='i3']/system-out")
    assert told is not None
    assert told.text == "regressed, within the margin: score 1.0000 before, 0.0000 now"
    pair = compare(unanswered("a", [1.0, 1.0]), unanswered("b", [1.0, None]), margin=0.5)
    root = ET.fromstring("".join(regressions_junit(pair, check_regressions(pair))))
    error = root.find(".//testcase[@name='i1']/error")
    assert error is not None
    assert error.get("message") == "not answered (provider_error): missing, not regressed"


def test_what_differs_in_the_metadata_is_shown_whole_in_a_narrow_terminal() -> None:
    long = {"prompt_template_id": "x" * 300 + "left", "dataset_id": "a" * 90}
    other = {"prompt_template_id": "x" * 300 + "right", "dataset_id": "b" * 90}
    report = report_of(answers("a", answer("i", "yes"), **long), answers("b", answer("i", "yes"), **other))
    shown = "".join("\n".join(document_lines(comparison_summary(report), width=60)).split())
    for whole in ("a" * 90, "b" * 90, 'xxxleft"', 'xxxright"'):
        assert whole in shown


def test_the_gate_and_the_ranking_in_words() -> None:
    pair = compare(marks("a", "11"), marks("b", "10"))
    lines = list(gate_lines("b", 0.5, check_regressions(pair), pair))
    assert lines[:2] == ["The gate does not hold: b against a, score 0.5000", "  - 1 item regressed; the gate allows 0"]
    assert lines[-1] == "  regressed: i1"
    found = compare_runs([marks("a", "11"), marks("b", "10"), marks("c", "00")]).leaderboard
    assert found is not None
    lines = list(leaderboard_lines(found))
    assert lines[-1] == "Can't be told from one another, and the best is among them: a, b, c."
    assert next(line for line in lines if " c " in line).endswith("may be the best; no item scores above 0")


@pytest.mark.parametrize(
    ("value", "shown"), [(0.07, "+0.0700"), (-0.012, "−0.0120"), (0.0, "0.0000"), (-1e-9, "−0.000000001"), (None, "–")]
)
def test_differences_have_a_sign_and_are_never_rounded_onto_nothing(value: float | None, shown: str) -> None:
    assert numbers.signed(value) == shown


@pytest.mark.parametrize(("p", "shown"), [(1.0, "1.000"), (0.0499, "0.050"), (0.0009, "< 0.001"), (None, "–")])
def test_p_values(p: float | None, shown: str) -> None:
    assert numbers.p_value(p) == shown


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (
            "1" * 100,
            "B is not worse than A by more than 0.50: at 95 % confidence the difference is above −0.0263.",
        ),
        (
            "1" * 96 + "0" * 4,
            "B is not worse than A by more than 0.50: at 95 % confidence the difference is above −0.0862.",
        ),
        (
            "01" * 50,
            "It is not shown that B is not worse than A by more than 0.50: the difference may be down to −0.5812.",
        ),
    ],
)
def test_not_worse_is_said_in_words(after: str, says: str) -> None:
    pair = compare(marks("a", "1" * 100), marks("b", after), margin=0.5)
    assert comparison_tables.margin_line(pair) == says
