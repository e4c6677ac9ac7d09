"""The contents of a site: the answer to each question that its pages ask, and of each list all rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchbook.server.questions import FEWEST_IN_HISTORY, MOST_COMPARED, MOST_IN_HISTORY
from benchbook.server.site.answering import Answers, Query
from benchbook.server.site.collecting import Contents
from benchbook.server.site.packing import list_key


def site_contents(answers: Answers) -> Contents:
    """All that the pages of these runs ask for: each run, and those of one eval set and evaluator compared."""
    contents = Contents(answers)
    newest_first = (("sort", "started"), ("order", "desc"))
    contents.add_list("runs", "/runs", newest_first, contents.rows("/runs", newest_first, "runs"))
    everywhere = ("/me", "/evaluators", "/evalsets", "/judges", "/filters")
    contents.add_answers("all", [(path, ()) for path in everywhere])
    rows = contents.rows("/runs", (("archived", "any"),), "runs")
    for place, row in enumerate(rows):
        _add_run(contents, f"run-{place}", row)
    for place, group in enumerate(_groups(rows)):
        _add_leaderboard(contents, f"set-{place}", group[0])
        if len(group) > 1:
            _add_comparison(contents, f"set-{place}", [row["run_id"] for row in group[:MOST_COMPARED]])
    contents.add_texts()
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
        _add_evaluations(contents, f"{name}-evaluations", row["run_id"])
        return
    samples = ((one["sample"], contents.texts.shared(one)) for one in contents.source.samples(row["run_id"]))
    contents.add_list(
        f"{name}-samples", f"{path}/samples", (), contents.rows(f"{path}/samples", (), "samples"), samples
    )
    contents.add_file(f"data/{name}-samples.parquet", f"{path}/samples.parquet")
    if contents.has(f"{path}/panel"):
        splits = contents.rows(f"{path}/panel/splits", (), "splits")
        contents.add_list(f"{name}-splits", f"{path}/panel/splits", (), splits)


def _add_evaluations(contents: Contents, name: str, run: str) -> None:
    path, query = "/evaluations", (("run", run),)
    rows = contents.rows(path, query, "evaluations")
    numbers = (one["sample"] for one in rows)
    whole = ((number, contents.texts.shared(contents.json(f"{path}/{number}", query))) for number in numbers)
    contents.add_list(name, path, query, rows, whole)


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
    _add_items(contents, name, order)
    if FEWEST_IN_HISTORY <= len(order) <= MOST_IN_HISTORY:
        for by in ("correct", "contained"):
            history = (*_named(order), ("by", by))
            contents.add_answers(f"{name}-ways-{by}", [("/comparisons/history/summary", history)])
            if contents.has("/comparisons/history/summary", history):
                ways = contents.rows("/comparisons/history", history, "items")
                contents.add_list(f"{name}-way-{by}", "/comparisons/history", history, ways)


def _named(runs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(("run", run) for run in runs)


# ── their items ──────────────────────────────────────────────────────────────────────────────────────────────

_PATH = "/comparisons/items"
_AMONG_ANSWERS = ("text_a", "text_b", "segments")


def _add_items(contents: Contents, name: str, order: Sequence[str]) -> None:
    """The rows of each pair with the baseline. The first pair holds each item whole, with the answers of all runs."""
    first = _named(order[:2])
    rows = contents.rows(_PATH, first, "items")
    items = list(contents.source.items(order, range(len(rows))))
    contents.add_list(f"{name}-items-0", _PATH, first, rows, _by_position(contents, items))
    for place, run in enumerate(order[2:], start=1):
        pair = (order[0], run)
        places = _places(contents, items, pair)
        others = [one for one in order[1:] if one != run]
        own = contents.source.items((*pair, *others), [at for at, one in enumerate(places) if one is None])
        rows, all_of = contents.rows(_PATH, _named(pair), "items"), (list_key(_PATH, first), places)
        contents.add_list(
            f"{name}-items-{place}", _PATH, _named(pair), rows, _by_position(contents, own), all_of=all_of
        )


def _by_position(contents: Contents, items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Any]]:
    for item in items:
        short = {name: value for name, value in item.items() if name not in _AMONG_ANSWERS}
        yield item["position"], contents.texts.shared_item(short)


def _places(contents: Contents, items: Sequence[Mapping[str, Any]], pair: Sequence[str]) -> list[int | None]:
    """The place of each item of a pair among those with the answers of all runs; None of one that is another there."""
    known = {item["sample_a"]: item for item in items if item["sample_a"] is not None}

    def place(row: Mapping[str, Any]) -> int | None:
        item = known.get(row["sample_a"])
        if item is None or row["class"] == "expected_changed" or row["item_id_b"] not in (None, row["item_id"]):
            return None
        return item["position"] if _answers(item, pair)[1]["sample"] == row["sample_b"] else None

    columns = ("class", "item_id", "item_id_b", "sample_a", "sample_b")
    found = [place(row) for row in contents.source.item_rows(pair).select(columns).iter_rows(named=True)]
    for at, there in enumerate(found):
        if there is not None:  # what is measured in both of two runs depends on the two: of any item it is told
            (item,) = contents.source.items(pair, [at])
            return found if item["answers"] == _answers(items[there], pair) else [None] * len(found)
    return found


def _answers(item: Mapping[str, Any], runs: Sequence[str]) -> list[Any]:
    return [one for one in item["answers"] if one["run"] in runs]
