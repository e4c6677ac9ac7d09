"""The settings of a run: one typed object, read once at the rim from a TOML file and flags of the same names; and those
for predictions that were made elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from benchbook.ask.settings import (
    PATHS,
    Count,
    ModelConfig,
    Price,
    SittingSettings,
    check_judges,
    check_money,
    checked_params,
    expected_words,
    inheriting,
    numbered_judges,
    path_beside,
    read_toml,
    storable_settings,
    value_at_place,
    with_paths_from,
)
from benchbook.canonical import ready
from benchbook.errors import ConfigError, Gathering
from benchbook.evalsets.set_parts import PartAsked
from benchbook.evaluators.panel_rules import DEFAULT_RULE, PanelRule
from benchbook.specs import FROZEN, load_spec
from benchbook.specs.folders import kind_of_spec
from benchbook.text import nearest, quoted

# The settings of a judge, each with `judge_` before it; a panel's judges may have their own in a table each.
_OF_JUDGE = tuple(name for name in ModelConfig.__struct_fields__ if name not in ("model", "name"))


RUN_SPEC = "rubric@v1"  # where `run` is given no evaluator
SCORE_SPEC = "answer_correctness@v1"  # and `score`


class RunConfig(SittingSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of a run; `SETTINGS` says what each means.

    Keys are never among them: only the names of environment variables that hold one.
    """

    evalset: str
    limit: Annotated[int, Meta(ge=1)] | None = None
    where: tuple[str, ...] = ()
    ids: str | None = None
    model: str
    judge: str | None = None  # a rubric must have one, or several judges; evaluators without a judge have none
    judges: tuple[ModelConfig, ...] = ()
    panel_rule: PanelRule | None = None
    spec: str = RUN_SPEC
    prompt_template: str | None = None
    outputs: str | None = None
    output_columns: dict[str, str] = msgspec.field(default_factory=dict)
    repeats: Annotated[int, Meta(ge=1, le=1000)] | None = None
    benchmark: bool = False
    no_variance: bool = False
    experiment: str | None = None
    unmeasured: tuple[str, ...] = ()
    until_decided: bool = False
    error: Annotated[float, Meta(gt=0, lt=0.5)] | None = None
    order_seed: Count | None = None
    against: str | None = None

    model_base_url: str | None = None
    model_api_key_env: str | None = None
    model_path: str | None = None
    model_params: dict[str, Any] = msgspec.field(default_factory=dict)
    model_reasoning_tags: tuple[str, ...] = ()
    model_input_price: Price | None = None
    model_output_price: Price | None = None
    stream: bool = False

    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_path: str | None = None
    judge_params: dict[str, Any] = msgspec.field(default_factory=dict)
    judge_reasoning_tags: tuple[str, ...] = ()
    judge_json_schema: bool | None = None
    judge_input_price: Price | None = None
    judge_output_price: Price | None = None

    confidence: Annotated[float, Meta(gt=0.5, lt=1)] | Literal["none"] | None = None

    @property
    def all_judges(self) -> tuple[tuple[str, str, ModelConfig], ...]:
        """Each judge, with the setting that names its model and what stands before its others: `("judge", "judge_")`,
        or of a panel `("judges[0].model", "judges[0].")`."""
        if self.judge is None:
            return numbered_judges(tuple(inheriting(judge, self._of_judges) for judge in self.judges))
        return (("judge", "judge_", ModelConfig(model=self.judge, **self._of_judges)),)

    @property
    def _of_judges(self) -> dict[str, Any]:
        """The settings that begin with `judge_`: of the one judge, or of each of a panel that says none of its own."""
        return {name: getattr(self, f"judge_{name}") for name in _OF_JUDGE}

    @property
    def rule_of_panel(self) -> PanelRule | None:
        """How a panel's scores make one; None where there is no panel."""
        return (self.panel_rule or DEFAULT_RULE) if self.judges else None

    @property
    def part(self) -> PartAsked:
        """The part of the items that is asked."""
        return PartAsked(limit=self.limit, where=self.where, ids=self.ids)

    @property
    def has_prices(self) -> bool:
        prices = [self.model_input_price, self.model_output_price]
        for _, _, judge in self.all_judges:
            prices += [judge.input_price, judge.output_price]
        return any(price is not None for price in prices)

    @property
    def n_repeats(self) -> int:
        return self.repeats if self.repeats is not None else 3 if self.benchmark and not self.no_variance else 1


