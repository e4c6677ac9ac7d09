"""The configs that a run may be started from over HTTP: those in the server's folder of inputs. Where one can't be, the
reason is there, in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.settings import PATHS
from benchbook.errors import BenchbookError
from benchbook.evaluators.registry import evaluator_asked_for
from benchbook.evaluators.settings import RUN_SPEC, read_config_file
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError, problem_of
from benchbook.server.services import Services
from benchbook.server.settings import Settings
from benchbook.server.starting import TAKEN, checked_config
from benchbook.text import shorten

_MOST_CONFIGS, _MOST_LOOKED_AT = 200, 5_000
_MOST_BYTES = 1 << 20
_OF_EACH_RUN = frozenset({"run_id", "runs", "reports", "cache"})  # the server says these


class AllowedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A config in the folder of inputs. `config` is what `POST /runs` takes; `problem` says why it would refuse it."""

    name: str  # its path in that folder
    spec: str | None
    evalset: str | None
    model: str | None
    judges: tuple[str, ...]
    config: dict[str, Any]
    problem: str | None


class AllowedConfigs(msgspec.Struct, frozen=True, kw_only=True):
    """`asks` says whom runs may ask, and `why_none` why there is no config to choose."""

    configs: tuple[AllowedConfig, ...]
    asks: str
    why_none: str | None


class ConfigForecast(msgspec.Struct, frozen=True, kw_only=True):
    """All that a run from a config would ask, before anything is. `most_cost_usd` is null where no price is set."""

    name: str
    asked: tuple[str, ...]  # in words, by line
    samples: int
    calls: int
    most_cost_usd: float | None
    max_cost_usd: float | None  # the config's own limit
    warnings: tuple[str, ...]


def list_configs(call: Request) -> AllowedConfigs:
    services = call.services
    found = tuple(_allowed(services, path) for path in _config_files(services.settings))
    why_none = None if found else _why_none(services.settings)
    return AllowedConfigs(configs=found, asks=str(services.spending), why_none=why_none)


def get_forecast(call: Request) -> ConfigForecast:
    """Raises: ProblemError (404) for a name that is none of the list; what the run itself would refuse."""
    services, name = call.services, call.query.name
    path = next((one for one in _config_files(services.settings) if _name(services.settings, one) == name), None)
    if path is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no config {shorten(name, 100)!r} in the folder of inputs")
    config = checked_config(services, _settings_in(services.settings, path))
    from benchbook.ask.starting import prepared_to_ask

    forecast = prepared_to_ask(evaluator_asked_for(config.spec), config).forecast()
    return ConfigForecast(
        name=name,
        asked=forecast.asked_words,
        samples=forecast.samples,
        calls=forecast.calls,
        most_cost_usd=None if forecast.most_cost_usd is None else float(forecast.most_cost_usd),
        max_cost_usd=None if config.max_cost_usd is None else float(config.max_cost_usd),
        warnings=forecast.warnings,
    )


def _why_none(settings: Settings) -> str:
    if settings.inputs is None:
        return "this server has no folder of inputs: `benchbook serve --inputs FOLDER` says where configs lie"
    return "there is no config in the server's folder of inputs: a .toml file, as `benchbook init` writes it"


def _config_files(settings: Settings) -> list[Path]:
    """The configs of runs in the folder of inputs, by their paths; a spec, or anything else in TOML, is none."""
    if settings.inputs is None:
        return []
    folder = settings.inputs.resolve()
    found: list[Path] = []
    for place, path in enumerate(sorted(folder.rglob("*.toml"))):
        if place >= _MOST_LOOKED_AT or len(found) >= _MOST_CONFIGS:
            break
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.resolve().is_relative_to(folder) and _is_config(path):
            found.append(path)
    return found


def _is_config(path: Path) -> bool:
    with suppress(OSError, BenchbookError):
        if path.stat().st_size <= _MOST_BYTES:
            values = read_config_file(path)
            return "model" in values and ("evalset" in values or "outputs" in values)
    return False


def _name(settings: Settings, path: Path) -> str:
    assert settings.inputs is not None  # noqa: S101 - it has files
    return path.relative_to(settings.inputs.resolve()).as_posix()


def _settings_in(settings: Settings, path: Path) -> dict[str, Any]:
    """The settings of a config as `POST /runs` takes them: paths from the folder of inputs, without what is the
    server's to say."""
    assert settings.inputs is not None  # noqa: S101 - it has files
    folder = settings.inputs.resolve()
    values = {name: value for name, value in read_config_file(path).items() if name not in _OF_EACH_RUN}
    for name in (*PATHS, "spec"):
        if isinstance(value := values.get(name), str):
            values[name] = _from(folder, value)
    return values


def _from(folder: Path, value: str) -> str:
    path = Path(value)
    return path.relative_to(folder).as_posix() if path.is_absolute() and path.is_relative_to(folder) else value


def _allowed(services: Services, path: Path) -> AllowedConfig:
    values = _settings_in(services.settings, path)
    problem = None
    try:
        checked_config(services, values)
    except ProblemError as error:
        problem = error.detail
    except BenchbookError as error:
        problem = problem_of(error, services.settings).detail
    return AllowedConfig(
        name=_name(services.settings, path),
        spec=_text(values.get("spec", RUN_SPEC)),
        evalset=_text(values.get("evalset")),
        model=_text(values.get("model")),
        judges=tuple(_judges(values)),
        config={name: value for name, value in values.items() if name in TAKEN},
        problem=problem,
    )


def _judges(values: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(judge := values.get("judge"), str):
        yield judge
    for one in values.get("judges") or ():
        if isinstance(one, dict) and isinstance(one.get("model"), str):
            yield one["model"]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
