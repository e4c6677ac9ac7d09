"""The settings of a run: one typed object, read once at the rim from a TOML file and flags of the same names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from benchbook.errors import ConfigError, InputError, UsageError

__all__ = ["RunConfig", "config_from_mapping", "read_config_file"]

Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Price = Annotated[Decimal, Meta(description="US dollars per million tokens")]


class RunConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of a run. Keys are never among them: only the names of environment variables that hold one."""

    evalset: str
    model: str  # provider/model-name@version; the provider is openai, local, recorded, any-llm or scripted
    judge: str
    spec: str = "rubric@v1"
    prompt_template: str | None = None  # a file with {{prompt}} and {{context}}; None: candidate_prompt@v1
    outputs: str | None = None  # recorded outputs, for model = "recorded/…"
    output_columns: dict[str, str] = {}  # their columns, where they have other names
    repeats: Annotated[int, Meta(ge=1, le=1000)] | None = None  # None: 1, and 3 for a benchmark (R7.3)
    benchmark: bool = False  # refuse floating aliases (R7.2)
    unmeasured: tuple[str, ...] = ()  # latency, tokens: declared as never measured (R1.4)

    model_base_url: str | None = None
    model_api_key_env: str | None = None
    model_path: str | None = None  # a GGUF file, for local
    model_params: dict[str, Any] = {}  # over temperature 0, top_p 1, max_tokens 1024, seed 42; null leaves one out
    model_reasoning_tags: tuple[str, ...] = ()
    model_input_price: Price | None = None
    model_output_price: Price | None = None
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_path: str | None = None
    judge_params: dict[str, Any] = {}
    judge_reasoning_tags: tuple[str, ...] = ()
    judge_json_schema: bool | None = None  # None: where the provider is known to offer it
    judge_input_price: Price | None = None
    judge_output_price: Price | None = None
    stream: bool = False  # the candidate's answers; gives the time to the first token

    max_connections: Annotated[int, Meta(ge=1, le=10_000)] = 32
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    max_cost_usd: Annotated[Decimal, Meta()] | None = None
    max_seconds: Positive | None = None
    timeout_ms: Positive = 60_000
    max_retries: Count = 4
    max_wait_ms: Count = 60_000  # a longer wait that a server asks for ends the run, which resumes later
    cache: str | None = None  # a response cache's file; None: none

    runs: str = "runs"
    run_id: str | None = None
    reports: str | None = "reports"
    confidence: Annotated[float, Meta(gt=0.5, lt=1)] | None = None  # ask that the gates' bounds hold (R6.4)

    @property
    def n_repeats(self) -> int:
        return self.repeats if self.repeats is not None else 3 if self.benchmark else 1


def config_from_mapping(values: Mapping[str, Any], source: str) -> RunConfig:
    """A checked config.

    Raises: ConfigError naming the setting, what was found and what would be right.
    """
    known = set(RunConfig.__struct_fields__)
    for name in values:
        if name not in known:
            raise ConfigError(f"{source}: {name}", "a setting that is not known", _nearest(name, known))
    for name in ("evalset", "model", "judge"):
        if values.get(name) is None:
            raise ConfigError(f"{source}: {name}", "nothing", "a value (see `benchbook init`)")
    try:
        return msgspec.convert(dict(values), RunConfig, strict=False, str_keys=True)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`").split("[")[0].split(".")[0]
        raise ConfigError(f"{source}: {name or 'settings'}", repr(values.get(name)), message) from None


def _nearest(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return near[0] if near else "one of those that `benchbook init` writes"


def read_config_file(path: str | Path) -> dict[str, Any]:
    """The settings of a TOML file; its paths are relative to its folder.

    Raises: UsageError, InputError.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise InputError(
            path, found=f"byte {error.object[error.start]:#04x} at {error.start}", expected="UTF-8"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, found=f"no TOML: {error}", expected="lines such as name = value") from None
    for name in ("evalset", "prompt_template", "outputs", "model_path", "judge_path", "cache", "runs", "reports"):
        if isinstance(values.get(name), str) and not _is_shipped_name(values[name]):
            values[name] = str(path.parent / values[name])
    return values


def _is_shipped_name(value: str) -> bool:
    """A set that Benchbook ships is named `@support_v1`, wherever the config lies."""
    return value.startswith("@")
