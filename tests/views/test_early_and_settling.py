"""What would settle a decision, and where a run stopped, as terminal, Markdown and HTML say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import unescape

import msgspec
import pytest

from benchbook.evaluators.gates import DecidedBy, ToSettle
from benchbook.evaluators.rubric.early_stop_gates import ClaimOfGate
from benchbook.evaluators.rubric.rows import EarlyStop, PairedStop, VarianceSplit
from benchbook.views.numbers import cells
from benchbook.views.rubric.digest import RunReport
from benchbook.views.rubric.junit import junit_report
from benchbook.views.rubric.report import run_document
from benchbook.views.rubric.tables import early_stop_table, variance_table
from benchbook.views.rubric.words import settling
from benchbook.views.terminal import document_lines
from views.made_up import good, html_report, markdown_report, report


def terminal(made: RunReport) -> str:
    return " ".join(" ".join(document_lines(run_document(made))).split())


def markdown(made: RunReport) -> str:
    return "".join(markdown_report(made)).replace("\\", "")


def html(made: RunReport) -> str:
    return unescape("".join(html_report(made)))


VIEWS = [pytest.param(terminal, id="terminal"), pytest.param(markdown, id="markdown"), pytest.param(html, id="html")]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(
            ToSettle(would="hold", n=100, n_in_all=1300, n_more=1200, n_unscored=0, method="wilson"),
            "1,200 more samples (1,300 in all) would settle that it holds, if its value stays what it is",
            id="hold",
        ),
        pytest.param(
            ToSettle(would="fail", n=100, n_in_all=101, n_more=1, n_unscored=2, method="t"),
            "1 more sample (101 in all) would settle that it does not hold, if its value stays what it is; "
            "the 2 unscored samples may move it whatever their number",
            id="fail",
        ),
        pytest.param(
            ToSettle(
                would="hold", n=20, n_in_all=None, n_more=None, n_unscored=1, method="wilson", reason="on_the_limit"
            ),
            "how many samples would settle it can't be told: its value is the limit itself, so no number of samples is "
            "enough; the 1 unscored sample may move it whatever their number",
            id="on-the-limit",
        ),
        pytest.param(
            ToSettle(
                would="hold", n=30, n_in_all=None, n_more=None, n_unscored=0, method="clustered_t", reason="one_cluster"
            ),
            "how many samples would settle it can't be told: one cluster alone says nothing about spread between "
            "clusters",
            id="a-reason-of-the-interval",
        ),
    ],
)
def test_it_is_a_sentence(found: ToSettle, words: str) -> None:
    assert settling(found) == words


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_what_would_settle_it(view: Callable[[RunReport], str]) -> None:
    made = report([good(n) for n in range(30)], confidence=0.95)
    assert made.decision is not None
    gates = [msgspec.structs.replace(gate, n_to_settle=None) for gate in made.decision.gates]
    told = ToSettle(would="hold", n=30, n_in_all=72, n_more=42, n_unscored=0, method="order_statistics")
    gates[3] = msgspec.structs.replace(gates[3], n_to_settle=told)
    open_report = replace(made, decision=msgspec.structs.replace(made.decision, gates=tuple(gates)))
    sentence = "Latency end to end, p95: 42 more samples (72 in all) would settle that it holds"
    assert sentence in view(open_report)
    assert "more samples (" not in view(report([good(n) for n in range(30)]))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_what_was_decided_by_and_what_the_rule_says(view: Callable[[RunReport], str]) -> None:  # R6.4
    few = view(report([good(n) for n in range(30)], bounds=0.95))
    assert "Decided by what is shown at 95 % confidence. By the rubric's rule: release-ready." in few
    assert "release-ready by the rubric's rule; 30 samples can't show it: at least 59 can" in few
    assert "29 more samples (59 in all) would show that it holds" in few
    enough = view(report([good(n) for n in range(300)], bounds=0.99))
    assert "Decided by what is shown at 99 % confidence. By the rubric's rule: release-ready." in enough
    assert "all gates hold at 99 % confidence, in the worst case too" in enough
    assert "Decided by" not in view(report([good(n) for n in range(30)]))  # before derivation 3


def test_junit_goes_by_the_decision_and_says_the_rule() -> None:
    made = "".join(junit_report(report([good(n) for n in range(30)], bounds=0.95)))
    assert '<failure type="INCONCLUSIVE"' in made
    assert "By the rubric's rule: release-ready." in made
    assert "<failure" not in "".join(junit_report(report([good(n) for n in range(300)], bounds=0.95)))


EARLY = EarlyStop(
    decision="READY", after_items=79, n_items=300, error=0.05, seed=3, method="betting_without_replacement",
    gates=(
        ClaimOfGate(aggregate="pass_rate", claim="holds", after_items=25),
        ClaimOfGate(aggregate="aggregate_score", claim="open", after_items=None),
    ),
    n_samples_counted=79, n_samples_after=4, n_samples_not_asked=217,
)  # fmt: skip


def with_early(early: EarlyStop) -> RunReport:
    made = report([good(n) for n in range(79)], n_planned=300)
    return replace(made, aggregates=msgspec.structs.replace(made.aggregates, early_stop=early))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_first_that_the_run_ended_early(view: Callable[[RunReport], str]) -> None:
    assert "This run ended once it was decided, after 79 of 300 items" in view(with_early(EARLY))
    undecided = msgspec.structs.replace(EARLY, decision=None, after_items=None, gates=())
    assert "ended once it was decided" not in view(with_early(undecided))


AGAINST = PairedStop(
    run_id="BASE", journal_sha256="ab" * 32, verdict="worse", n_won=3, n_lost=1_020, n_same=100, n_open=2
)  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_first_that_a_comparison_ended_the_run(view: Callable[[RunReport], str]) -> None:
    early = msgspec.structs.replace(EARLY, decision=None, gates=(), against=AGAINST)
    shown = view(with_early(early))
    assert "This run ended once it was shown worse than BASE, after 79 of 300 items: the chance of saying so" in shown
    decided = report([good(n) for n in range(79)], n_planned=300)
    assert decided.decision is not None
    by = DecidedBy(rule="comparison", confidence=0.95)
    told = replace(decided, decision=msgspec.structs.replace(decided.decision, decided_by=by))
    assert "The run ended by its comparison with another, at 95 %; its gates decided nothing." in view(told)


def test_what_was_shown_of_pairs_is_in_the_table() -> None:
    early = msgspec.structs.replace(EARLY, decision=None, gates=(), against=AGAINST)
    rows = dict(early_stop_table(with_early(early).aggregates).rows)
    assert rows["Held against"] == "BASE (record abababababab…)"
    assert (
        rows["Shown"] == "worse: of these items' passes 1,020 lost, 3 won, 100 alike, 2 without a score in one of them"
    )
    open_ = msgspec.structs.replace(AGAINST, verdict=None, n_won=None, n_lost=None, n_same=None, n_open=None)
    rows = dict(early_stop_table(with_early(msgspec.structs.replace(early, against=open_)).aggregates).rows)
    assert rows["Shown"] == "neither better nor worse; `benchbook compare` says what can be said"


def test_what_was_saved_is_in_a_table() -> None:
    rows = dict(cells(early_stop_table(with_early(EARLY).aggregates)))
    assert rows["Decided after"] == "79 of 300 items"
    assert rows["Saved: never asked"] == "217 samples: of each, the call of the model and those of its judge"
    assert rows["Under way then: recorded, not counted"] == "4"
    assert rows["Pass rate"] == "holds, shown after 25 items"
    assert rows["Mean sample score"] == "open"
    assert not early_stop_table(report([good()]).aggregates)


def test_variance_is_in_a_table_with_its_reason_in_words() -> None:
    told = VarianceSplit(
        aggregate="pass_rate", between_items=0.04, within_item=0.01, share_within_item=0.2, standard_error=0.03,
        with_twice_the_items=0.021, with_twice_the_repeats=0.028, n=90, n_items=30, warnings=("negative_component",),
    )  # fmt: skip
    not_told = VarianceSplit(
        aggregate="aggregate_score", between_items=None, within_item=None, share_within_item=None, standard_error=None,
        with_twice_the_items=None, with_twice_the_repeats=None, n=3, n_items=1, reason="one_value",
    )  # fmt: skip
    made = report([good(n) for n in range(3)])
    rows = cells(variance_table(msgspec.structs.replace(made.aggregates, variance=[told, not_told])))
    assert rows[0][:4] == ["Pass rate", "0.0400", "0.0100", "20.0 % (n = 90)"]
    assert rows[0][-1] == "the variance between items came out below 0 and was set to 0"
    assert rows[1][-1] == "one value alone says nothing about spread"
    assert not variance_table(made.aggregates)
