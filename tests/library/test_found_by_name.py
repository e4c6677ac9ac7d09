"""Runs by path, by id in the folder of records, and as objects; what takes one text or several; names of `bb`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import ConfigError, UsageError
from library.in_notebooks import ROWS, doubling, kindly


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs in `runs`."""
    folder = tmp_path_factory.mktemp("named")
    for name, limit in (("first", 8), ("second", 4)):
        bb.score(ROWS, model=doubling, run_id=name, limit=limit, runs=folder / "runs")
    return folder


@pytest.mark.parametrize("named", ["first", "runs/first", Path("runs") / "first", Path("first")])
def test_a_run_is_found_by_its_id_and_by_its_path(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Any
) -> None:
    monkeypatch.chdir(folder)
    assert bb.load(named).record.run_id == "first"
    assert bb.verify(named).holds
    assert [one.name for one in bb.compare(named, bb.load("second")).runs] == ["first", "second"]
    assert bb.export(named, to="csv", out=tmp_path / "table.csv").record_sha256 == bb.verify("first").sha256


@pytest.mark.parametrize(
    "call",
    [
        bb.load,
        bb.verify,
        bb.resume,
        lambda name, runs: bb.compare("first", name, runs=runs),
        lambda name, runs: bb.leaderboard(name, runs=runs),
        lambda name, runs: bb.label(name, runs=runs),
        lambda name, runs: bb.calibrate(name, "labels", runs=runs) if bb.load_labels("labels") else None,
        lambda name, runs: bb.score(run=name, runs=runs),
        lambda name, runs: bb.run(run=name, judge=kindly, runs=runs),
        lambda name, runs: bb.export(name, to="csv", out="x.csv", runs=runs),
        lambda name, runs: bb.send(name, "otel", runs=runs),
    ],
)
def test_one_that_is_not_there_names_both_places(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Any]
) -> None:
    monkeypatch.chdir(folder)
    if not Path("labels").exists():
        bb.label("first", n=2)
    with pytest.raises(UsageError, match="frist: not a record, here or in runs/"):
        call("frist", runs="runs")


@pytest.mark.parametrize("one", [str, lambda text: [text], lambda text: (text,)])
def test_a_single_text_is_not_read_letter_by_letter(tmp_path: Path, one: Callable[[str], Any]) -> None:
    log = tmp_path / "l.jsonl"
    log.write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.5}\n', encoding="utf-8")
    answers = [{"id": row["id"], "predicted": row["expected_answer"]} for row in ROWS]
    scored = bb.score(ROWS, answers, training_metrics=one(str(log)), where=one("section=core"), runs=tmp_path)
    assert (scored.aggregates.n_items, (scored.path / "training_metrics.parquet").exists()) == (4, True)
    asked = bb.score(ROWS, model=doubling, where=one("section=core"), runs=tmp_path)
    assert asked.aggregates.n_items == 4
    judged = bb.run(evalset=ROWS, model=doubling, judge=kindly, where=one("section=core"), runs=tmp_path, run_id="j")
    assert judged.aggregates.ledger.n_scored == 4
    labels = bb.label("j", n=4, stratify=one("section"), out=tmp_path / "labels", runs=tmp_path)
    assert list(labels.book.started.strata) == ["core"]


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        (bb.run, {"evalset": ROWS, "modle": doubling}, "modle|model"),
        (
            bb.score,
            {"training_metrcs": "x"},
            "training_metrcs|training_metrics",
        ),
        (bb.judge, {"sets": "x"}, "sets|set"),
        (bb.grid, {"gird": {}}, "gird|grid"),
        (
            bb.resume,
            {"run": "x", "max_secnds": 3},
            "max_secnds|max_seconds",
        ),
        (bb.run, {"zzzzzz": 1}, "zzzzzz|one of those that"),
    ],
)
def test_a_misspelt_setting_says_the_nearest(function: Callable[..., Any], given: dict[str, Any], said: str) -> None:
    name, nearest = said.split("|")
    message = f"{function.__name__}: {name}: found a setting that is not known; expected {nearest}"
    with pytest.raises(ConfigError, match=re.escape(message)):
        function(**given)


def test_dir_lists_what_is_for_users_and_nothing_else() -> None:
    assert dir(bb) == sorted(bb.__all__)
    assert {"run", "judge", "label", "calibrate", "leaderboard", "audit", "load"} <= set(dir(bb))
    assert {f"{name}_async" for name in ("run", "score", "grid", "resume", "judge", "label", "calibrate")} <= set(
        dir(bb)
    )
    assert all(getattr(bb, name) is not None for name in dir(bb))
