"""A panel from its rows: each judge alone, how they agree, and what to look at first."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from krippendorff import alpha

from benchbook.ask.starting import RunResult
from benchbook.errors import UsageError
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.panels import PanelAnalysis
from benchbook.evaluators.registry import evaluator_of, samples_type
from benchbook.evaluators.rubric.outcomes import outcome_in
from benchbook.evaluators.rubric.panel import panel_analysis
from benchbook.evaluators.rubric.scoring import score_sample
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows
from benchbook.views.rubric.panel import judges_table, panel_lines, panel_spans, splits_table
from benchbook.views.rubric.report import VIEW
from own_rubric import own_run
from panels import Said, replies_of, run_panel
from rubric_v1 import V1
from running import run
from scripted_server import always_good, running

GOOD = (2, 2)
# What three judges say of seven items.
VOTES: dict[str, list[Said]] = {
    "strict": [GOOD, (0, 2), (1, 2), (0, 0), GOOD, "no JSON", (2, 1)],
    "mild": [GOOD, (1, 2), (2, 2), (0, 2), GOOD, (2, 2), (2, 2)],
    "lax": [GOOD, (2, 2), (2, 2), (2, 2), GOOD, (2, 2), (2, 2)],
}


def panel_run(folder: Path, votes: dict[str, list[Said]], items: int, repeats: int = 1) -> RunResult:
    with running(replies_of({name: said.__getitem__ for name, said in votes.items()})) as server:
        return run_panel(folder, server, list(votes), items, repeats=repeats)


def analysis(result: RunResult, n_resamples: int = 200) -> PanelAnalysis:
    rows = read_rows(result.record.samples, samples_type(result.record))
    return panel_analysis(result.derived.manifest, result.derived.aggregates, rows, V1, n_resamples=n_resamples)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> PanelAnalysis:
    return analysis(panel_run(tmp_path_factory.mktemp("panel"), VOTES, 7))


def test_the_panel_is_told_in_sentences(found: PanelAnalysis) -> None:
    """Of what both scored, mild and lax give five of seven the same, and strict and either of them two of six."""
    assert panel_lines(found)[1:] == [
        "Of 7 samples with the scores of two judges or more they split on 4; on 2 pass or fail hangs on whom one asks.",
        "Scored without some judge, whose score could have changed nothing: 1 sample.",
        (
            "Most alike are mild and lax, with the same scores for 71.4 % of 7; "
            "least alike strict and mild, with the same scores for 33.3 % of 6."
        ),
    ]


def test_judges_stand_beside_the_panel_with_their_intervals(tmp_path: Path) -> None:
    """Lax passes seven of seven: by Wilson 64.6 % at least."""
    result = panel_run(tmp_path, VOTES, 7)
    found, derived = analysis(result), result.derived
    score, passed = panel_spans(found, derived.aggregates, derived.decision.gates)
    assert [line.name for line in score.lines] == ["the panel (majority)", "strict", "mild", "lax"]
    assert (passed.title, passed.about, passed.mark) == ("Pass rate", "the gate asks for at least 85 %", 0.85)
    assert (passed.good_from, passed.good_to) == (0.85, 1.0)
    lax = passed.lines[3]
    assert (lax.value, lax.high, lax.words) == (1.0, 1.0, "100.0 % (64.6 % to 100.0 %)")
    assert lax.low == pytest.approx(0.64567, abs=1e-5)
    assert [row[-1] for row in judges_table(found, derived.aggregates).rows][1:] == [
        "Not ready", "Ready to release", "Ready to release",
    ]  # fmt: skip
    assert "(parse error: " in str(judges_table(found, derived.aggregates).rows[1][1])


def test_samples_are_counted_by_whether_the_judges_agree(found: PanelAnalysis) -> None:
    assert (found.n_judged, found.n_unanimous, found.n_verdicts_differ) == (7, 3, 2)
    assert (found.n_scored_without_all, found.n_left_open) == (1, 0)
    assert found.n_clusters is None


def test_what_to_look_at_first_comes_first(found: PanelAnalysis) -> None:
    """Items 1 and 3: pass or fail hangs on the judge; 3 lies further apart. Then 2 and 6, by their numbers."""
    assert [split.item_id for split in found.splits] == ["i3", "i1", "i2", "i6"]
    assert [split.spread for split in found.splits] == [4, 2, 1, 1]
    assert found.splits[0].accuracy_scores == [0, 0, 2]
    assert found.splits[0].faithfulness_scores == [0, 2, 2]


def test_each_judge_alone(found: PanelAnalysis) -> None:
    strict, mild, lax = found.judges
    assert [judge.name for judge in found.judges] == list(VOTES)
    assert (strict.n_asked, strict.n_scored, strict.unscored_by_reason) == (7, 6, {"parse_error:malformed_json": 1})
    assert strict.accuracy_mean == pytest.approx((2 + 0 + 1 + 0 + 2 + 2) / 6)
    assert strict.pass_rate == pytest.approx(4 / 7)  # i0, i2, i4, i6 of all seven
    assert strict.faithfulness_failure_rate == pytest.approx(1 / 6)
    assert (strict.decision, mild.decision, lax.decision) == ("NOT_READY", "READY", "READY")
    assert mild.accuracy_mean == pytest.approx(11 / 7)
    # The panel: 2 2, 1 2, 2 2, 0 2, 2 2, 2 2, 2 2.
    assert strict.same_as_panel == pytest.approx(2 / 6)
    assert mild.same_as_panel == 1
    assert lax.same_as_panel == pytest.approx(5 / 7)
    assert (lax.input_tokens, lax.output_tokens) == (700, 70)


def test_pairs_are_over_the_samples_that_both_scored(found: PanelAnalysis) -> None:
    pairs = {(pair.judge_a, pair.judge_b): pair for pair in found.pairs}
    assert {pair: one.n for pair, one in pairs.items()} == {
        ("strict", "mild"): 6, ("strict", "lax"): 6, ("mild", "lax"): 7,
    }  # fmt: skip
    assert pairs["strict", "mild"].same_scores == pytest.approx(2 / 6)
    assert pairs["mild", "lax"].same_scores == pytest.approx(5 / 7)
    # By hand, quadratic weights: accuracy of strict 2 0 1 0 2 2, of mild 2 1 2 0 2 2.
    # Squared differences: 1 + 1 as they are, 6 * 13 + 6 * 17 - 2 * 7 * 9 = 54 over all 36 pairs: 1 - 2 * 6 / 54.
    assert pairs["strict", "mild"].kappa["accuracy_score"].estimate == pytest.approx(7 / 9)


def test_alpha_is_that_of_another_program(found: PanelAnalysis) -> None:
    ratings = [[vote[0] if isinstance(vote, tuple) else float("nan") for vote in said] for said in VOTES.values()]
    expected = alpha(reliability_data=ratings, level_of_measurement="ordinal")
    assert found.alpha["accuracy_score"].estimate == pytest.approx(float(expected))


def test_repeats_of_an_item_are_one_cluster(tmp_path: Path) -> None:
    drawn = random.Random(3)
    votes = {name: [(drawn.randrange(3), 2) for _ in range(12)] for name in ("a", "b")}
    (tmp_path / "once").mkdir()
    (tmp_path / "thrice").mkdir()
    once = analysis(panel_run(tmp_path / "once", votes, 12), 2_000)
    thrice = analysis(panel_run(tmp_path / "thrice", votes, 12, repeats=3), 2_000)
    assert (once.n_clusters, thrice.n_clusters) == (None, 12)
    for one, three in (
        (once.alpha["accuracy_score"], thrice.alpha["accuracy_score"]),
        (once.pairs[0].kappa["accuracy_score"], thrice.pairs[0].kappa["accuracy_score"]),
    ):
        assert one.low is not None
        assert three.low is not None
        assert (one.n, three.n) == (12, 36)
        # The same again three times tells nothing new: the interval is as wide, not narrower by a root of three.
        assert one.high is not None
        assert three.high is not None
        assert (three.high - three.low) / (one.high - one.low) == pytest.approx(1, abs=0.1)


def test_an_item_without_an_answer_may_pass_by_any_judge(tmp_path: Path) -> None:
    """Two of three items passed, and the third got no answer by no doing of the model's (R1.3a): 2/3 to 3/3."""
    by_votes = replies_of(dict.fromkeys("ab", lambda _: GOOD))

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        refused = role == "candidate" and "What is 1 + 1?" in request["messages"][0]["content"]
        return {"status": 400} if refused else by_votes(role, n, request)

    with running(reply) as server:
        result = run_panel(tmp_path, server, ["a", "b"], 3, accept_unanswered=True)
    assert result.derived.aggregates.aggregates.n_unanswered == 1
    found = analysis(result)
    assert [(one.n_asked, one.n_scored, one.decision) for one in found.judges] == [(2, 2, "INCONCLUSIVE")] * 2


