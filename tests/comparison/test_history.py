"""Each item's way through several runs, the ranking of runs, and the regression gate."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.comparison.compared import compare
from benchbook.comparison.leaderboard import HISTORIES, history, leaderboard
from benchbook.comparison.records import Baseline, baseline_from_json, baseline_json
from benchbook.comparison.regressions import check_regressions, check_score
from benchbook.errors import InputError, UsageError
from compared import answer, answers, marks, scores
from support import examples


def test_what_becomes_of_each_item() -> None:
    found = history([marks("a", "11000111"), marks("b", "10010101"), marks("c", "10010111"), marks("d", "10011001")])
    assert dict(found.items.select("item_id", "history").iter_rows()) == {
        "i0": "always_correct",  # 1111
        "i1": "forgotten",  # 1000
        "i2": "never_correct",  # 0000
        "i3": "learned",  # 0111
        "i4": "learned",  # 0001
        "i5": "forgotten",  # 1110
        "i6": "flipping",  # 1010
        "i7": "always_correct",
    }
    assert found.items["marks"].to_list()[5:7] == ["1110", "1010"]
    assert found.counts == {"learned": 2, "forgotten": 2, "flipping": 1, "always_correct": 2, "never_correct": 1}
    assert (found.runs, found.n_right, found.n_left_out) == (("a", "b", "c", "d"), (5, 4, 5, 4), 0)


def test_items_that_a_run_lacks_or_asks_otherwise_have_no_history() -> None:
    found = history([
        answers("a", answer("i", "yes"), answer("j", "yes"), answer("k", "yes")),
        answers("b", answer("i", "yes"), answer("j", "yes", expected="no")),
        answers("c", answer("k", "yes"), answer("j", "yes"), answer("i", "no")),
    ])  # fmt: skip
    assert found.items.select("item_id", "history").rows() == [("i", "forgotten")]
    assert found.n_left_out == 3  # j, j with another expected answer, and k


def test_a_history_of_the_diagnosis() -> None:
    runs = [answers("r", answer("i", text)) for text in ("no", "oh yes", "yes")]
    assert history(runs).items["history"].to_list() == ["learned"]
    assert history(runs, by="contained").items["marks"].to_list() == ["011"]


def test_two_runs_have_no_history() -> None:
    with pytest.raises(UsageError, match="2 runs have no history"):
        history([marks("a", "1"), marks("b", "1")])


@examples(30)
@given(st.lists(st.text("01", min_size=4, max_size=4), min_size=3, max_size=5))
def test_histories_partition_the_items_and_tell_how_a_run_ends(patterns: list[str]) -> None:
    found = history([marks(str(place), pattern) for place, pattern in enumerate(patterns)])
    assert sum(found.counts[name] for name in HISTORIES) == 4
    for name, shown in found.items.select("history", "marks").iter_rows():
        assert shown[0] == "1" or name not in ("forgotten", "always_correct")
        assert (shown[-1] == "1") == (name in ("learned", "always_correct")) or name == "flipping"


def test_the_leaderboard_says_who_can_not_be_told_from_the_best() -> None:
    runs = [marks("poor", "0" * 40), marks("best", "1" * 36 + "0" * 4), marks("near", "1" * 35 + "0" * 5)]
    found = leaderboard(runs)
    assert [(one.run, one.score, one.rank, one.among_best) for one in found.places] == [
        ("best", 0.9, 1, True),
        ("near", 0.875, 2, True),
        ("poor", 0.0, 3, False),
    ]
    assert (found.n_items, found.n_left_out, found.places[0].p_against_best) == (40, 0, None)


def test_a_leaderboard_is_over_the_items_that_all_have() -> None:
    found = leaderboard([marks("a", "1110"), marks("b", "11")])
    assert (found.n_items, found.n_left_out, [one.rank for one in found.places]) == (2, 2, [1, 1])


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        ([], "needs a run"),
        ([marks("a", "1"), scores("b", ("i0", 0, 1.0, True))], "b was scored under rubric@v1"),
        (
            [answers("a", answer("i", "yes"), dataset_version_or_hash="sha256:1"), marks("b", "1")],
            "a leaderboard is over one eval set",
        ),
    ],
)
def test_what_can_not_be_ranked_is_refused(runs: list[Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        leaderboard(runs)


@pytest.mark.parametrize(
    ("before", "after", "allowed", "reasons"),
    [
        ("1100", "1111", 0, []),
        ("1100", "1010", 0, ["1 item regressed; the gate allows 0"]),
        ("1100", "1010", 1, []),
        ("1111", "0000", 3, ["4 items regressed; the gate allows 3"]),
        ("1100", "11", 0, ["2 items of the baseline have no score here"]),
        ("1", "", 0, ["no scored item in common", "1 item of the baseline has no score here"]),
    ],
)
def test_regressions_against_a_baseline(before: str, after: str, allowed: int, reasons: list[str]) -> None:
    found = check_regressions(compare(marks("a", before), marks("b", after)), max_regressions=allowed)
    assert found.holds == (not reasons)
    assert len(found.reasons) == len(reasons)
    assert all(wanted in said for wanted, said in zip(reasons, found.reasons, strict=True))


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ({"state": "open"}, "the run is not complete: it is open"),
        ({"state": "complete", "run_status": "timed_out"}, "the run itself failed: timed out"),
    ],
)
def test_a_run_that_failed_itself_passes_no_gate(manifest: dict[str, str], reason: str) -> None:
    """Where the baseline has nothing right, nothing can regress (A3)."""
    baseline, run = marks("a", "00"), answers("b", *(answer(f"i{n}", None) for n in range(2)), **manifest)
    found = check_regressions(compare(baseline, run), max_regressions=9)
    assert found.reasons[0] == reason
    assert found.outcome == ("not_complete" if manifest["state"] == "open" else "does_not_hold")
    assert check_score(run, Decimal(0)) == (reason,)


def test_another_measure_is_refused_unless_it_is_allowed() -> None:
    known = {"dataset_version_or_hash": "sha256:1", "evaluator_model_id": "j@1"}
    a = answers("a", answer("i", "yes"), answer("gone", "yes"), **known)
    b = answers("b", answer("i", "yes"), **known | {"dataset_version_or_hash": "2", "evaluator_model_id": "j@2"})
    found = check_regressions(compare(a, b))
    assert [reason.partition(";")[0] for reason in found.reasons] == [
        "what was measured differs: evalset (dataset_version_or_hash)",
        "what was measured differs: judge (evaluator_model_id)",
        "1 item of the baseline has no score here",
    ]
    assert found.missing == ("gone",)
    assert check_regressions(compare(a, b), allow_different=("judge", "evalset")).holds


@pytest.mark.parametrize(
    ("values", "at_least", "says"),
    [
        ([0.6, 0.6], "0.6", ()),
        ([0.1, 0.2], "0.15", ()),
        ([0.599999998, 0.6], "0.6", ("the score is 0.599999999; the gate asks for at least 0.6",)),
        ([0.5, 0.25], "0.6", ("the score is 0.375; the gate asks for at least 0.6",)),
        ([0.8, None], "0.6", ("the score is 0.4 with unscored samples taken at 0; the gate asks for at least 0.6",)),
        ([None], "0.6", ("no sample has a score",)),
    ],
)
def test_the_least_score_is_exact(values: list[float | None], at_least: str, says: tuple[str, ...]) -> None:
    run = scores("a", *((f"i{place}", 0, value, True) for place, value in enumerate(values)))
    assert check_score(run, Decimal(at_least)) == says


def test_a_baseline_comes_back_as_it_was() -> None:
    baseline = Baseline(run_id="run-1", journal_sha256="0" * 64)
    assert baseline_from_json(baseline_json(baseline), "baseline.json") == baseline


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff", b"[]", b'{"run_id": "a"}', b'{"run_id": 1, "journal_sha256": ""}']
)
def test_what_is_no_baseline_is_named(data: bytes) -> None:
    with pytest.raises(InputError, match=r"baseline\.json: found no baseline"):
        baseline_from_json(data, "baseline.json")
