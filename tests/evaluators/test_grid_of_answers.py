"""A grid whose cells are scored without a judge: by a function of one's own, by checks, by the expected answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.ask.providers.in_process import lend
from benchbook.comparison.experiment import named_experiment
from benchbook.errors import BenchbookError
from benchbook.evaluators.grid import cells_of
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.record.folder import records_in
from own_scorers import changed, equal
from running import benchbook_here, write_items

NEAR = """
import benchbook as bb

@bb.scorer(name="near", passes_at=0.5)
def near(item, answer):
    return 1 / (1 + abs(int(answer) - int(item.expected_answer)))
"""
CHECKS = """
name = "ours"
version = 1
about = "The number is there."

[[checks]]
name = "right"
kind = "number"
"""


def adding(more: int, broken: set[int]) -> Callable[[str], str]:
    """A model that adds `more` to the number it is asked about, and can't be reached for some."""

    def model(prompt: str) -> str:
        number = int(prompt.split()[-3])
        if number in broken:
            raise ConnectionError("gone")
        return str(number + more)

    return model


class Tried:
    """Two models, one right and one that is one off, under two prompts; three items."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.broken: set[int] = set()
        self.models = [lend(adding(more, self.broken)) for more in (1, 2)]
        write_items(folder / "items.jsonl", 3)
        for name in ("plain", "short"):
            (folder / f"{name}.txt").write_text(f"{name.title()} {{{{prompt}}}}", encoding="utf-8")

    def settings(self, **more: Any) -> dict[str, Any]:
        return {
            "evalset": str(self.folder / "items.jsonl"),
            "runs": str(self.folder / "runs"),
            "experiment": "tried",
            "max_retries": 0,
            "grid": {
                "model": self.models,
                "prompt_template": [str(self.folder / f"{name}.txt") for name in ("plain", "short")],
            },
            **more,
        }

    def config(self, **more: Any) -> Path:
        path = self.folder / "tried.toml"
        values = self.settings(**more)
        grid = values.pop("grid")
        lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        lines += ["[grid]", *(f"{name} = {json.dumps(options)}" for name, options in grid.items())]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    def scores(self) -> dict[str, float | None]:
        return {run.path.name: run.aggregates.primary_score for run in map(bb.load, self.paths())}

    def paths(self) -> list[Path]:
        return sorted((record.path for record in records_in(self.folder / "runs")), key=lambda path: path.name)


@pytest.fixture
def tried(tmp_path: Path) -> Tried:
    return Tried(tmp_path)


@pytest.mark.slow
def test_a_function_scores_every_cell_from_the_command_line_and_all_are_on_one_page(tried: Tried) -> None:
    (tried.folder / "years.py").write_text(NEAR, encoding="utf-8")
    words = ("grid", str(tried.config()), "--spec", str(tried.folder / "years.py:near"))
    done = benchbook_here(*words)
    assert done.returncode == 0, done.stderr.decode()
    assert tried.scores() == {"tried-1": 1.0, "tried-2": 1.0, "tried-3": 0.5, "tried-4": 0.5}
    assert all(bb.verify(path).holds for path in tried.paths())
    journals = [(path / "journal" / "000001.jsonl").read_bytes() for path in tried.paths()]
    assert benchbook_here(*words, "--quiet").returncode == 0
    assert [(path / "journal" / "000001.jsonl").read_bytes() for path in tried.paths()] == journals
    page = tried.folder / "page.html"
    shown = benchbook_here("experiment", "tried", "--runs", str(tried.folder / "runs"), "--html", str(page), "--json")
    plans = json.loads(shown.stdout)["plans"]
    assert [(plan["spec"], plan["summaries"][0]["mean"]) for plan in plans] == [
        ("near@v1", 1.0), ("near@v1", 1.0), ("near@v1", 0.5), ("near@v1", 0.5),
    ]  # fmt: skip
    assert all(path.name in page.read_text("utf-8") for path in tried.paths())


def test_it_goes_on_with_what_was_stopped_and_scores_nothing_twice(tried: Tried) -> None:
    seen: list[str] = []

    @bb.scorer(name="exact")
    def exact(item: Any, answer: str) -> bool:
        seen.append(item["id"])
        return bool(item["expected_answer"] == answer)

    tried.broken.add(1)
    stopped = bb.grid(spec=exact, **tried.settings())
    assert [run.path.name for run in stopped] == ["tried-1"]
    assert stopped[0].stopped is not None
    assert seen == ["i0", "i2"]
    tried.broken.clear()
    whole = bb.grid(spec=exact, **tried.settings())
    assert [run.aggregates.primary_score for run in whole] == [1.0, 1.0, 0.0, 0.0]
    assert seen == ["i0", "i2", "i1", *["i0", "i1", "i2"] * 3]
    bb.grid(spec=exact, **tried.settings())
    assert len(seen) == 12


def test_another_function_never_goes_on_with_a_record(tried: Tried) -> None:
    def exact(function: Any, **more: Any) -> Scorer:
        return bb.scorer(name="exact", **more)(function)

    bb.grid(spec=exact(equal), **tried.settings())
    for other, named in (
        (exact(changed), "scorer"), (exact(equal, passes_at=0.5), "evaluator"), (exact(equal, version=2), "spec"),
    ):  # fmt: skip
        with pytest.raises(BenchbookError, match=f"was begun with another {named} than cell tried-1 has now"):
            bb.grid(spec=other, **tried.settings())


@pytest.mark.parametrize("spec", ["answer_correctness@v1", "number@v1", "ours"])
def test_checks_and_correctness_score_every_cell(tried: Tried, spec: str) -> None:
    (tried.folder / "ours").mkdir()
    (tried.folder / "ours" / "spec.toml").write_text(CHECKS, encoding="utf-8")
    done = benchbook_here("grid", str(tried.config(spec=spec)), "--quiet")
    assert done.returncode == 0, done.stderr.decode()
    assert tried.scores() == {"tried-1": 1.0, "tried-2": 1.0, "tried-3": 0.0, "tried-4": 0.0}


@pytest.mark.slow
def test_repeats_are_records_of_one_plan_all_combinations_first(tried: Tried) -> None:
    cache = str(tried.folder / "answers.sqlite")
    once = bb.grid(spec="number@v1", cache=cache, **tried.settings())
    three_times = bb.grid(spec="number@v1", repeats=3, cache=cache, **tried.settings())
    assert [run.path.name for run in three_times] == [f"tried-{n}" for n in range(1, 13)]
    assert [run.path for run in three_times[:4]] == [run.path for run in once]  # they stay as they are
    found = named_experiment("tried", records_in(tried.folder / "runs"))
    assert sorted(sorted(plan.runs) for plan in found.plans) == [
        ["tried-1", "tried-5", "tried-9"], ["tried-10", "tried-2", "tried-6"],
        ["tried-11", "tried-3", "tried-7"], ["tried-12", "tried-4", "tried-8"],
    ]  # fmt: skip
    assert [plan.summaries[0].sd for plan in found.plans] == [0.0] * 4
    configs = [record.started().config for record in records_in(tried.folder / "runs")]
    assert sorted("cache" in one for one in configs) == [False] * 8 + [True] * 4
    assert not any("repeats" in one for one in configs)


def test_the_cells_of_repeats_are_told_apart(tried: Tried) -> None:
    cells = cells_of(tried.settings(spec="contains@v1", repeats=2), "x")
    assert [(cell.run_id, cell.varied["model"] == tried.models[0], cell.varied["repeat"]) for cell in cells] == [
        ("tried-1", True, 1), ("tried-2", True, 1), ("tried-3", False, 1), ("tried-4", False, 1),
        ("tried-5", True, 2), ("tried-6", True, 2), ("tried-7", False, 2), ("tried-8", False, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"spec": "years.py:near"}, "x: spec: found 'years.py:near'; .* --spec FILE.py:function"),
        ({"spec": "contains@v1", "repeats": 0}, "x: repeats: found 0; expected a whole number from 1 to 1,000"),
        ({"spec": "contains@v1", "repeats": True}, "x: repeats: found True"),
        ({"spec": "contains@v1", "repeats": 251}, "1,004 cells; expected at most 1,000"),
        ({"spec": "contains@v1", "grid": {"repeats": [1, 3]}}, r"x: grid.repeats: .*expected repeats beside \[grid\]"),
        ({"spec": "contains@v1", "repeats": 2, "grid": None}, "x: grid: found nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(tried: Tried, more: dict[str, Any], words: str) -> None:
    with pytest.raises(BenchbookError, match=words):
        cells_of(tried.settings(**more), "x")