# What a run that was recorded elsewhere came to; the last two fail it, and it scores 0.0 (A3).
RunStatus = Literal["completed", "crashed", "timed_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreConfig:
    """The settings of a scoring, and its evaluator. `evalset` is a file, or `@NAME` for one that Benchbook ships.

    `columns` maps our names of the predictions' columns to the file's. `model` is by default named after the file.
    A run that crashed or timed out says so in `run_status`, maybe with a `reason`; it needs no predictions (A3).
    `limit`, `where` and `ids` choose a part of the items; predictions of the others are passed over.
    A dry run checks everything and scores nothing: its record says that MockJudge stood in, and has no samples (A6).
    `training_metrics` are logs of the training that led here: files, or folders with TensorBoard's; `training_columns`
    maps our names of their columns to their own.
    """

    evalset: str
    spec: str = SCORE_SPEC
    predictions: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    runs: str = "runs"
    run_id: str | None = None
    run_status: RunStatus = "completed"
    reason: str | None = None
    dry_run: bool = False
    limit: int | None = None
    where: Sequence[str] = ()
    ids: str | None = None
    training_metrics: Sequence[str] = ()
    training_columns: Mapping[str, str] = field(default_factory=dict)


# What each setting means: for `--help`, for `benchbook init`, for the reference. Sections in the order of the file.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "What is asked": {
        "evalset": "the eval set: JSONL, CSV or Parquet, or @NAME for one that Benchbook ships",
        "model": "the model, provider/model-name@version; providers: openai, local, recorded, scripted, any-llm",
        "judge": "the judge, provider/model-name@version; on the command line, give several for a panel",
        "spec": "the evaluator, such as rubric@v1, or the folder of your own",
        "prompt_template": "a text with {{prompt}}, or TOML with [[messages]]; by default candidate_prompt@v1",
        "repeats": "how often the whole set is asked; by default 1, for a benchmark 3",
        "limit": "ask the first so many items alone; of those that `where` and `ids` leave",
        "where": "ask the items with this value in a column alone: section=core; of one column, one of several values",
        "ids": "ask the items whose ids are in this file alone: one a line, or a table",
    },
    "Several judges": {
        "judges": "a panel instead: [[judges]], a table each, with model, name, base_url, api_key_env, path, params",
        "panel_rule": "how a panel's scores make one: majority (by default), mean, worst",
    },
    "Answers that were recorded elsewhere": {
        "outputs": "recorded outputs (JSONL, CSV, Parquet), for a model recorded/name@version",
        "output_columns": "their columns, where they have other names: ours = theirs",
        "unmeasured": "latency that recorded outputs never had; tokens that nobody tells; cost where no price is known",
    },
    "Benchmarks and experiments": {
        "benchmark": "refuse models that are not pinned to a version, and ask for three repeats",
        "no_variance": "declare that answers do not vary, so that a benchmark needs no repeats",
        "experiment": "a name that separate runs of one plan share; `benchbook experiment NAME` takes them together",
    },
    "Ending as soon as it is decided": {
        "until_decided": "ask items in an order drawn by chance, and end once READY or NOT_READY is sure enough",
        "error": "of until_decided: the chance, at most, of another decision than all items give; by default 0.05",
        "order_seed": "of until_decided: draws the order of the items; by default 0",
        "against": "of until_decided: end once it is shown better or worse than this run, its passes item by item",
    },
    "The model": {
        "model_base_url": "an OpenAI-compatible address, such as http://localhost:8000/v1",
        "model_api_key_env": "the environment variable with its key; by default OPENAI_API_KEY for OpenAI itself",
        "model_path": "a GGUF file (local) or a script (scripted)",
        "model_params": 'generation parameters over temperature 0, top_p 1, max_tokens 1024, seed 42; "null": not sent',
        "model_reasoning_tags": "tags such as think, in which the model wraps thoughts before its answer",
        "model_input_price": "US dollars per million input tokens",
        "model_output_price": "US dollars per million output tokens",
        "stream": "stream the model's answers, to measure the time to the first token",
    },
    "The judge": {
        "judge_base_url": "an OpenAI-compatible address; each of several judges that has none of its own takes these",
        "judge_api_key_env": "the environment variable with its key",
        "judge_path": "a GGUF file (local) or a script (scripted)",
        "judge_params": "generation parameters, as for the model",
        "judge_reasoning_tags": "tags in which the judge wraps thoughts before its JSON",
        "judge_json_schema": "ask for JSON of the reply's schema; by default where the provider is known to take it",
        "judge_input_price": "US dollars per million input tokens",
        "judge_output_price": "US dollars per million output tokens",
    },
    "Limits": {
        "max_connections": "requests under way at once, at most; concurrency adapts below it",
        "requests_per_minute": "requests a minute, model and judge together",
        "tokens_per_minute": "tokens a minute, model and judge together",
        "max_cost_usd": "stop, resumably, once so many dollars are spent (needs prices)",
        "max_seconds": "stop, resumably, after so many seconds",
        "timeout_ms": "how long one answer may take, in milliseconds",
        "max_retries": "how often a transport fault is retried",
        "max_wait_ms": "the longest wait that a server may ask for; a longer one stops the run, resumably",
        "accept_unanswered": "end the run though some samples are unanswered; with --resume as it is, asking nobody",
        "cache": "a file that keeps whole answers between runs; by default none is kept",
        "batch": "[batch], for `benchbook batch submit`: vendor, judge_vendor, price_factor, max_requests, max_bytes",
    },
    "Where it goes": {
        "runs": "the folder with the records",
        "run_id": "the record's name; by default the time and six hexadecimal digits",
        "reports": "the folder with the reports; none for no reports",
        "confidence": "what the decision must be shown at; by default 0.95. none: decide by the values alone",
    },
}


