"""Degenerate inputs of comparisons and rankings, each described, with the result that is expected of it.

Each row is tested by test_degenerate_pairs.py and printed in docs/reference/degenerate-pairs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchbook.comparison.items import ComparedRun
from compared import answer, answers, marks, scores, unanswered

__all__ = ["PAIRS", "RANKINGS", "Degenerate", "degenerate_markdown"]


class Degenerate(NamedTuple):
    id: str
    what: str
    runs: Callable[[], Sequence[ComparedRun]]
    said: str


def graded(name: str, values: Sequence[float | None]) -> ComparedRun:
    return scores(name, *((f"i{place}", 0, value, True) for place, value in enumerate(values)))


def grouped(name: str, pattern: str, sizes: Sequence[int]) -> ComparedRun:
    """A run that is right where `pattern` has a 1, in groups of these sizes, one after the other."""
    groups = [f"g{place}" for place, size in enumerate(sizes) for _ in range(size)]
    rows = (
        answer(f"i{place}", "yes" if mark == "1" else "no", group=group)
        for place, (mark, group) in enumerate(zip(pattern, groups, strict=True))
    )
    return answers(name, *rows)


PAIRS: tuple[Degenerate, ...] = (
    Degenerate(
        "no-item", "two runs without any item",
        lambda: (marks("a", ""), marks("b", "")),
        "Nothing can be said: no item is in both runs with a score.",
    ),
    Degenerate(
        "no-common-item", "ten items each, none of them in both",
        lambda: (marks("a", "1" * 10), answers("b", *(answer(f"k{n}", "no") for n in range(10)))),
        "Nothing can be said: no item is in both runs with a score.",
    ),
    Degenerate(
        "none-answered", "twenty items, of which B was given no answer by its server",
        lambda: (graded("a", [1.0] * 20), unanswered("b", [None] * 20)),
        "Nothing can be said: no item is in both runs with a score.",
    ),
    Degenerate(
        "most-unanswered-in-b", "forty items, all right in A; in B twelve right and 28 not answered",
        lambda: (graded("a", [1.0] * 40), unanswered("b", [1.0] * 12 + [None] * 28)),
        "0 lost, 0 won of 12: score 1.0000 → 1.0000 (0.0000, 95 % interval −0.1746 to +0.1746, p = 1.000). "
        "No item differs: the same within 17.5 points.",
    ),
    Degenerate(
        "none-scored", "three items, none with a score in either run",
        lambda: (graded("a", [None] * 3), graded("b", [None] * 3)),
        "Nothing can be said: no item is in both runs with a score.",
    ),
    Degenerate(
        "one-item-same", "one item, right in both",
        lambda: (marks("a", "1"), marks("b", "1")),
        "0 lost, 0 won of 1: score 1.0000 → 1.0000 (0.0000, 95 % interval −0.9000 to +0.9000, p = 1.000). "
        "No item differs: the same within 90.0 points.",
    ),
    Degenerate(
        "one-item-won", "one item, wrong in A and right in B",
        lambda: (marks("a", "0"), marks("b", "1")),
        "0 lost, 1 won of 1: score 0.0000 → 1.0000 (+1.0000, 95 % interval −0.8178 to +1.0000, p = 0.500). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "one-item-graded", "one item, 0.2 in A and 0.9 in B",
        lambda: (graded("a", [0.2]), graded("b", [0.9])),
        "0 lost, 1 won of 1: score 0.2000 → 0.9000 (+0.7000, 95 % interval −1.0000 to +1.0000, p = 1.000). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "two-items-won", "two items, wrong in A and right in B",
        lambda: (marks("a", "00"), marks("b", "11")),
        "0 lost, 2 won of 2: score 0.0000 → 1.0000 (+1.0000, 95 % interval −0.4684 to +1.0000, p = 0.250). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "two-items-split", "two items, one lost and one won",
        lambda: (marks("a", "10"), marks("b", "01")),
        "1 lost, 1 won of 2: score 0.5000 → 0.5000 (0.0000, 95 % interval −0.9084 to +0.9084, p = 1.000). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "two-items-graded", "two items, both better by 0.3",
        lambda: (graded("a", [0.1, 0.5]), graded("b", [0.4, 0.8])),
        "0 lost, 2 won of 2: score 0.3000 → 0.6000 (+0.3000, 95 % interval −1.0000 to +1.0000, p = 0.500). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "five-won", "five items, wrong in A and right in B: the fewest that can show anything",
        lambda: (marks("a", "0" * 5), marks("b", "1" * 5)),
        "0 lost, 5 won of 5: score 0.0000 → 1.0000 (+1.0000, 95 % interval +0.0868 to +1.0000, p = 0.031). "
        "B is better.",
    ),
    Degenerate(
        "identical-thousand", "a thousand items, the same in both",
        lambda: (marks("a", "10" * 500), marks("b", "10" * 500)),
        "0 lost, 0 won of 1,000: score 0.5000 → 0.5000 (0.0000, 95 % interval −0.0023 to +0.0023, p = 1.000). "
        "No item differs: the same within 0.2 points.",
    ),
    Degenerate(
        "identical-graded", "a thousand graded items, the same in both",
        lambda: (graded("a", [0.25, 0.75] * 500), graded("b", [0.25, 0.75] * 500)),
        "0 lost, 0 won of 1,000: score 0.5000 → 0.5000 (0.0000, 95 % interval −0.0020 to +0.0020, p = 1.000). "
        "No item differs: the same within 0.2 points.",
    ),
    Degenerate(
        "all-0", "fifty items, all 0 in both",
        lambda: (marks("a", "0" * 50), marks("b", "0" * 50)),
        "0 lost, 0 won of 50: score 0.0000 → 0.0000 (0.0000, 95 % interval −0.0450 to +0.0450, p = 1.000). "
        "No item differs: the same within 4.5 points.",
    ),
    Degenerate(
        "all-1", "fifty items, all 1 in both",
        lambda: (marks("a", "1" * 50), marks("b", "1" * 50)),
        "0 lost, 0 won of 50: score 1.0000 → 1.0000 (0.0000, 95 % interval −0.0450 to +0.0450, p = 1.000). "
        "No item differs: the same within 4.5 points.",
    ),
    Degenerate(
        "0-to-1", "fifty items, all 0 in A and 1 in B",
        lambda: (marks("a", "0" * 50), marks("b", "1" * 50)),
        "0 lost, 50 won of 50: score 0.0000 → 1.0000 (+1.0000, 95 % interval +0.8697 to +1.0000, p < 0.001). "
        "B is better.",
    ),
    Degenerate(
        "as-many-lost-as-won", "a hundred items, 14 lost and 14 won: the same model twice",
        lambda: (marks("a", "1" * 14 + "0" * 14 + "1" * 72), marks("b", "0" * 14 + "1" * 14 + "1" * 72)),
        "14 lost, 14 won of 100: score 0.8600 → 0.8600 (0.0000, 95 % interval −0.1044 to +0.1044, p = 1.000). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "all-alike-and-better", "forty graded items, each better by 0.05: the interval leaves a rare loss open",
        lambda: (graded("a", [0.5] * 40), graded("b", [0.55] * 40)),
        "0 lost, 40 won of 40: score 0.5000 → 0.5500 (+0.0500, 95 % interval −0.0001 to +0.0975, p < 0.001). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "rounding-alone", "two items that differ in the last of nine decimals",
        lambda: (graded("a", [0.1, 0.2]), graded("b", [0.100000001, 0.200000001])),
        "0 lost, 2 won of 2: score 0.1500 → 0.1500 (+0.000000001, 95 % interval −1.0000 to +1.0000, p = 0.500). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "one-cluster", "twenty items of one group, all won",
        lambda: (grouped("a", "0" * 20, [20]), grouped("b", "1" * 20, [20])),
        "0 lost, 20 won of 20: score 0.0000 → 1.0000 (+1.0000, 95 % interval −1.0000 to +1.0000, p = 1.000). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "two-clusters", "forty items of two groups, one all won and one all lost",
        lambda: (grouped("a", "0" * 20 + "1" * 20, [20, 20]), grouped("b", "1" * 20 + "0" * 20, [20, 20])),
        "20 lost, 20 won of 40: score 0.5000 → 0.5000 (0.0000, 95 % interval −1.0000 to +1.0000, p = 1.000). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "clusters-same", "forty items of four groups, the same in both",
        lambda: (grouped("a", "10" * 20, [10] * 4), grouped("b", "10" * 20, [10] * 4)),
        "0 lost, 0 won of 40: score 0.5000 → 0.5000 (0.0000, 95 % interval −0.0860 to +0.0860, p = 1.000). "
        "No item differs: the same within 8.6 points.",
    ),
    Degenerate(
        "uneven-clusters", "a group of forty that is all won, and fourteen of three in which nothing changed",
        lambda: (grouped("a", "0" * 82, [40] + [3] * 14), grouped("b", "1" * 40 + "0" * 42, [40] + [3] * 14)),
        "0 lost, 40 won of 82: score 0.0000 → 0.4878 (+0.4878, 95 % interval −0.3163 to +0.8924, p = 1.000). "
        "Which is better can't be told.",
    ),
    Degenerate(
        "failed-run", "ten items, all right in A; B crashed, so it scores 0",
        lambda: (
            marks("a", "1" * 10),
            answers("b", *(answer(f"i{n}", None, error="provider_error") for n in range(10)), run_status="crashed"),
        ),
        "10 lost, 0 won of 10: score 1.0000 → 0.0000 (−1.0000, 95 % interval −1.0000 to −0.4482, p < 0.001). "
        "B is worse.",
    ),
)  # fmt: skip

RANKINGS: tuple[Degenerate, ...] = (
    Degenerate("rank-one-run", "one run", lambda: (marks("a", "1" * 20),), "a: rank 1, 1 to 1"),
    Degenerate("rank-one-item", "three runs, one item, one of them right",
               lambda: (marks("a", "1"), marks("b", "0"), marks("c", "0")),
               "a: rank 1, 1 to 3; b: rank 2, 1 to 3; c: rank 2, 1 to 3; b: no item scores above 0; "
               "c: no item scores above 0"),
    Degenerate("rank-two-items", "two runs, two graded items, both better in B",
               lambda: (graded("a", [0.1, 0.2]), graded("b", [0.8, 0.9])),
               "b: rank 1, 1 to 2; a: rank 2, 1 to 2"),
    Degenerate("rank-four-all-0", "four runs, fifty items, all 0",
               lambda: tuple(marks(name, "0" * 50) for name in "abcd"),
               "a: rank 1, 1 to 4; b: rank 1, 1 to 4; c: rank 1, 1 to 4; d: rank 1, 1 to 4; a: no item scores above 0; "
               "b: no item scores above 0; c: no item scores above 0; d: no item scores above 0"),
    Degenerate("rank-four-all-1", "four runs, fifty graded items, all 1",
               lambda: tuple(graded(name, [1.0] * 50) for name in "abcd"),
               "a: rank 1, 1 to 4; b: rank 1, 1 to 4; c: rank 1, 1 to 4; d: rank 1, 1 to 4"),
    Degenerate("rank-three-equal", "three runs, thirty items, the same",
               lambda: tuple(marks(name, "110" * 10) for name in "abc"),
               "a: rank 1, 1 to 3; b: rank 1, 1 to 3; c: rank 1, 1 to 3"),
    Degenerate("rank-clear", "three runs, fifty items: all right, half right, none right",
               lambda: (marks("a", "1" * 50), marks("b", "10" * 25), marks("c", "0" * 50)),
               "a: rank 1, 1 to 1; b: rank 2, 2 to 2; c: rank 3, 3 to 3; c: no item scores above 0"),
    Degenerate("rank-one-cluster", "two runs, twenty items of one group, all won",
               lambda: (grouped("a", "0" * 20, [20]), grouped("b", "1" * 20, [20])),
               "b: rank 1, 1 to 2; a: rank 2, 1 to 2; a: no item scores above 0"),
    Degenerate("rank-no-common-item", "two runs without an item in both",
               lambda: (marks("a", "1" * 5), answers("b", *(answer(f"k{n}", "yes") for n in range(5)))),
               "a is not ranked: no item has a score in every run; b is not ranked: no item has a score in every run"),
    Degenerate("rank-crashed", "a run that is half right, and one that crashed",
               lambda: (marks("a", "10" * 10), answers("b", *(answer(f"i{n}", None) for n in range(20)),
                                                        run_status="crashed")),
               "a: rank 1, 1 to 1; b is not ranked: the run itself failed: crashed"),
    Degenerate("rank-killed", "a run that is half right, and one that was killed after three items, all right",
               lambda: (graded("a", [0.0, 1.0] * 10), unanswered("b", [1.0] * 3, state="interrupted")),
               "a: rank 1, 1 to 1; b is not ranked: not complete: it is interrupted"),
    Degenerate("rank-none-answered", "a run that is half right, and one that was given no answer",
               lambda: (graded("a", [0.0, 1.0] * 10), unanswered("b", [None] * 20)),
               "a: rank 1, 1 to 1; b is not ranked: nothing was answered (provider_error)"),
    Degenerate("rank-some-unanswered", "all right; and all right in twelve items, not answered in 28",
               lambda: (graded("a", [1.0] * 40), unanswered("b", [1.0] * 12 + [None] * 28)),
               "a: rank 1, 1 to 2; b: rank 1, 1 to 2; b: 28 of 40 items not answered (provider_error)"),
)  # fmt: skip


def degenerate_markdown() -> str:
    """The two tables as they stand in the manual."""
    parts = []
    for title, rows in (("Pairs", PAIRS), ("Ranks", RANKINGS)):
        parts.append(f"## {title}\n\n| two runs, or more | what is said |\n| --- | --- |\n")
        parts += [f"| {row.what} | {row.said} |\n" for row in rows]
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"