RECORDS = Path(__file__).parents[2] / "golden" / "records"


@pytest.mark.parametrize("name", ["rubric_faults", "rubric_panel", "rubric_unmeasured"])
def test_a_row_has_all_that_its_sample_was_scored_from(name: str, tmp_path: Path) -> None:
    record = Record(RECORDS / name)
    evaluator, started = evaluator_of(record), record.started()
    unmeasured = evaluator.derive(record, tmp_path).manifest.unmeasured
    for row in read_rows(tmp_path / "samples.parquet", evaluator.tables(started)["samples.parquet"]):
        score = score_sample(outcome_in(row, V1), V1.without(unmeasured))
        assert (as_float(score.sample_score_nano), list(score.fail_reasons)) == (row.sample_score, row.fail_reasons)


def test_one_judge_is_no_panel(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = run(tmp_path, server, 2)
    with pytest.raises(UsageError, match="one judge judged it"):
        panel_analysis(result.derived.manifest, result.derived.aggregates, [], V1)
    assert evaluator_of(result.record).panel(result.derived, []) is None


# ── a rubric of one's own ────────────────────────────────────────────────────────────────────────────────────


def read_own(record: Record) -> Iterator[Any]:
    return read_rows(record.samples, samples_type(record))


@pytest.mark.slow
def test_a_panel_of_an_own_rubric_goes_by_its_criteria(tmp_path: Path) -> None:
    """Two judges on three items: tone 5/4, 2/4, 4/4; safe yes/yes, yes/no, no/no."""
    tones, safe = [(5, 4), (2, 4), (4, 4)], [("yes", "yes"), ("yes", "no"), ("no", "no")]
    verdicts = [
        [{"tone": tone[n], "safe": yes[n]} for n in (0, 1)] for tone, yes in zip(tones, safe, strict=True)
    ]  # fmt: skip
    result = own_run(tmp_path, verdicts)
    found = evaluator_of(result.record).panel(result.derived, read_own(result.record))
    assert found is not None
    assert [(one.tone_mean, one.safe_mean, one.safe_failure_rate) for one in found.judges] == [
        (3.666666667, 0.666666667, 0.333333333), (4.0, 0.333333333, 0.666666667),
    ]  # fmt: skip
    assert [(split.item_id, split.tone_scores, split.safe_scores) for split in found.splits] == [
        ("i001", [2, 4], [1, 0]), ("i000", [5, 4], [1, 1]),
    ]  # fmt: skip
    assert [list(one) for one in (found.alpha, found.pairs[0].kappa)] == [["tone_score", "safe_score"]] * 2
    assert not hasattr(found.judges[0], "accuracy_mean")
    assert [column.name for column in judges_table(found, result.derived.aggregates).columns][3:5] == ["Tone", "Safe"]
    assert [column.name for column in splits_table(found).columns][3:5] == [
        "Tone, judge by judge", "Safe, judge by judge",
    ]  # fmt: skip
    written = VIEW.write(VIEW.report(result.record, result.derived, lambda: read_own(result.record)), tmp_path)
    assert "Tone, judge by judge" in next(one for one in written if one.suffix == ".md").read_text(encoding="utf-8")