LIMITS = tuple(name for name in SETTINGS["Limits"] if name not in ("cache", "batch"))
"""Limits on how a sitting asks, and nothing that is kept from one to the next."""


def config_from_mapping(values: Mapping[str, Any], source: str, *, judged: bool | None = None) -> RunConfig:
    """A checked config. `judged`: its evaluator asks a judge; by default that is seen by the setting `spec`.

    Raises: ConfigError naming the setting, what was found and what would be right; SeveralFaultsError.
    """
    values = storable_settings(values)
    wrong = Gathering()
    meant = _check_names(values, source, wrong).values()
    if judged is None:
        judged = asks_a_judge(values.get("spec"))
    with wrong:
        _check_panel(values, source, judged=judged)
    needed = ("evalset", "model") if not judged or values.get("judges") else ("evalset", "model", "judge")
    for name in needed:
        if values.get(name) is None and name not in meant:
            wrong.add(ConfigError(f"{source}: {name}", "nothing", "a value (see `benchbook init`)"))
    config = _converted(values, source, wrong)
    with wrong:
        check_money({name: getattr(config, name) for name in RunConfig.__struct_fields__}, f"{source}: ")
    with wrong:
        check_judges(config.judges, source)
    for name in ("model_params", "judge_params"):
        with wrong:
            checked_params(getattr(config, name), f"{source}: {name}")
    wrong.raise_any()
    return config


def settings_that_hold(values: Mapping[str, Any]) -> RunConfig:
    """The settings of a run without those that can't be as they are: to look for what else is wrong, and for no run.

    A model that is missing, or an eval set, is an empty text; a name that was mistyped is that which was meant.
    """
    meant = _check_names(values, "", Gathering())
    values = {meant.get(name, name): value for name, value in storable_settings(values).items()} | dict(values)
    return _converted(values, "", Gathering())


def _check_names(values: Mapping[str, Any], source: str, wrong: Gathering) -> dict[str, str]:
    """Add settings that are not known to what is `wrong`; return what each was most likely meant to be."""
    known = set(RunConfig.__struct_fields__)
    meant = {}
    for name in values:
        if name not in known:
            close = nearest(name, known)
            if close is not None:
                meant[name] = close
            expected = close or "one of those that `benchbook init` writes"
            if name == "grid":
                expected = "`benchbook grid`, which reads it"
            wrong.add(ConfigError(f"{source}: {quoted(name)[1:-1]}", "a setting that is not known", expected))
    return meant


