"""The typed keywords of the library: their names and types are those of the settings, and type checkers go by them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest

from benchbook.ask.settings import PATHS, ModelConfig, SittingSettings
from benchbook.evaluators.contract import MAY_CHANGE
from benchbook.evaluators.protocol.config import JudgingConfig
from benchbook.evaluators.rubric.evaluator import RubricEvaluator
from benchbook.evaluators.settings import RunConfig
from benchbook.library import keywords
from benchbook.library.keywords import LISTS
from support import ROOT

# A function, rows or a folder may be given where a config file has a name.
OF_A_CALLER: Mapping[str, Any] = {
    "evalset": keywords.Rows, "model": keywords.Asked, "judge": keywords.Asked, "spec": keywords.FilePath,
    "against": keywords.FilePath, "where": str | Sequence[str], "judges": Sequence[keywords.JudgeTable],
}  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "config"), [(keywords.RunKeywords, RunConfig), (keywords.JudgeKeywords, JudgingConfig)]
)
def test_keywords_are_the_settings(typed: type, config: type[SittingSettings]) -> None:
    given, settings = get_type_hints(typed), get_type_hints(config, include_extras=True)
    assert {name: _parts(given[name]) for name in given} == {
        name: _parts(_given(name, one)) for name, one in settings.items()
    }


def test_a_grid_takes_what_a_run_and_a_judging_take() -> None:
    names = {*RunConfig.__struct_fields__, *JudgingConfig.__struct_fields__, "grid"} - {"run_id"}
    assert set(get_type_hints(keywords.GridKeywords)) == names


def test_what_may_change_is_what_resuming_takes() -> None:
    functions = {"model", "judge", "judges"}
    assert set(get_type_hints(keywords.ResumeKeywords)) == MAY_CHANGE | RubricEvaluator.may_change | functions


def test_lists_of_texts_are_known() -> None:
    hints = get_type_hints(RunConfig, include_extras=True)
    assert {name for name, hint in hints.items() if hint == tuple[str, ...]} == set(LISTS)


def _given(name: str, hint: Any) -> Any:
    """What a caller may give for a setting of this type."""
    if name in OF_A_CALLER:
        return OF_A_CALLER[name] | None if NoneType in get_args(hint) else OF_A_CALLER[name]
    if get_origin(hint) is Annotated:
        return _given(name, get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return Union[*(_given(name, one) for one in get_args(hint))]
    if get_origin(hint) is tuple:
        (of, _) = get_args(hint)
        return Sequence[keywords.JudgeTable] if issubclass(of, ModelConfig) else Sequence[of]
    if get_origin(hint) is dict:
        return Mapping[*get_args(hint)]
    if name in PATHS and hint is str:
        return keywords.FilePath
    return keywords.Dollars if hint is Decimal else hint


def _parts(hint: Any) -> frozenset[Any]:
    """A union as the set of what it is made of."""
    return frozenset(get_args(hint)) if get_origin(hint) in (Union, UnionType) else frozenset({hint})


# ── type checkers ────────────────────────────────────────────────────────────────────────────────────────────

CALLS = """
from pathlib import Path
import benchbook as bb
from benchbook.errors import BenchbookError

rows = [{"id": "a", "prompt": "One and one?", "expected_answer": "2"}]


def answer(prompt: str) -> str:
    return "2"


async def right() -> bb.RubricRun:
    run = bb.run(evalset=rows, model=answer, judge=answer, runs=Path("runs"), max_cost_usd=0.5, confidence="none")
    bb.run("config.toml", limit=3, where="section=core", judges=[{"model": "openai/a@1"}], panel_rule="mean")
    bb.score(rows, rows, training_metrics="l.jsonl", where=["section=core"])
    bb.score("items.jsonl", model=answer, max_connections=4)
    bb.resume(run, max_seconds=None, model=answer)
    bb.judge(set="outputs", judges=[{"model": "openai/a@1"}], task="unknown")
    bb.grid(evalset=rows, spec="contains@v1", experiment="g", grid={"model": [answer]})
    bb.calibrate(run, bb.label(run, n=10, stratify="passed"))
    board: bb.RunRanking = await bb.leaderboard_async("a", run, confidence=0.9)
    await bb.score_async(rows, model=answer, limit=3)
    print(board, run.aggregates.ledger.n_scored)
    return await bb.run_async(evalset=rows, model="openai/a@1", judge="openai/b@1")


async def wrong() -> None:
    bb.run(modle="openai/a@1")  # WRONG
    bb.run(max_connections="many")  # WRONG
    bb.run(panel_rule="best")  # WRONG
    bb.run(model=3)  # WRONG
    await bb.run_async(evalst=rows)  # WRONG
    bb.score(rows, model=answer, judge="openai/b@1")  # WRONG
    bb.score(rows, training_metrcs="l.jsonl")  # WRONG
    bb.judge(sets="outputs")  # WRONG
    bb.grid(gird={})  # WRONG
    bb.resume("run", repeats=2)  # WRONG
    await bb.leaderboard_async(evalst="x")  # WRONG
    bb.calibrate("run", "labels", sed=3)  # WRONG
"""
WRONG = {number for number, line in enumerate(CALLS.splitlines(), start=1) if "# WRONG" in line}


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_misspelt_keyword_fails_type_checkers(tmp_path: Path, checker: str) -> None:
    calls, project = tmp_path / "calls.py", tmp_path / "pyproject.toml"
    calls.write_text(CALLS, encoding="utf-8")
    project.write_text(f'[tool.basedpyright]\nextraPaths = ["{ROOT / "src"}"]\n', encoding="utf-8")
    # By the project's own settings, mypy finds in its cache what script/lint has checked.
    words = {"mypy": ("--no-error-summary",), "basedpyright": ("--level", "error", "--project", str(project))}
    done = subprocess.run(
        [sys.executable, "-m", checker, *words[checker], str(calls)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    found = {int(number) for number in re.findall(r"calls\.py:(\d+)(?::\d+)?(?: -|:) error", done.stdout)}
    assert found == WRONG, done.stdout + done.stderr
