"""The keywords of functions that take settings, as types: an editor completes them, and a misspelt one is an error.

Their names are those of the settings that a config file has, and a test holds their types against them. A path may be a
`Path`, and money a number or a text such as `"0.25"`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from benchbook.errors import ConfigError
from benchbook.evaluators.panel_rules import PanelRule
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.text import nearest

FilePath: TypeAlias = str | Path
# A file, `@NAME`, or the rows themselves: mappings, a Polars or pandas frame, a Hugging Face data set.
Rows: TypeAlias = str | Path | Iterable[Any]
# A model's id, or a function that is called with the prompt.
Asked: TypeAlias = str | Callable[[Any], Any]
Dollars: TypeAlias = Decimal | float | str
JudgeTable: TypeAlias = Mapping[str, Any]


class LimitKeywords(TypedDict, total=False):
    """The limits of a sitting, and where its files go."""

    max_connections: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    max_cost_usd: Dollars | None
    max_seconds: int | None
    timeout_ms: int
    max_retries: int
    max_wait_ms: int
    accept_unanswered: bool
    cache: FilePath | None
    reports: FilePath | None


class BatchKeywords(TypedDict, total=False):
    """How a run is asked by batch, as the table [batch] has it."""

    batch: Mapping[str, Any] | None


class ModelKeywords(TypedDict, total=False):
    """How the model is asked."""

    model_base_url: str | None
    model_api_key_env: str | None
    model_path: FilePath | None
    model_params: Mapping[str, Any]
    model_reasoning_tags: Sequence[str]
    model_input_price: Dollars | None
    model_output_price: Dollars | None
    stream: bool


class JudgeOfRunKeywords(TypedDict, total=False):
    """Who judges a run, and how it is asked."""

    judge: Asked | None
    judges: Sequence[JudgeTable]
    panel_rule: PanelRule | None
    judge_base_url: str | None
    judge_api_key_env: str | None
    judge_path: FilePath | None
    judge_params: Mapping[str, Any]
    judge_reasoning_tags: Sequence[str]
    judge_json_schema: bool | None
    judge_input_price: Dollars | None
    judge_output_price: Dollars | None


class AuditKeywords(LimitKeywords, JudgeOfRunKeywords, total=False):
    """An audit as it is asked for, and how its judge is asked."""

    n: int | None
    seed: int
    variants: str | Sequence[str]
    margin: float
    confidence: float
    until_decided: bool
    own_name: str | None
    other_name: str | None
    audits: FilePath
    audit_id: str | None
    spec: FilePath


class PairsKeywords(LimitKeywords, JudgeOfRunKeywords, total=False):
    """Pairs of runs as they are asked for, and how their judge is asked."""

    n: int | None
    seed: int
    baseline: int | None
    pairs: FilePath
    pairs_id: str | None
    spec: FilePath


class AuditSittingKeywords(LimitKeywords, total=False):
    """Settings that may change between sittings of an audit, or of pairs, and a function that judged, given again."""

    judge: Asked
    judges: Sequence[JudgeTable]
    judge_base_url: str | None
    judge_api_key_env: str | None
    judge_path: FilePath | None


class AskedKeywords(LimitKeywords, ModelKeywords, total=False):
    """Settings of asking a model, beside its eval set and which items."""

    prompt_template: FilePath | None
    outputs: FilePath | None
    output_columns: Mapping[str, str]
    repeats: int | None
    benchmark: bool
    no_variance: bool
    experiment: str | None
    unmeasured: Sequence[str]
    confidence: float | Literal["none"] | None


class ScoreKeywords(AskedKeywords, total=False):
    """The settings of `score_async` that are no parameters of its own."""

    limit: int | None
    where: str | Sequence[str]
    ids: FilePath | None


class ItemsKeywords(ScoreKeywords, JudgeOfRunKeywords, total=False):
    """Which items are asked, of whom, and when to stop."""

    evalset: Rows
    model: Asked
    until_decided: bool
    error: float | None
    order_seed: int | None
    against: FilePath | None
    runs: FilePath


class RunKeywords(ItemsKeywords, BatchKeywords, total=False):
    """All settings of `benchbook run`."""

    spec: FilePath
    run_id: str | None


class OutputsKeywords(TypedDict, total=False):
    """Which outputs are judged, and how."""

    set: FilePath
    prompts: FilePath | None
    task: Literal["unknown"] | None
    same_model: Mapping[str, str]
    evidence: Literal["must_be_found", "report"]
    probes: int


class JudgeKeywords(LimitKeywords, OutputsKeywords, BatchKeywords, total=False):
    """All settings of `benchbook judge run`."""

    spec: FilePath
    judges: Sequence[JudgeTable]
    repeats: int
    experiment: str | None
    runs: FilePath
    run_id: str | None


class GridKeywords(ItemsKeywords, OutputsKeywords, BatchKeywords, total=False):
    """The settings of a run or of a judging, and `grid`, a list for each setting that varies."""

    grid: Mapping[str, Sequence[Any]]
    spec: FilePath | Scorer


class ResumeKeywords(LimitKeywords, total=False):
    """Settings that may change between sittings, and a function that answered or judged, given again."""

    model: Asked
    model_base_url: str | None
    model_api_key_env: str | None
    model_path: FilePath | None
    judge: Asked
    judges: Sequence[JudgeTable]
    judge_base_url: str | None
    judge_api_key_env: str | None
    judge_path: FilePath | None
    confidence: float | Literal["none"] | None


# Settings that are lists of texts: a single text is a list of one.
LISTS = ("where", "unmeasured", "model_reasoning_tags", "judge_reasoning_tags")


def listed(value: str | Path | Iterable[str | Path] | None) -> tuple[str, ...]:
    """Texts or paths as a tuple; a single one is not read letter by letter."""
    if value is None:
        return ()
    return (str(value),) if isinstance(value, str | Path) else tuple(str(one) for one in value)


def check_names(given: Iterable[str], keywords: type, function: Callable[..., Any]) -> None:
    """Refuse keywords that a function does not have. Raises: ConfigError naming the nearest one."""
    known = keywords.__optional_keys__  # type: ignore[attr-defined]  # of a TypedDict
    for name in given:
        if name not in known:
            parameters = inspect.signature(function).parameters.values()
            names = [*known, *(one.name for one in parameters if one.kind is not one.VAR_KEYWORD)]
            expected = nearest(name, names) or "one of those that docs/reference/library.md lists"
            called = function.__name__.removesuffix("_async")
            raise ConfigError(f"{called}: {name}", "a setting that is not known", expected)