def _converted(values: Mapping[str, Any], source: str, wrong: Gathering) -> RunConfig:
    """The settings as their types. Each that can't be is added to what is `wrong`, and left at its default."""
    known = {name: value for name, value in values.items() if name in RunConfig.__struct_fields__}
    with suppress(msgspec.ValidationError):
        return msgspec.convert(known, ready(RunConfig), strict=False, str_keys=True)
    hints = get_type_hints(RunConfig, include_extras=True)
    right: dict[str, Any] = {"evalset": "", "model": ""}
    for name, value in known.items():
        if value is None and name in right:
            continue
        try:
            right[name] = msgspec.convert(value, ready(hints[name]), strict=False, str_keys=True)
        except msgspec.ValidationError as error:
            message, _, place = str(error).partition(" - at `$")
            where = f"{name}{place.rstrip('`')}"
            found = value_at_place(values, where)
            wrong.add(ConfigError(f"{source}: {where}", repr(found), expected_words(message, RunConfig, name, found)))
    return RunConfig(**right)


def asks_a_judge(spec: Any) -> bool:
    """True if an evaluator asks a judge: it has criteria, or a shipped prompt. One that there is not is reported before
    anything else."""
    if not isinstance(spec, str):
        return True  # the default
    return kind_of_spec(spec) == "rubric" if spec not in FROZEN else "prompt.txt" in load_spec(spec).files


def _check_panel(values: Mapping[str, Any], source: str, *, judged: bool) -> None:
    """Refuse settings of judges that do not go together. Raises: ConfigError."""
    judges = values.get("judges") or ()
    if not isinstance(judges, list | tuple):
        raise ConfigError(f"{source}: judges", repr(judges), "a list")
    if not judges:
        if values.get("panel_rule") is not None:
            raise ConfigError(f"{source}: panel_rule", repr(values["panel_rule"]), "at least two judges with it")
        return
    if not judged:
        raise ConfigError(f"{source}: judges", "a panel", f"nothing: {values['spec']} has no judge")
    if values.get("judge") is not None:
        raise ConfigError(f"{source}: judge", "one judge, and several in judges", "judge, or judges; not both")
    if len(judges) < 2:
        raise ConfigError(f"{source}: judges", "one judge", "at least two; for one, the setting judge")


def values_of(config: str | Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a config file, if there is one, overridden by the given ones. Raises: as `read_config_file`."""
    return {**(read_config_file(config) if config is not None else {}), **given}


def read_config_file(path: str | Path) -> dict[str, Any]:
    """The settings of a TOML file, of any evaluator; its paths are relative to its folder.

    Raises: UsageError, InputError.
    """
    path = Path(path)
    values = read_toml(path)
    if values.get("reports") == "none":
        values["reports"] = None
    for name in PATHS:
        if name in values:
            values[name] = _beside(path, name, values[name])
    if isinstance(grid := values.get("grid"), dict):
        values["grid"] = {
            name: [_beside(path, name, one) for one in options]
            if name in PATHS and isinstance(options, list)
            else options
            for name, options in grid.items()
        }
    if isinstance(spec := values.get("spec"), str) and is_spec_folder(spec, path.parent):
        values["spec"] = str(path.parent / spec)
    with_paths_from(values.get("judges"), path)
    if isinstance(against := values.get("against"), str) and Path(against).name != against:
        values["against"] = str(path.parent / against)  # a folder; an id is one of `runs`
    return values


def _beside(file: Path, name: str, value: Any) -> Any:
    """A path as it is from here. A set that Benchbook ships is named `@support_v1`, wherever the config lies."""
    return path_beside(file, name, value) if isinstance(value, str) and not value.startswith("@") else value


def is_spec_folder(spec: str, beside: Path = Path()) -> bool:
    """True if an evaluator is named by its folder: a user's own. A shipped one goes before a folder of its name."""
    if spec in FROZEN or "/" in spec or os.sep in spec:
        return spec not in FROZEN
    try:
        return (beside / spec).is_dir()
    except OSError:  # a name that no folder can have
        return False
