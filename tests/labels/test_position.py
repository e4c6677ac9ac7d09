"""Judges of pairs: position consistency, its bias, and the counts that were published of real judges."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from benchbook.errors import InputError
from benchbook.labels.position import PairVerdict, Winner, position_trials, read_pair_verdicts
from running import benchbook_here
from support import shared_data

# Which answer a judge prefers when answer 1 is shown first, and when answer 2 is; and people's.
VERDICTS: list[tuple[Winner | None, Winner | None, Winner | None]] = [
    (1, 1, 1), (2, 2, 1), (1, 2, 1), (1, 2, 2), (1, 2, None), (2, 1, 2), (None, 1, 1), (None, None, 2),
]  # fmt: skip


def verdict(place: int, ab: Winner | None, ba: Winner | None, gold: Winner | None, judge: str = "j") -> PairVerdict:
    return PairVerdict(judge=judge, group=(), item=str(place), ab=ab, ba=ba, gold=gold)


def test_a_judge_that_prefers_the_first_place() -> None:
    (found,) = position_trials(verdict(place, *one) for place, one in enumerate(VERDICTS))
    assert (found.n_pairs, found.n_missing, found.n_consistent) == (8, 2, 2)
    assert (found.n_first, found.n_second) == (3, 1)
    assert found.consistency.estimate == pytest.approx(2 / 6)
    assert found.first_share.estimate == pytest.approx(3 / 4)
    assert found.p_value == pytest.approx(2 * (4 + 1) / 2**4)  # 3 or 4 of 4 by chance, both sides
    assert found.right is not None
    assert (found.right.estimate, found.right.n) == (pytest.approx(1 / 7), 7)


def test_a_judge_that_never_changes_has_no_bias_to_test_and_nobody_may_know_what_is_right() -> None:
    (found,) = position_trials([verdict(0, 1, 1, None)])
    assert (found.p_value, found.right, found.first_share.estimate) == (None, None, None)


TIES: list[tuple[Winner, Winner, int]] = [  # which way each leans: 1 to the first place, -1 to the second
    (0, 0, 0), (0, 0, 0), (1, 1, 0), (2, 2, 0), (1, 2, 1), (2, 1, -1), (1, 0, 1), (0, 2, 1), (2, 0, -1), (0, 1, -1),
    (1, 0, 1),
]  # fmt: skip


def test_a_tie_is_a_verdict() -> None:
    """Two ties agree; a tie in one order alone leans to the place whose answer won in the other."""
    (found,) = position_trials(verdict(place, ab, ba, 0) for place, (ab, ba, _) in enumerate(TIES))
    assert (found.n_pairs, found.n_missing, found.n_consistent, found.n_tied) == (11, 0, 4, 2)
    assert (found.n_first, found.n_second, found.n_half_tied) == (4, 3, 5)
    assert found.n_consistent + found.n_first + found.n_second == found.n_pairs
    assert found.right is not None
    assert found.right.estimate == pytest.approx(2 / 11)  # people call each pair a tie
    for ab, ba, leans in TIES:
        (one,) = position_trials([verdict(0, ab, ba, None)])
        assert one.n_first - one.n_second == leans


@pytest.mark.parametrize(
    ("written", "winner"),
    [
        *((one, 1) for one in (1, 1.0, "1", "1.0", "A", "a", " A ", "[[A]]", "model_a", "Answer 1", "assistant A")),
        *((one, 2) for one in (2, 2.0, "2", "B", "[[B]]", "model_b", "answer-2")),
        *((one, 0) for one in (0.5, "0.5", "tie", "TIE", "Tied", "C", "[[C]]", "equal", "draw", "tie (bothbad)")),
        *((one, None) for one in (None, "")),
    ],
)
def test_a_verdict_is_read_as_it_is_commonly_written(tmp_path: Path, written: Any, winner: Winner | None) -> None:
    path = tmp_path / "pairs.jsonl"
    row = {"judge": "j", "item": 1, "winner_ab": written, "winner_ba": 1, "gold": written}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (found,) = read_pair_verdicts(path)
    assert (found.ab, found.ba, found.gold) == (winner, 1, winner)


def test_a_gap_as_pandas_writes_it_is_none(tmp_path: Path) -> None:
    parquet.write_table(
        pyarrow.table({"judge": ["j"], "item": ["a"], "winner_ab": [float("nan")], "winner_ba": [2.0]}),
        tmp_path / "pairs.parquet",
    )
    (found,) = read_pair_verdicts(tmp_path / "pairs.parquet")
    assert (found.ab, found.ba, found.gold) == (None, 2, None)


def test_ties_are_shown_apart(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("judge,item,winner_ab,winner_ba\nx,a,tie,tie\nx,b,1,tie\nx,c,A,B\n", encoding="utf-8")
    head, row = benchbook_here("position", str(path)).stdout.decode("utf-8").splitlines()[1:]
    cells = dict(zip(re.split(r"  +", head.strip()), re.split(r"  +", row.strip()), strict=True))
    assert {name: cells[name] for name in ("Pairs", "Tied in both", "First place", "Second place", "Tied in one")} == {
        "Pairs": "3", "Tied in both": "1", "First place": "2", "Second place": "0", "Tied in one": "1",
    }  # fmt: skip


def test_judges_and_groups_are_told_apart() -> None:
    rows = [verdict(0, 1, 1, 1, judge) for judge in ("b", "a")]
    assert [one.judge for one in position_trials(rows)] == ["a", "b"]


@pytest.mark.slow
def test_the_published_counts_of_real_judges_come_out() -> None:
    """Their `equal` counts two missing verdicts as alike; we count a missing one as no verdict."""
    folder = shared_data("llmbar")
    verdicts = list(read_pair_verdicts(folder / "judgements.csv", ("subset", "strategy")))
    found = {(one.group[0], one.judge, one.group[1]): one for one in position_trials(verdicts)}
    both_missing = dict.fromkeys(found, 0)
    for one in verdicts:
        both_missing[one.group[0], one.judge, one.group[1]] += one.ab is None and one.ba is None
    published = json.loads((folder / "published_statistics.json").read_text(encoding="utf-8"))
    assert len(published) == 325
    for row in published:
        key = (row["subset"], row["judge"], row["strategy"])
        trial = found[key]
        assert row["equal"].startswith(f"{trial.n_consistent + both_missing[key]} / {trial.n_pairs} ")
        assert trial.right is not None
        assert row["correct_both"].startswith(f"{round(trial.right.estimate * trial.right.n)} / {trial.n_pairs} ")


@pytest.mark.parametrize(
    ("rows", "line", "field"),
    [
        ([{"judge": "j", "item": 1, "winner_ab": 1}], 1, "winner_ba"),
        ([{"judge": "j", "item": 1, "winner_ab": 3, "winner_ba": 1}], 1, "winner_ab"),
        ([{"judge": "j", "item": 1, "winner_ab": True, "winner_ba": 1}], 1, "winner_ab"),
        ([{"judge": "", "item": 1, "winner_ab": 1, "winner_ba": 1}], 1, "judge"),
        ([{"judge": "j", "item": 1, "winner_ab": 1, "winner_ba": None}] * 2, 2, "item"),
        ([{"judge": "j", "item": 1, "winner_ab": 1, "winner_ba": 1, "gold": "D"}], 1, "gold"),
        ([{"judge": "j", "item": 1, "winner_ab": 1, "winner_ba": "first"}], 1, "winner_ba"),
        ([{"judge": "j", "item": 1, "winner_ab": -1, "winner_ba": 1}], 1, "winner_ab"),
        ([{"judge": "j", "item": 1, "winner_ab": 0, "winner_ba": 1}], 1, "winner_ab"),
        ([{"judge": "j", "item": 1, "winner_ab": ["tie"], "winner_ba": 1}], 1, "winner_ab"),
    ],
    ids=["no-column", "3", "true", "no-name", "twice", "gold", "a-place", "-1", "0", "a-list"],
)
def test_a_table_that_is_wrong_says_where(tmp_path: Path, rows: list[dict[str, Any]], line: int, field: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError) as found:
        list(read_pair_verdicts(path))
    assert (found.value.line, found.value.field) == (line, field)


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    rows = [
        {"judge": "j\x1b[31m", "item": place, "winner_ab": ab, "winner_ba": ba, "gold": gold, "strategy": "plain"}
        for place, (ab, ba, gold) in enumerate(VERDICTS)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = benchbook_here("position", str(path), "--by", "strategy")
    assert shown.returncode == 0, shown.stderr
    assert b"33.3 % [9.7, 70.0]" in shown.stdout
    assert b"\x1b" not in shown.stdout
    (told,) = json.loads(benchbook_here("position", str(path), "--json").stdout)
    assert (told["n_first"], told["n_second"], told["group"]) == (3, 1, [])
