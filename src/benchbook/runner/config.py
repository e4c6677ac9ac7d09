"""The settings of a run: one typed object, read once at the rim from a TOML file and flags of the same names."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.runner.plain_types import expected_words

__all__ = [
    "SETTINGS",
    "RunConfig",
    "checked_params",
    "config_from_mapping",
    "not_money",
    "read_config_file",
    "read_toml",
]

Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Price = Annotated[Decimal, Meta(description="US dollars per million tokens")]


class RunConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of a run; `SETTINGS` says what each means.

    Keys are never among them: only the names of environment variables that hold one.
    """

    evalset: str
    model: str
    judge: str | None = None  # rubric@v1 must have one, answer_correctness@v1 has none
    spec: str = "rubric@v1"
    prompt_template: str | None = None
    outputs: str | None = None
    output_columns: dict[str, str] = {}
    repeats: Annotated[int, Meta(ge=1, le=1000)] | None = None
    benchmark: bool = False
    unmeasured: tuple[str, ...] = ()
    until_decided: bool = False
    error: Annotated[float, Meta(gt=0, lt=0.5)] | None = None
    order_seed: Count | None = None

    model_base_url: str | None = None
    model_api_key_env: str | None = None
    model_path: str | None = None
    model_params: dict[str, Any] = {}
    model_reasoning_tags: tuple[str, ...] = ()
    model_input_price: Price | None = None
    model_output_price: Price | None = None
    stream: bool = False

    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_path: str | None = None
    judge_params: dict[str, Any] = {}
    judge_reasoning_tags: tuple[str, ...] = ()
    judge_json_schema: bool | None = None
    judge_input_price: Price | None = None
    judge_output_price: Price | None = None

    max_connections: Annotated[int, Meta(ge=1, le=10_000)] = 32
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    max_cost_usd: Decimal | None = None
    max_seconds: Positive | None = None
    timeout_ms: Positive = 60_000
    max_retries: Count = 4
    max_wait_ms: Count = 60_000
    cache: str | None = None

    runs: str = "runs"
    run_id: str | None = None
    reports: str | None = "reports"
    confidence: Annotated[float, Meta(gt=0.5, lt=1)] | None = None

    @property
    def n_repeats(self) -> int:
        return self.repeats if self.repeats is not None else 3 if self.benchmark else 1


# What each setting means: for `--help`, for `benchbook init`, for the reference. Sections in the order of the file.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "What is asked": {
        "evalset": "the eval set: a JSONL file, or @NAME for one that Benchbook ships",
        "model": "the model, provider/model-name@version; providers: openai, local, recorded, scripted, any-llm",
        "judge": "the judge, provider/model-name@version",
        "spec": "the evaluator",
        "prompt_template": "a text file with {{prompt}} and {{context}}; by default candidate_prompt@v1",
        "outputs": "recorded outputs (JSONL, CSV, Parquet), for a model recorded/name@version",
        "output_columns": "their columns, where they have other names: ours = theirs",
        "repeats": "how often the whole set is asked; by default 1, for a benchmark 3",
        "benchmark": "refuse models that are not pinned to a version",
        "unmeasured": "latency or tokens, where recorded outputs never had them",
        "until_decided": "ask items in an order drawn by chance, and end once READY or NOT_READY is sure enough",
        "error": "of until_decided: the chance, at most, of another decision than all items give; by default 0.05",
        "order_seed": "of until_decided: draws the order of the items; by default 0",
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
        "judge_base_url": "an OpenAI-compatible address",
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
        "cache": "a file that keeps whole answers between runs; by default none is kept",
    },
    "Where it goes": {
        "runs": "the folder with the records",
        "run_id": "the record's name; by default the time and six hexadecimal digits",
        "reports": "the folder with the reports; none for no reports",
        "confidence": "ask that the gates' confidence bounds hold too, such as 0.95",
    },
}


def config_from_mapping(values: Mapping[str, Any], source: str) -> RunConfig:
    """A checked config.

    Raises: ConfigError naming the setting, what was found and what would be right.
    """
    known = set(RunConfig.__struct_fields__)
    for name in values:
        if name not in known:
            raise ConfigError(f"{source}: {name}", "a setting that is not known", _nearest(name, known))
    without_judge = values.get("spec") == "answer_correctness@v1"
    for name in ("evalset", "model") if without_judge else ("evalset", "model", "judge"):
        if values.get(name) is None:
            raise ConfigError(f"{source}: {name}", "nothing", "a value (see `benchbook init`)")
    try:
        config = msgspec.convert(dict(values), RunConfig, strict=False, str_keys=True)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`").split("[")[0].split(".")[0]
        raise ConfigError(f"{source}: {name or 'settings'}", repr(values.get(name)), expected_words(message)) from None
    for name in RunConfig.__struct_fields__:
        if (found := not_money(getattr(config, name))) is not None:
            raise ConfigError(f"{source}: {name}", found, "dollars, 0 or more")
    for name in ("model_params", "judge_params"):
        checked_params(getattr(config, name), f"{source}: {name}")
    return config


def not_money(value: Any) -> str | None:
    """A decimal that can't be dollars, as text; None for all else."""
    return str(value) if isinstance(value, Decimal) and not (value.is_finite() and value >= 0) else None


def checked_params(params: dict[str, Any], setting: str) -> None:
    """Raises: ConfigError for generation parameters that no request can hold."""
    if (found := _not_in_json(params)) is not None:
        raise ConfigError(setting, found, "values that JSON has")


def _not_in_json(value: Any) -> str | None:
    """What TOML can say and a request can't: nan, inf, a date. None where there is nothing of the kind."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return next((found for one in inner if (found := _not_in_json(one)) is not None), None)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return None if isinstance(value, str | int | float | None) else f"{type(value).__name__} {value}"


def _nearest(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return near[0] if near else "one of those that `benchbook init` writes"


def read_config_file(path: str | Path) -> dict[str, Any]:
    """The settings of a TOML file; its paths are relative to its folder.

    Raises: UsageError, InputError.
    """
    path = Path(path)
    values = read_toml(path)
    if values.get("reports") == "none":
        values["reports"] = None
    for name in ("evalset", "prompt_template", "outputs", "model_path", "judge_path", "cache", "runs", "reports"):
        if isinstance(values.get(name), str) and not _is_shipped_name(values[name]):
            values[name] = str(path.parent / values[name])
    return values


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as it stands. Raises: UsageError, InputError."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise InputError(
            path, found=f"byte {error.object[error.start]:#04x} at {error.start}", expected="UTF-8"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, found=f"no TOML: {error}", expected="lines such as name = value") from None


def _is_shipped_name(value: str) -> bool:
    """A set that Benchbook ships is named `@support_v1`, wherever the config lies."""
    return value.startswith("@")
