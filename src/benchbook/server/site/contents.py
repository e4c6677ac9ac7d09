"""The contents of a site: the answer to each question that its pages ask, and of each list all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.server.questions import FEWEST_IN_HISTORY, MOST_COMPARED, MOST_IN_HISTORY
from benchbook.server.site.answering import Answers, Query
from benchbook.server.site.collecting import Contents


def site_contents(answers: Answers) -> Contents:
    """All that the pages of these runs ask for: each run, and those of one eval set and evaluator compared."""
    contents = Contents(answers)
    contents.add_list("runs", "/runs", (("sort", "started"), ("order", "desc")), "runs")
    everywhere = ("/me", "/evaluators", "/evalsets", "/judges", "/filters")
    contents.add_answers("all", [(path, ()) for path in everywhere])
    rows = contents.rows("/runs", (("archived", "any"),), "runs")
    for place, row in enumerate(rows):
        _add_run(contents, f"run-{place}", row)
    for place, group in enumerate(_groups(rows)):
        _add_leaderboard(contents, f"set-{place}", group[0])
        if len(group) > 1:
            _add_comparison(contents, f"set-{place}", [row["run_id"] for row in group[:MOST_COMPARED]])
    return contents


def _add_run(contents: Contents, name: str, row: Mapping[str, Any]) -> None:
    path = f"/runs/{row['run_id']}"
    parts = ("", "/manifest", "/aggregates", "/decision", "/criteria", "/slices", "/panel")
    curve: tuple[str, Query] = (f"{path}/training-metrics", (("name", "loss"),))
    contents.add_answers(name, [*((f"{path}{part}", ()) for part in parts), curve])
    if row["manifest_sha256"] is None:
        return
    if row["samples_are"] == "evaluations":
        contents.add_answers(f"{name}-judges", [(f"/judges/{row['run_id']}", ())])
        contents.add_list(f"{name}-evaluations", "/evaluations", (("run", row["run_id"]),), "evaluations", "sample")
        return
    contents.add_list(f"{name}-samples", f"{path}/samples", (), "samples", "sample")
    contents.add_file(f"data/{name}-samples.parquet", f"{path}/samples.parquet")
    if contents.has(f"{path}/panel"):
        contents.add_list(f"{name}-splits", f"{path}/panel/splits", (), "splits")


# ── several runs ─────────────────────────────────────────────────────────────────────────────────────────────


def _groups(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Runs that can be held against one another: of one evaluator and one eval set, the oldest first."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda one: (one["started_utc"] or "", one["run_id"])):
        if row["compared_as"] is not None and row["dataset_sha256"] is not None:
            found.setdefault((row["compared_as"], row["spec"], row["dataset_sha256"]), []).append(row)
    return list(found.values())


def _add_leaderboard(contents: Contents, name: str, row: Mapping[str, Any]) -> None:
    """The leaderboard of a run's eval set, as its page asks for it: with the evaluator's hash, and without."""
    asked = [("dataset", row["dataset_sha256"]), ("spec", row["spec"])]
    known = contents.json("/evalsets", ())["evalsets"]
    hashes = [one["spec_sha256"] for one in known if (one["dataset_sha256"], one["spec"]) == (asked[0][1], asked[1][1])]
    with_hash = [(*asked, ("spec_sha256", one)) for one in hashes if one]
    contents.add_answers(f"{name}-ranks", [("/leaderboards", tuple(query)) for query in (asked, *with_hash)])


def _add_comparison(contents: Contents, name: str, runs: Sequence[str]) -> None:
    """All of the runs together by each metric, and each against the baseline, item by item."""
    together = contents.json("/comparisons/runs", _named(runs))
    order = [one["run"]["run_id"] for one in together["runs"]]
    baseline, others = order[0], order[1:]
    sets = [order, *([baseline, one] for one in others if len(others) > 1)]
    for place, chosen in enumerate(sets):
        metrics = contents.json("/comparisons/set", (*_named(chosen), ("baseline", baseline)))["metrics"]
        asked = [
            ("/comparisons/set", (*_named(chosen), ("baseline", baseline), ("metric", one["name"]))) for one in metrics
        ]
        contents.add_answers(f"{name}-by-{place}", asked)
        contents.add_file(
            f"data/{name}-report-{place}.html",
            "/comparisons/report.html",
            (*_named(chosen), ("baseline", baseline), ("metric", "score")),
        )
        turned = [chosen, *([chosen[::-1]] if len(chosen) == 2 else ())]
        contents.add_answers(f"{name}-runs-{place}", [("/comparisons/runs", _named(one)) for one in turned])
    by_items = [one["name"] for one in metrics if one["by_items"]]
    for place, run in enumerate(others):
        pair = _named((baseline, run))
        contents.add_answers(
            f"{name}-pair-{place}",
            [
                *(("/comparisons", (*pair, ("metric", metric))) for metric in by_items),
                *(("/comparisons/items/summary", (*pair, ("metric", metric))) for metric in by_items),
            ],
        )
        contents.add_list(f"{name}-items-{place}", "/comparisons/items", pair, "items", "position")
    if FEWEST_IN_HISTORY <= len(order) <= MOST_IN_HISTORY:
        for by in ("correct", "contained"):
            history = (*_named(order), ("by", by))
            contents.add_answers(f"{name}-ways-{by}", [("/comparisons/history/summary", history)])
            if contents.has("/comparisons/history/summary", history):
                contents.add_list(f"{name}-way-{by}", "/comparisons/history", history, "items")


def _named(runs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(("run", run) for run in runs)
