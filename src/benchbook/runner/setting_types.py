"""What every config file's settings are made of: their types, their checks, and the file itself."""

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

__all__ = ["Count", "Positive", "Price", "SittingSettings", "check_money", "checked_params", "read_toml"]

Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Price = Annotated[Decimal, Meta(description="US dollars per million tokens")]


class SittingSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whatever is asked: within which limits, and where it goes."""

    max_connections: Annotated[int, Meta(ge=1, le=10_000)] = 32
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    max_cost_usd: Decimal | None = None
    max_seconds: Positive | None = None
    timeout_ms: Positive = 60_000
    max_retries: Count = 4
    max_wait_ms: Count = 60_000
    accept_unanswered: bool = False
    cache: str | None = None

    runs: str = "runs"
    run_id: str | None = None
    reports: str | None = "reports"


def _not_money(value: Any) -> str | None:
    """A decimal that can't be dollars, as text; None for all else."""
    return str(value) if isinstance(value, Decimal) and not (value.is_finite() and value >= 0) else None


def check_money(values: Mapping[str, Any], prefix: str) -> None:
    """Raises: ConfigError naming the first decimal that can't be dollars, with `prefix` before its name."""
    for name, value in values.items():
        if (found := _not_money(value)) is not None:
            raise ConfigError(f"{prefix}{name}", found, "dollars, 0 or more")


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


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as it stands. Raises: UsageError, InputError."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise InputError(
            path, found=f"byte {error.object[error.start]:#04x} at {error.start}", expected="UTF-8"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, found=f"no TOML: {error}", expected="lines such as name = value") from None
