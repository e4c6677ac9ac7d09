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
    "batch": Mapping[str, Any],
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

CALLS = Path(__file__).with_name("typed_calls.py")


@pytest.mark.slow
def test_a_misspelt_keyword_is_an_error_in_an_editor(tmp_path: Path) -> None:
    """By basedpyright; mypy is run over the same file by `script/lint`."""
    lines = CALLS.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if "# type: ignore" in line}
    project = tmp_path / "pyproject.toml"
    paths = f'include = ["{CALLS}"]\nextraPaths = ["{ROOT / "src"}"]\n'
    project.write_text(f"[tool.basedpyright]\n{paths}enableTypeIgnoreComments = false\n", encoding="utf-8")
    words = [sys.executable, "-m", "basedpyright", "--level", "error", "--project", str(project)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False, cwd=ROOT)
    found = {int(number) for number in re.findall(r"typed_calls\.py:(\d+):\d+ - error", done.stdout)}
    assert found == wrong, done.stdout + done.stderr
