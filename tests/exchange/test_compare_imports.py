"""Logs of two tools side by side, item by item, where their items are the same; refused where they are not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.compared import Comparison, compare
from benchbook.comparison.records import compared_run
from benchbook.errors import UsageError
from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import LogFailure, LogSample
from running import benchbook_here
from scored_logs import MadeLog, sample


def compared(tmp_path: Path, a: Sequence[LogSample], b: Sequence[LogSample]) -> Comparison:
    runs = []
    for name, held, tool in (("a", a, "inspect"), ("b", b, "lm_eval")):
        log = MadeLog(tmp_path, held, tool=tool, model=f"x/{name}")
        runs.append(compared_run(import_log(log, Wanted(runs=str(tmp_path / "runs"), run_id=name)).record))
    return compare(*runs)


def templated(name: str, value: float | None, **given: Any) -> LogSample:
    return sample(name, value, **({"prompt": f"Question: What is {name}?\nAnswer:"} | given))


def test_items_of_one_text_meet_whatever_their_ids(tmp_path: Path) -> None:
    pair = compared(
        tmp_path,
        [sample("1", 1.0, prompt="Why?"), sample("2", 1.0, prompt="How?")],
        [sample("doc-0", 1.0, prompt="Why?"), sample("doc-1", 0.0, prompt="How?")],
    )
    assert (pair.n_compared, pair.counts["regressed"], pair.n_by_id) == (2, 1, 0)


def test_items_that_two_tools_put_otherwise_meet_by_id_and_expected_answer(tmp_path: Path) -> None:
    ids = ["1", "2", "3"]
    a = [sample(name, 1.0, references=(f"r{name}",)) for name in ids]
    b = [templated(name, float(name != "2"), references=(f"r{name}",)) for name in ids]
    pair = compared(tmp_path, a, b)
    assert (pair.n_compared, pair.counts["regressed"], pair.n_by_id) == (3, 1, 3)
    assert "3 of them by id and expected answer" in benchbook_here("compare", "a", "b", cwd=tmp_path).stdout.decode()


REFUSED = {
    "other ids": ([sample("1", 1.0)], [templated("2", 1.0)]),
    "ids of other items": (
        [sample(str(n), 1.0, references=(f"a{n}",)) for n in range(5)],
        [templated(str(n), 1.0, references=(f"b{n}",)) for n in range(5)],
    ),
    "ids alone": ([sample("1", 1.0, references=())], [templated("1", 1.0, references=())]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_logs_without_a_common_item_are_refused(tmp_path: Path, what: str) -> None:
    with pytest.raises(UsageError, match="no item in common"):
        compared(tmp_path, *REFUSED[what])


def test_an_error_of_a_tool_is_a_missing_pair_and_no_loss(tmp_path: Path) -> None:
    failed = sample("2", answer=None, failure=LogFailure(message="boom"))
    pair = compared(tmp_path, [sample("1", 1.0), sample("2", 1.0)], [sample("1", 1.0), failed])
    assert (pair.n_compared, pair.counts["regressed"], pair.counts["only_in_a"], pair.n_unanswered_b) == (1, 0, 1, 1)


def test_logs_of_one_task_have_one_eval_set_in_whatever_order_their_samples_came(tmp_path: Path) -> None:
    names = ["10", "9", "a2", "a10", "1"]
    for run, order in (("a", names), ("b", names[::-1])):
        held = [sample(name, float(name != "9" or run == "a")) for name in order]
        import_log(MadeLog(tmp_path, held, model=f"x/{run}"), Wanted(runs=str(tmp_path / "runs"), run_id=run))
    done = benchbook_here("leaderboard", "a", "b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    items = json.loads(benchbook_here("show", "a", "--sample", "0", "--json", cwd=tmp_path).stdout)
    assert items["item_id"] == "1"


def test_people_hold_another_tools_scores_against_their_own(tmp_path: Path) -> None:
    held = [sample(str(n), float(n % 2)) for n in range(20)]
    import_log(MadeLog(tmp_path, held), Wanted(runs=str(tmp_path / "runs"), run_id="a"))
    assert benchbook_here("label", "sample", "a", "--n", "20", "--out", "book", cwd=tmp_path).returncode == 0
