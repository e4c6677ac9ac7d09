"""A grid: one experiment over several models and prompts, a record for every combination."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.experiment import named_experiment
from benchbook.errors import BenchbookError
from benchbook.evaluators.grid import cells_of
from benchbook.evaluators.settings import read_config_file
from benchbook.record.folder import Record, records_in
from running import benchbook_here, write_items
from scripted_server import OK_CANDIDATE, OK_JUDGE, Reply, ScriptedServer, running

SHARED = {"evalset": "items.jsonl", "model": "openai/m@1", "judge": "openai/j@1", "experiment": "tried"}


@pytest.fixture
def asked() -> list[tuple[str, str]]:
    """What the server was asked: the model, and its prompt's first word."""
    return []


@pytest.fixture
def server(asked: list[tuple[str, str]]) -> Iterator[ScriptedServer]:
    def answering(role: str, n: int, request: Mapping[str, Any]) -> Reply:
        del n
        if role == "judge":
            return OK_JUDGE
        asked.append((request["model"], request["messages"][0]["content"].split()[0]))
        return OK_CANDIDATE

    with running(answering) as made:
        yield made


def config(folder: Path, grid: str, base_url: str, **more: str) -> Path:
    write_items(folder / "items.jsonl", 3)
    for name in ("plain", "short"):
        (folder / f"{name}.txt").write_text(f"{name.title()} {{{{prompt}}}}", encoding="utf-8")
    values = {key: value for key, value in SHARED.items() if f"\n{key} =" not in f"\n{grid}"} | more
    values |= {"model_base_url": base_url, "judge_base_url": base_url, "runs": "runs", "reports": "none"}
    path = folder / "grid.toml"
    shared = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    path.write_text(f"{shared}\n[grid]\n{grid}\n", encoding="utf-8")
    return path


TWO_BY_TWO = 'model = ["openai/a@1", "openai/b@1"]\nprompt_template = ["plain.txt", "short.txt"]'


def test_every_combination_is_a_record_and_what_is_named_first_varies_slowest(
    tmp_path: Path, server: ScriptedServer, asked: list[tuple[str, str]]
) -> None:
    path = config(tmp_path, TWO_BY_TWO, server.base_url)
    done = benchbook_here("grid", str(path), "--json")
    assert done.returncode == 0, done.stderr.decode()
    cells = [("a", "Plain"), ("a", "Short"), ("b", "Plain"), ("b", "Short")]
    assert asked == [cell for cell in cells for _ in range(3)]
    found = json.loads(done.stdout)
    assert [plan["runs"] for plan in found["plans"]] == [[f"tried-{n}"] for n in range(1, 5)]
    assert [(plan["settings"]["model"], Path(plan["settings"]["prompt_template"]).name) for plan in found["plans"]] == [
        ("openai/a@1", "plain.txt"), ("openai/a@1", "short.txt"),
        ("openai/b@1", "plain.txt"), ("openai/b@1", "short.txt"),
    ]  # fmt: skip
    assert {name for plan in found["plans"] for name in plan["settings"]} == {"model", "prompt_template"}
    assert all(len(plan["intervals"]) == 1 for plan in found["plans"])


@pytest.mark.slow
def test_the_same_command_goes_on_after_a_stop_and_asks_nobody_twice(
    tmp_path: Path, asked: list[tuple[str, str]]
) -> None:
    refuses = True

    def answering(role: str, n: int, request: Mapping[str, Any]) -> Reply:
        del n
        if request["model"] == "b" and refuses:
            return {"status": 401, "body": {"error": {"message": "no"}}}
        if role != "judge":
            asked.append((request["model"], request["messages"][0]["content"].split()[0]))
        return OK_JUDGE if role == "judge" else OK_CANDIDATE

    with running(answering) as server:
        path = config(tmp_path, TWO_BY_TWO, server.base_url)
        stopped = benchbook_here("grid", str(path), "--quiet")
        assert stopped.returncode == 3, stopped.stderr.decode()
        assert b"tried-3: stopped:" in stopped.stderr
        assert len(asked) == 6
        refuses = False
        assert benchbook_here("grid", str(path), "--quiet").returncode == 0
        assert len(asked) == 12
        assert benchbook_here("grid", str(path), "--quiet").returncode == 0
    assert len(asked) == 12


