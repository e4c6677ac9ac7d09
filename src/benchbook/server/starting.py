"""Runs that are started over HTTP: each in a process of its own, as `benchbook run` would be.

A config that comes over the network may not do what one on this machine may: its paths stay within one folder, and it
asks whom the server's owner named, with the keys that were named (`Spending`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.identity import new_run_id
from benchbook.ask.roles import RoleSettings, judge_roles
from benchbook.ask.settings import ModelConfig, numbered_judges
from benchbook.catalog.queries import eval_sets
from benchbook.errors import BenchbookError, ConfigError
from benchbook.evaluators.candidate import model_settings
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from benchbook.record.folder import RUN_ID, open_record
from benchbook.record.lines import STATE_FOLDER
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.services import Services
from benchbook.server.settings import Settings
from benchbook.server.submission_store import taken
from benchbook.server.types import CancelAnswer, Started
from benchbook.specs import FROZEN
from benchbook.text import shorten
from benchbook.views.words import RUN_STATES
from benchbook.writing import make_folder, write_file

_PATHS = ("ids", "prompt_template", "outputs", "model_path", "judge_path")
TAKEN = frozenset({
    *_PATHS, "accept_unanswered", "against", "benchmark", "confidence", "error", "evalset", "experiment", "judge",
    "judge_api_key_env", "judge_base_url", "judge_input_price", "judge_json_schema", "judge_output_price",
    "judge_params", "judge_reasoning_tags", "judges", "limit", "max_connections", "max_cost_usd", "max_retries",
    "max_seconds", "max_wait_ms", "model", "model_api_key_env", "model_base_url", "model_input_price",
    "model_output_price", "model_params", "model_reasoning_tags", "no_variance", "order_seed", "output_columns",
    "panel_rule", "repeats", "requests_per_minute", "run_id", "spec", "stream", "timeout_ms", "tokens_per_minute",
    "unmeasured", "until_decided", "where",
})  # fmt: skip
_SHA256 = re.compile("sha256:([0-9a-f]{64})")


def start_run(call: Request) -> Started:
    """Check a config, and begin its run. The run is in the list once its record is there, as it soon is.

    What the run's own process refuses is refused here; where that takes longer, `/start` tells what became of it.
    """
    services = call.services
    config = checked_config(services, call.body.config)
    run_id = config.run_id or ""
    if (services.settings.runs / run_id).exists() or services.submissions.is_open(run_id):
        raise taken(run_id)
    has_begun = services.children.start(config)
    if has_begun:
        with suppress(BenchbookError):  # else it is in the list at the next look
            services.watcher.look_at(run_id)
    call.headers["location"] = f"/api/v1/runs/{run_id}" + ("" if has_begun else "/start")
    return Started(run_id=run_id, state="begun" if has_begun else "starting", detail=None)


def resume_run(call: Request) -> Started:
    """Go on with a run that was started over HTTP. It asks as the server's owner allows now.

    Raises: ProblemError (409) for one that was not, and for one that goes on or has ended.
    """
    services, run_id = call.services, call.path["run_id"]
    found = services.run(run_id)
    if found.row.state != "interrupted":
        words = RUN_STATES[found.row.state]
        raise ProblemError(HTTPStatus.CONFLICT, f"run {shorten(run_id, 100)!r} is {words}: there is nothing to resume")
    if not services.children.started(run_id):
        why = "this run was not started here; `benchbook run --resume` goes on with it where it was begun"
        raise ProblemError(HTTPStatus.CONFLICT, why)
    config = config_from_mapping(found.record.started().config, "config")
    addresses = {name: value for name, value in _permitted(services, config).items() if value}
    has_begun = services.children.start(msgspec.structs.replace(config, run_id=run_id, **addresses), addresses)
    if has_begun:
        with suppress(BenchbookError):
            services.watcher.look_at(run_id)
    call.headers["location"] = f"/api/v1/runs/{run_id}" + ("" if has_begun else "/start")
    return Started(run_id=run_id, state="begun" if has_begun else "starting", detail=None)


def get_start(call: Request) -> Started:
    """How far a run is that was started over HTTP. Raises: ProblemError (404) for any other."""
    run_id = call.path["run_id"]
    told = call.services.children.beginning_of(run_id)
    if isinstance(told, ProblemError):
        return Started(run_id=run_id, state="refused", detail=told.detail)
    if told is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"no run {shorten(run_id, 100)!r} was started here")
    return Started(run_id=run_id, state="begun" if told else "starting", detail=None)


def cancel_run(call: Request) -> CancelAnswer:
    """Ask a run that was started over HTTP to end: what is under way is finished, and the record resumes."""
    run_id = call.path["run_id"]
    if not call.services.children.stop(run_id):
        call.services.run(run_id)
        raise ProblemError(HTTPStatus.CONFLICT, "this run has ended, or goes on where `benchbook run` began it")
    return CancelAnswer(run_id=run_id, state="stopping")


# ── what a config may say ────────────────────────────────────────────────────────────────────────────────────


def checked_config(services: Services, values: Mapping[str, Any]) -> RunConfig:
    """The settings of a run, safe to be carried out here. Raises: ConfigError, ProblemError."""
    given = {name: value for name, value in values.items() if value is not None}
    for name in RunConfig.__struct_fields__:
        if name in given and name not in TAKEN:
            raise ConfigError(name, "a value", "nothing: the server says where things lie")
    settings = services.settings
    if isinstance(spec := given.get("spec"), str) and spec not in FROZEN:  # a user's own, beside the eval sets
        given["spec"] = str(_within(settings, "config: spec", f"{spec}/spec.toml").parent)
    config = config_from_mapping(given, "config")
    changes: dict[str, Any] = {"runs": str(settings.runs), "reports": None, "run_id": config.run_id or new_run_id()}
    if not RUN_ID.fullmatch(changes["run_id"]):
        raise ConfigError("config: run_id", repr(shorten(changes["run_id"], 60)), "letters, digits, '.', '_' and '-'")
    changes["evalset"] = evalset_file(services, config.evalset)
    for name in _PATHS:
        if (path := getattr(config, name)) is not None:
            changes[name] = str(_within(settings, f"config: {name}", path))
    if config.against is not None and not RUN_ID.fullmatch(config.against):
        raise ConfigError("config: against", repr(shorten(config.against, 60)), "the id of a run in the server's list")
    changes |= _permitted(services, config)
    if config.judge is None:
        changes["judge_path"] = None  # each judge has its own now
        changes["judges"] = tuple(
            _with_path_within(settings, prefix, judge) for _, prefix, judge in numbered_judges(changes["judges"])
        )
    return msgspec.structs.replace(config, **changes)


def _permitted(services: Services, config: RunConfig) -> dict[str, Any]:
    """The addresses and keys of a config's models, as the server has them. Raises: as `Spending.permitted`."""
    model, *judges = (services.spending.permitted(role) for role in _roles(config))
    found: dict[str, Any] = {"model_base_url": model.base_url, "model_api_key_env": model.api_key_env}
    if config.judge is not None:
        return found | {"judge_base_url": judges[0].base_url, "judge_api_key_env": judges[0].api_key_env}
    return found | {"judge_base_url": None, "judge_api_key_env": None, "judges": tuple(judges)}


