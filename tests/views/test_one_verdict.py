"""One verdict: whoever says anything of a difference says it by the p that is shown and the interval, and alike.

Over a thousand differences of made-up runs: the library's objects, the command's text, the report, the comment for CI,
and the API's answer. The page has its words from the same tables (ui/generate.py).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import polars as pl
import pytest

from benchbook.comparison.compared import Comparison, ComparisonSet, compare_runs
from benchbook.comparison.difference import Difference
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.regressions import check_regressions
from benchbook.evaluators.document import Opening
from benchbook.library.comparing import RunComparison
from benchbook.library.ranking import RunRanking
from benchbook.server.comparison_numbers import pair_answer
from benchbook.views import numbers
from benchbook.views.comment import CommentReport, comment_markdown
from benchbook.views.comparison import comparison_html, comparison_markdown, comparison_summary
from benchbook.views.comparison_data import ComparisonReport, comparison_json
from benchbook.views.terminal import document_lines
from benchbook.views.verdicts import RANK_WORDS, VERDICT_WORDS, rank_words, verdict_sentence
from compared import answer, answers, run_of

pytestmark = pytest.mark.xdist_group("one-verdict")  # of one worker, which makes the sets once
SETS = range(84)


@cache
def made(seed: int) -> ComparisonSet:
    """Two to seven runs of the same items, more or less apart; every other set is graded."""
    rng = random.Random(seed)
    n = rng.choice((5, 10, 14)) if seed % 2 else rng.choice((5, 12, 40, 90))  # of few, all sign flips are soon done
    n_runs = rng.choice((2, 2, 3, 4, 7))
    apart = rng.choice((0.0, 0.1, 0.3, 0.7))
    skills = [0.3 + apart * rng.random() for _ in range(n_runs)]
    one = graded if seed % 2 else marked
    return compare_runs([one(f"run-{place}", skill, n, seed, rng) for place, skill in enumerate(skills)])


def marked(name: str, skill: float, n: int, seed: int, rng: random.Random) -> ComparedRun:
    group = seed % 6 == 0
    more = [{"section": f"s{place % 3}", "group": f"g{place // 4}" if group else None} for place in range(n)]
    texts = [rng.choices(("yes", "yes, or no", "no"), (skill, (1 - skill) / 2, (1 - skill) / 2))[0] for _ in range(n)]
    return answers(name, *(answer(f"i{place}", text, **more[place]) for place, text in enumerate(texts)))


def graded(name: str, skill: float, n: int, seed: int, rng: random.Random) -> ComparedRun:
    grades = [min(2, int(3 * skill * rng.random() * 1.5)) for _ in range(n)]
    frame = pl.DataFrame({
        "sample": range(n), "item_id": [f"i{place}" for place in range(n)], "prompt": ["P?"] * n, "expected": ["y"] * n,
        "candidate_answer": ["y"] * n, "sample_score": [one / 2 for one in grades],
        "passed": [one == 2 for one in grades], "accuracy_score": grades,
        "faithfulness_score": [2 - one for one in grades],
        "section": [f"s{place % 2}" for place in range(n)],
        "latency_e2e_ms": [rng.randrange(100, 100 + int(900 * skill)) for _ in range(n)],
        "total_tokens": [100 + seed + (rng.random() < skill) for _ in range(n)],
    })  # fmt: skip
    return run_of(name, frame, "rubric@v1")


def every_set() -> list[ComparisonSet]:
    return [made(seed) for seed in SETS]


def differences(pair: Comparison) -> Iterator[tuple[Difference, bool]]:
    """Each difference of a pair, and whether higher is better."""
    yield pair.score, True
    if pair.passing is not None:
        yield pair.passing, True
    if pair.containment is not None:
        yield pair.containment.difference, True
    yield from ((one.difference, one.higher_is_better) for one in pair.metrics)
    yield from ((one.difference, True) for one in pair.slices)


@pytest.mark.slow
def test_no_verdict_but_by_the_p_that_is_shown_and_the_interval() -> None:
    told = []
    for found in every_set():
        for pair in found.pairs:
            assert all(-1 <= one.difference.low <= one.difference.high <= 1 for one in pair.slices)  # type: ignore[operator]
            for one, higher in differences(pair):
                told.append(one.verdict)
                assert one.p is None or one.p_adjusted is not None
                assert one.p is None or one.p <= one.p_adjusted <= 1  # type: ignore[operator]
                shown = one.p_adjusted is not None and one.p_adjusted <= 1 - one.confidence
                rose, fell = (one.low or 0) > 0, (one.high or 0) < 0
                better, worse = (rose, fell) if higher else (fell, rose)
                assert one.n == 0 or one.low is None or one.low <= one.difference <= one.high  # type: ignore[operator]
                assert (one.verdict == "better", one.verdict == "worse") == (shown and better, shown and worse)
    assert len(told) > 1_000
    assert min(told.count(word) for word in ("better", "worse", "not_told", "same")) > 3


@pytest.mark.slow
def test_several_tests_are_adjusted_together() -> None:
    """Scores, and what stands beside them, over all pairs; slices within their pair."""
    for found in every_set():
        kinds: list[list[Difference]] = [[one.difference for one in pair.slices] for pair in found.pairs]
        kinds.append([pair.score for pair in found.pairs])
        kinds.append([
            one for pair in found.pairs for one, _ in [*differences(pair)][1 : -len(pair.slices) or None]
        ])  # fmt: skip
        for together in kinds:
            assert {one.n_tests for one in together} <= {len(together)}
            assert {one.adjusted_by is None for one in together} <= {len(together) == 1}


@pytest.mark.parametrize("seed", SETS[::3])
def test_every_face_says_the_same(seed: int) -> None:
    found = made(seed)
    report = ComparisonReport(found)
    told = [verdict_sentence(pair.score) for pair in found.pairs]
    text = "\n".join(document_lines(comparison_summary(report, details=True), width=200))
    pages = [text, "".join(comparison_markdown(report)), re.sub(r"<[^>]+>", "", "".join(comparison_html(report)))]
    for page in (one.replace("&#x27;", "'").replace("&#39;", "'") for one in pages):
        assert {sentence: page.count(sentence) for sentence in told} == {
            sentence: told.count(sentence) for sentence in told
        }
        assert sum(page.count(sentence) for sentence in ("B is better.", "B is worse.")) == sum(
            pair.score.verdict in ("better", "worse") for pair in found.pairs
        )
    lines = [line for line in text.splitlines() if line.startswith("  Score  ")]
    for line, pair in zip(lines, found.pairs, strict=True):
        assert line.endswith(f"{numbers.p_value(pair.score.p_adjusted)}  {VERDICT_WORDS[pair.score.verdict]}")
    library = RunComparison(found, [])
    assert [pair.score.verdict for pair in library.pairs] == [pair.score.verdict for pair in found.pairs]
    if library.slices.height:
        assert library.slices["verdict"].to_list() == [
            one.difference.verdict for pair in found.pairs for one in pair.slices
        ]
    as_json = msgspec.json.decode(msgspec.json.encode(comparison_json(report)["comparisons"]))
    api = [msgspec.to_builtins(pair_answer(pair)) for pair in found.pairs]
    for pair, printed, answered in zip(found.pairs, as_json, api, strict=True):
        assert answered["verdict"] == pair.score.verdict
        assert answered["p_holm"] == printed["score"]["p_holm"] == pair.score.p_adjusted
        for name in ("score", "passing"):
            assert _numbers(printed[name]) == _numbers(answered[name])
        assert [_numbers(one["difference"]) for one in printed["slices"]] == [
            _numbers(one["difference"]) for one in answered["slices"]
        ]
        assert [_numbers(one["difference"]) for one in printed["metrics"]] == [
            _numbers(one["difference"]) for one in answered["metrics"]
        ]


def _numbers(difference: dict[str, Any] | None) -> Any:
    names = ("n", "mean_a", "mean_b", "difference", "low", "high", "p", "p_adjusted", "n_tests", "verdict")
    return None if difference is None else [difference[name] for name in names]


@pytest.mark.slow
def test_the_comment_says_what_the_comparison_says() -> None:
    for found in every_set():
        if len(found.pairs) > 1:
            continue
        pair = found.pairs[0]
        report = CommentReport(
            "run-1", "c0ffee" * 10 + "1234", Opening("Score", "none"), (), check_regressions(pair), pair
        )
        page = comment_markdown(report, "mine")
        assert verdict_sentence(pair.score) in page
        assert ("B is better." in page, "B is worse." in page) == (
            pair.score.verdict == "better", pair.score.verdict == "worse",
        )  # fmt: skip


@pytest.mark.slow
def test_a_rank_is_said_alike_and_nobody_is_the_best_who_is_not_shown_to_be() -> None:
    for found in every_set():
        if (board := found.leaderboard) is None:
            continue
        ranking = RunRanking(board)
        lines = str(ranking).splitlines()
        best = [place for place in board.places if place.among_best]
        for place, line in zip(board.places, lines[2:], strict=False):
            assert line.rstrip().endswith(rank_words(place))
            assert RANK_WORDS[place.standing] in line
            assert (place.standing == "best") == (best == [place])
            assert place.standing != "behind" or (place.rank_low or 0) > 1
        assert ranking.places["standing"].to_list() == [place.standing for place in board.places]
        assert ("Better than all others here" in str(ranking)) == (board.best == "one") == (len(best) == 1)