@pytest.mark.parametrize(
    ("changed", "named"), [("short.txt", "prompt_template"), ("items.jsonl", "evalset"), ("grid.toml", "model_params")]
)
def test_a_record_of_another_plan_is_never_taken_for_a_cell(
    tmp_path: Path, server: ScriptedServer, changed: str, named: str
) -> None:
    path = config(tmp_path, 'prompt_template = ["plain.txt", "short.txt"]', server.base_url)
    assert benchbook_here("grid", str(path), "--quiet").returncode == 0
    if changed == "grid.toml":
        path.write_text("model_params = {max_tokens = 7}\n" + path.read_text("utf-8"), encoding="utf-8")
    else:
        with (tmp_path / changed).open("a", encoding="utf-8") as file:
            file.write(' {"id": "more"}' if changed == "short.txt" else '{"id": "more", "prompt": "x"}\n')
    again = benchbook_here("grid", str(path), "--quiet")
    assert again.returncode == 2
    assert f"was begun with another {named} than cell".encode() in again.stderr


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ("", "grid: found {}; expected a table [grid]"),
        ("model = []", "grid.model: found []"),
        ('model = "openai/a@1"', "grid.model: found 'openai/a@1'; expected a list"),
        ('model = ["openai/a@1", "openai/a@1"]', "in which no two are alike"),
        ('run_id = ["a", "b"]', "grid.run_id: found a setting that all cells share"),
        ('judge = ["openai/j@1"]\nmodle = ["x"]', "cell 1: modle"),
        (f"limit = {list(range(1, 1002))}", "1,001 cells"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused_before_anything_is_asked(tmp_path: Path, grid: str, words: str) -> None:
    path = config(tmp_path, grid, "http://127.0.0.1:9/v1")
    refused = benchbook_here("grid", str(path))
    assert refused.returncode == 2
    assert words in refused.stderr.decode()
    assert not (tmp_path / "runs").exists()


def test_a_setting_of_the_grid_does_not_stand_beside_it(tmp_path: Path) -> None:
    values = {**SHARED, "grid": {"model": ["openai/a@1"]}}
    with pytest.raises(BenchbookError, match=r"grid\.model: found a list, and model = 'openai/m@1' beside it"):
        cells_of(values, "settings")


@pytest.mark.parametrize("name", [None, "", "a/b", ".."])
def test_the_experiment_names_the_records(name: str | None) -> None:
    values = {**SHARED, "experiment": name, "grid": {"limit": [1]}}
    with pytest.raises(BenchbookError, match="experiment"):
        cells_of(values, "settings")


def test_run_says_whose_setting_it_is(tmp_path: Path) -> None:
    path = config(tmp_path, TWO_BY_TWO, "http://127.0.0.1:9/v1")
    refused = benchbook_here("run", str(path))
    assert refused.returncode == 2
    assert b"`benchbook grid`" in refused.stderr


def test_a_dry_run_names_the_cells(tmp_path: Path) -> None:
    path = config(tmp_path, TWO_BY_TWO, "http://127.0.0.1:9/v1")
    said = benchbook_here("grid", str(path), "--dry-run").stdout.decode().splitlines()
    assert len(said) == 5
    assert said[1].startswith("tried-2  model = openai/a@1, prompt_template = ")
    assert [cell.run_id for cell in cells_of(read_config_file(path), "x")] == [f"tried-{n}" for n in range(1, 5)]


def test_cells_of_an_evaluator_without_a_judge_stand_beside_judged_ones(tmp_path: Path, server: ScriptedServer) -> None:
    path = config(tmp_path, 'model = ["openai/a@1", "openai/b@1"]', server.base_url)
    assert benchbook_here("grid", str(path), "--quiet").returncode == 0
    checked = tmp_path / "checked"
    checked.mkdir()
    shared = {"spec": "contains@v1", "experiment": "tried", "model_base_url": server.base_url}
    made = config(checked, 'model = ["openai/a@1", "openai/b@1"]', server.base_url)
    text = made.read_text("utf-8").replace('judge = "openai/j@1"', f'spec = "{shared["spec"]}"')
    made.write_text("\n".join(line for line in text.splitlines() if "judge_base_url" not in line), encoding="utf-8")
    assert benchbook_here("grid", str(made), "--quiet").returncode == 0
    records = [*records_in(tmp_path / "runs"), *records_in(checked / "runs")]
    found = named_experiment("tried", [Record(one.path) for one in records])
    assert sorted(plan.spec for plan in found.plans) == ["contains@v1"] * 2 + ["rubric@v1"] * 2
    assert {one.aggregate for plan in found.plans for one in plan.summaries} == {
        "primary_score", "aggregate_score", "latency_e2e_p95_ms",
    }  # fmt: skip


def test_the_page_has_every_cell(tmp_path: Path, server: ScriptedServer) -> None:
    path = config(tmp_path, TWO_BY_TWO, server.base_url)
    assert benchbook_here("grid", str(path), "--quiet").returncode == 0
    page = tmp_path / "page.html"
    shown = benchbook_here("experiment", "tried", "--runs", str(tmp_path / "runs"), "--html", str(page))
    assert shown.returncode == 0, shown.stderr.decode()
    written = page.read_text("utf-8")
    assert all(f"tried-{n}" in written for n in range(1, 5))
    markdown = benchbook_here("experiment", "tried", "--runs", str(tmp_path / "runs"), "--markdown").stdout.decode()
    assert "openai/b&#64;1" in markdown