def _roles(config: RunConfig) -> list[RoleSettings]:
    """The models that a run asks: first the one that answers, then those that judge."""
    return [model_settings(config), *judge_roles(config.all_judges, config.timeout_ms)]


def evalset_file(services: Services, name: str) -> str:
    """The eval set that a name means: `@NAME`, `sha256:HASH` of one that some run here has, or a file of the inputs."""
    if name.startswith("@"):
        return name
    if (found := _SHA256.fullmatch(name)) is None:
        return str(_within(services.settings, "config: evalset", name))
    known = {row.dataset_sha256: row.dataset_id for row in eval_sets(services.catalog)}
    for path in services.settings.runs.glob(f"[!.]*/inputs/{found[1]}") if found[1] in known else ():
        return str(_named(services.settings, path, known[found[1]]))
    raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "config: evalset: no run here has an eval set of this hash")


def _named(settings: Settings, source: Path, dataset_id: str | None) -> Path:
    """A copy of a record's eval set under its name, from which the next record takes its `dataset_id`."""
    name = dataset_id if dataset_id is not None and RUN_ID.fullmatch(dataset_id) else source.name
    record = open_record(source.parents[1])
    form = record.started().identity.get("evalset_form", "jsonl")
    path = settings.runs / STATE_FOLDER / "evalsets" / source.name / f"{name}.{form}"
    if not path.exists():
        make_folder(path.parent)
        write_file(path, record.read_input(source.name))
    return path


def _within(settings: Settings, setting: str, name: str) -> Path:
    """A file that is in the folder of inputs, links followed. Raises: ConfigError for any other."""
    if settings.inputs is None:
        raise ConfigError(setting, "a file", "none: `benchbook serve --inputs FOLDER` says which files may be named")
    folder = settings.inputs.resolve()
    try:
        path = (folder / name).resolve(strict=True)
    except (OSError, ValueError):
        path = None
    if path is None or not path.is_relative_to(folder) or not path.is_file():
        raise ConfigError(setting, repr(shorten(name, 100)), "a file in the server's folder of inputs")
    return path


def _with_path_within(settings: Settings, prefix: str, judge: ModelConfig) -> ModelConfig:
    if judge.path is None:
        return judge
    path = _within(settings, f"config: {prefix}path", judge.path)
    return msgspec.structs.replace(judge, path=str(path))
