"""Two rubrics of one name, whose files differ, are two: in leaderboards, experiments, comparisons and lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.comparison.compared import compare_runs
from benchbook.comparison.experiment import named_experiment
from benchbook.comparison.leaderboard import leaderboard
from benchbook.comparison.records import compared_run
from benchbook.errors import UsageError
from benchbook.library.comparing import records_on_one_evalset
from benchbook.record.folder import Record
from benchbook.views.several_runs import experiment_markdown
from own_rubric import TONE, Verdict, own_run
from server.making import Api, api_over

VERDICTS: list[Verdict] = [{"tone": 5, "safe": "yes"}, {"tone": 3, "safe": "yes"}]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """`a` and `b` under one tone@v1, `c` under another, which asks more of a pass."""
    folder = tmp_path_factory.mktemp("runs")
    stricter = TONE.replace("at_least = 4\n\n[[criteria]]", "at_least = 5\n\n[[criteria]]")
    assert stricter != TONE
    return [
        own_run(folder, VERDICTS, spec, run_id, experiment="e").record
        for run_id, spec in (("a", TONE), ("b", TONE), ("c", stricter))
    ]


def hashes(runs: list[Record]) -> tuple[str, str]:
    first, _, other = (record.started().spec_sha256 for record in runs)
    assert first != other
    return first, other


def test_a_leaderboard_of_both_is_refused_by_their_hashes(runs: list[Record]) -> None:
    a, b, c = (compared_run(record) for record in runs)
    first, other = hashes(runs)
    assert len(leaderboard([a, b]).places) == 2
    with pytest.raises(UsageError) as refused:
        leaderboard([a, b, c])
    assert f"c was scored under tone@v1 ({other}) on eval set " in str(refused.value)
    assert f", a under tone@v1 ({first}) on eval set " in str(refused.value)
    assert [record.run_id for record in records_on_one_evalset(runs[0].path.parent)[0]] in (["c"], ["b", "a"])


def test_a_comparison_says_so_and_ranks_nothing(runs: list[Record]) -> None:
    found = compare_runs([compared_run(record) for record in runs])
    assert found.leaderboard is None
    assert found.pairs[0].measured == ()
    assert [leaf.path for one in found.pairs[1].measured for leaf in one.leaves] == ["spec_sha256"]


def test_an_experiment_has_a_table_for_each(runs: list[Record]) -> None:
    first, other = hashes(runs)
    found = named_experiment("e", runs)
    assert [(plan.spec, plan.spec_sha256, plan.runs) for plan in found.plans] == [
        ("tone@v1", first, ["a", "b"]), ("tone@v1", other, ["c"]),
    ]  # fmt: skip
    page = "".join(experiment_markdown(found))
    for sha256 in (first, other):
        assert sha256[:12] in page.partition("## ")[2]


@pytest.fixture
def api(runs: list[Record], tmp_path: Path) -> Iterator[Api]:
    opened = api_over(runs[0].path.parent, str(tmp_path / "catalog.sqlite"))
    yield opened
    opened.app.stop()


def test_the_server_lists_filters_and_ranks_them_apart(runs: list[Record], api: Api) -> None:
    first, other = hashes(runs)
    listed = api.json("/api/v1/evaluators")["evaluators"]
    assert sorted((one["spec"], one["spec_sha256"], one["n_runs"]) for one in listed) == sorted(
        [("tone@v1", first, 2), ("tone@v1", other, 1)]
    )
    found = api.json("/api/v1/runs", params={"spec": "tone@v1", "spec_sha256": other})["runs"]
    assert [run["run_id"] for run in found] == ["c"]
    (dataset,) = {one["dataset_sha256"] for one in api.json("/api/v1/evalsets")["evalsets"]}
    asked = {"dataset": dataset, "spec": "tone@v1"}
    status, said = api.problem("/api/v1/leaderboards", params=asked)
    assert status == 409
    assert said.startswith("several evaluators are called tone@v1: name one by spec_sha256, of ")
    board = api.json("/api/v1/leaderboards", params=asked | {"spec_sha256": first})
    assert [place["run"] for place in board["places"]] == ["a", "b"]
