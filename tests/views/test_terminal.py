"""The summary on a terminal and in a pipe."""

from __future__ import annotations

import dataclasses
import io
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from benchbook.evaluators.document import table
from benchbook.evaluators.exact import RepeatSummary
from benchbook.views.rubric.report import run_document
from benchbook.views.terminal import document_lines, encodable, print_document, table_lines
from views.made_up import shown

KINDS = ("realistic", "ready", "same", "missing", "empty", "nothing", "hostile")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp932", "latin-1", "cp437"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_never_fails_for_an_encoding(kind: str, encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    print_document(run_document(shown(kind)), out, written=[Path("runs/a/report.html")])
    out.flush()
    written = raw.getvalue().decode(encoding)
    assert "\x1b" not in written
    assert "report.html" in written


@pytest.mark.parametrize(
    ("words", "encoding", "shown_as"),
    [
        ("– ≥ 0.8 × …", "ascii", "- >= 0.8 x ..."),
        ("– é", "latin-1", "- é"),
        ("請求書 –", "cp932", "請求書 -"),
        ("😀", "cp932", "\\U0001f600"),
        ("– ✓", "utf-8", "– ✓"),
        ("–", None, "–"),
    ],
)
def test_what_an_encoding_lacks_is_replaced_by_what_comes_near(words: str, encoding: str | None, shown_as: str) -> None:
    assert encodable(words, encoding) == shown_as


def test_a_pipe_gets_the_whole_summary_under_the_c_locale() -> None:
    code = (
        "import sys; from views.made_up import shown; from benchbook.views.rubric.report import run_document;"
        "from benchbook.views.terminal import print_document;"
        "print_document(run_document(shown('realistic')), sys.stdout)"
    )
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii:strict",
        "PYTHONPATH": os.pathsep.join(("src", "tests")),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert done.stdout.decode("ascii").splitlines()[1] == "Not ready (NOT_READY)"


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def on_terminal() -> str:
        out = Terminal()
        print_document(run_document(shown("ready")), out)
        return out.getvalue()

    assert "\x1b[1;32mReady to release (READY)\x1b[0m" in on_terminal()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_terminal()


@pytest.mark.parametrize("width", [40, 60, 80, 110])
@pytest.mark.parametrize("kind", ["realistic", "same", "missing"])
def test_lines_are_no_wider_than_asked(kind: str, width: int) -> None:
    lines = [line for line in document_lines(run_document(shown(kind)), width=width) if not line.startswith("record ")]
    assert max(map(len, lines)) <= width


def test_it_says_what_matters() -> None:
    whole = "\n".join(document_lines(run_document(shown("same"))))
    assert "Inconclusive (INCONCLUSIVE)" in whole
    assert "the judge's snapshot or fingerprint changed during the run" in whole
    assert "! The judge gave all 48 answers the same scores" in whole
    assert "48 of 48 samples attempted, 48 scored, 0 unscored" in whole
    assert "missing: model_version" in "\n".join(document_lines(run_document(shown("missing"))))


def test_it_has_the_means_and_what_repeats_say() -> None:  # R4, R7.3
    report = shown("realistic")
    file = report.aggregates
    shown_lines = list(document_lines(run_document(report)))
    n_accuracy, n_faithfulness = sum(file.accuracy_counts.values()), sum(file.faithfulness_counts.values())
    assert f"Accuracy, mean of 0 to 2: {file.aggregates.accuracy_mean:.3f} (n = {n_accuracy})" in shown_lines
    assert (
        f"Faithfulness, mean of 0 to 2: {file.aggregates.faithfulness_mean:.3f} (n = {n_faithfulness})" in shown_lines
    )
    assert f"Tokens per fully correct answer: {file.aggregates.tokens_per_correct_answer:,.0f}" in shown_lines
    repeats = [
        RepeatSummary(aggregate="aggregate_score", per_repeat=[0.5, 0.7, 0.9], mean=0.7, sd=0.2),
        RepeatSummary(aggregate="latency_e2e_p95_ms", per_repeat=[1_000.0, None, 1_200.0], mean=1_100.0, sd=141.421356),
    ]
    repeated = dataclasses.replace(report, aggregates=msgspec.structs.replace(file, repeats=repeats))
    lines = list(document_lines(run_document(repeated)))
    assert "Mean sample score, over 3 repeats: mean 0.7000, SD 0.2000" in lines
    assert "Latency end to end, p95, over 3 repeats, 1 without a value: mean 1,100 ms, SD 141 ms" in lines


def test_what_was_not_measured_is_no_zero() -> None:
    words = "\n".join(document_lines(run_document(shown("nothing"))))
    assert "Accuracy, mean of 0 to 2: – (nothing was scored)" in words


@pytest.mark.parametrize(
    ("width", "wrap", "expected"),
    [
        pytest.param(17, False, ["  name          n", "  ann           7", "  bob\\u001b c  10"], id="fits"),
        pytest.param(16, False, ["  name         …", "  ann          …", "  bob\\u001b c  …"], id="is-cut"),
        pytest.param(
            17, True, ["  name          n", "  ann           7", "  bob\\u001b c  10"], id="needs-no-second-line"
        ),
        pytest.param(14, True, ["  name n", "  ann 7", "  bob\\u001b c", "  10"], id="goes-on-below"),
    ],
)
def test_a_table_in_columns(width: int, wrap: bool, expected: list[str]) -> None:
    people = table("Who", {"name": "text", "n": "count"}, [("ann", 7), ("bob\x1b c", 10)])
    assert list(table_lines(people, width, wrap=wrap)) == ["Who", *expected, ""]


def test_a_table_without_rows_is_nothing() -> None:
    assert list(table_lines(table("Who", {"name": "text"}, ()), 80)) == []
