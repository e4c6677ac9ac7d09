"""The identity of models, code and environment: who was asked, who answered, what ran where (SPEC R7.1, R7.2)."""

from __future__ import annotations

import os
import platform
import re
import secrets
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.model_id import (
    ModelId,
    asked_name,
    can_be_same,
    is_content_hash,
    is_dated,
    is_sha256_version,
    names_snapshot,
    read_name,
    snapshots_differ,
)
from benchbook.ask.requests import plan_sha256
from benchbook.ask.settings import SittingSettings
from benchbook.errors import UsageError
from benchbook.record.facts import RunStarted
from benchbook.record.state import Reported
from benchbook.text import shorten

_SHOWN = 80  # characters of a name that a server gave itself
_ASKED_BY_NAME = frozenset({"openai", "any-llm"})  # with others nobody but us says which model it is


def floating_ids(models: Mapping[str, ModelId]) -> dict[str, str]:
    """The models that float, and why. This is recorded when a run begins, since the list of known names grows."""
    return {role: why for role, model_id in models.items() if (why := model_id.floats_because) is not None}


def floating_of(identity: Mapping[str, Any]) -> Mapping[str, str]:
    """The models that floated when the run began, as `floating_ids` found them."""
    found: Mapping[str, str] = identity.get("floating", {})
    return found


def model_version(model_id: ModelId, reported: Reported, derivation: int, *, only_snapshot: bool = False) -> str | None:
    """The exact version: a dated snapshot that the provider names, else the declared version, else the fingerprint.

    None if it is unknown; such a run lacks required metadata. `only_snapshot`: the id floats in a benchmark, so that
    its declared version does not count.
    """
    name, fingerprint = reported.most_common()
    if derivation < 3:
        if name is not None and is_dated(name):
            return name
        return model_id.version or (model_id.name if is_dated(model_id.name) else fingerprint)
    if name is not None and names_snapshot(name):
        return name
    return None if only_snapshot else model_id.declared_version or fingerprint


@dataclass(frozen=True, slots=True)
class OtherModel:
    """A server that answered as another model, or as another snapshot of it, than was asked for."""

    answered_as: str
    asked_for: str
    is_snapshot: bool

    def __str__(self) -> str:
        kind = "the declared snapshot is" if self.is_snapshot else "asked for was"
        return f"server answered as '{self.answered_as}'; {kind} '{self.asked_for}'"


def other_model(model_id: ModelId, reported: Reported) -> OtherModel | None:
    """The other model by whose name the provider answered; None if its names fit what was asked for (R7.2)."""
    if model_id.provider not in _ASKED_BY_NAME:
        return None
    asked = asked_name(model_id)
    for name in reported.names:
        answered = read_name(name)
        if can_be_same(asked, answered):
            continue
        is_snapshot = model_id.version is not None and snapshots_differ(asked, answered)
        asked_for = model_id.version if is_snapshot and model_id.version else model_id.name
        return OtherModel(shorten(name, _SHOWN), shorten(asked_for, _SHOWN), is_snapshot)
    return _other_fingerprint(model_id, reported)


def _other_fingerprint(model_id: ModelId, reported: Reported) -> OtherModel | None:
    """Another fingerprint than the declared one, if the version is a fingerprint."""
    version = model_id.version
    told = sorted({fingerprint for _, fingerprint in reported.counts if fingerprint and fingerprint != version})
    if version is None or not version.startswith("fp_") or not told:
        return None
    return OtherModel(shorten(told[0], _SHOWN), version, is_snapshot=True)


SELF_JUDGING = 2  # the edition of the rule by which a judge is the model itself, as a run records it
_ANY_HASH = 1  # of records that name none: two models are one by any hash that both have as their version


def is_same_model(one: tuple[ModelId, Reported], other: tuple[ModelId, Reported], edition: int = SELF_JUDGING) -> bool:
    """True if two models are one by their ids, their weights, or their servers' names for them."""
    (id_one, reported_one), (id_other, reported_other) = one, other
    if id_one == id_other or _have_one_hash(id_one, id_other, edition):
        return True
    names_one, names_other = reported_one.names, reported_other.names
    if names_one and names_other:
        first, second = read_name(names_one[0]), read_name(names_other[0])
        if id_one.name == id_other.name and id_one.version != id_other.version and not (first.date and second.date):
            return False  # two versions of it are declared, and no server says otherwise
        return bool(first.words) and first.base == second.base and can_be_same((first,), second)
    if names_one or names_other:
        told, asked = (names_one[0], id_other) if names_one else (names_other[0], id_one)
        answered = read_name(told)
        return bool(answered.words) and any(
            name.base == answered.base and can_be_same((name,), answered) for name in asked_name(asked)
        )
    return (id_one.name, id_one.version) == (id_other.name, id_other.version)


def _have_one_hash(one: ModelId, other: ModelId, edition: int) -> bool:
    """True if both versions are one hash, which is known to be that of weights: Benchbook made it from a local model's,
    or it is whole. A commit of a data set may stand behind the names of all whose answers are in it."""
    if one.version is None or one.version != other.version:
        return False
    if edition == _ANY_HASH:
        return is_content_hash(one.version)
    are_local = one.provider == other.provider == "local"
    return is_sha256_version(one.version) or (are_local and is_content_hash(one.version))


# The name that texts use, the id, and the names that the model reported.
Role = tuple[str, ModelId, Reported]


def identity_warnings(identity: Mapping[str, Any], roles: Iterable[Role]) -> list[str]:
    """Warnings about models that float, or that answered as others. `identity` is that of the record's first fact."""
    floating = floating_of(identity)
    warnings = []
    for name, model_id, reported in roles:
        if name in floating and not any(names_snapshot(told) for told in reported.names):
            warnings.append(
                f"The {name} {model_id} may be another model tomorrow: {floating[name]}, and no reply names a dated "
                "snapshot."
            )
        if (other := other_model(model_id, reported)) is not None:
            warnings.append(f"The {name}'s {other}.")
    return warnings


def identity_caps(roles: Iterable[Role]) -> list[str]:
    """The reasons, among the models' names, for which a benchmark's decision can't be READY."""
    return [
        f"the {name}'s {other}"
        for name, model_id, reported in roles
        if (other := other_model(model_id, reported)) is not None
    ]


def self_judging(identity: Mapping[str, Any], model: Role, judges: Iterable[Role]) -> list[str]:
    """A warning for each judge that is the model which it judges. `identity` is that of the record's first fact."""
    edition = identity.get("self_judging", _ANY_HASH)
    return [
        f"The {name} is the model itself: models tend to favour their own answers."
        for name, model_id, reported in judges
        if is_same_model(model[1:], (model_id, reported), edition)
    ]


_PACKAGES = ("backports.zstd", "httptools", "jiter", "msgspec", "numpy", "polars", "uvloop", "xllamacpp")
_PACKAGE = Path(__file__).resolve().parent.parent
_UNRELEASED = re.compile(r"\.dev|\+")  # PEP 440: between two releases, or somebody's own


def code_version() -> dict[str, Any]:
    """Benchbook's version; in a checkout, also the commit, and whether the tree differs from it."""
    return {"benchbook": _version_of("benchbook"), **_commit_of(_PACKAGE)}


@cache  # what runs is what was imported, whatever becomes of the checkout: asking git each time costs 11 ms a run
def _commit_of(package: Path) -> Mapping[str, Any]:
    return _commit(_checkout(package))


def _checkout(package: Path) -> Path | None:
    """The package in the checkout that Benchbook runs from; None if it is installed, even into a user's repository."""
    top = _git(package, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() / "src" / "benchbook" != package:
        return None
    return package if _git(package, "ls-files", "--error-unmatch", "__init__.py") else None


def project_version(*places: tuple[str, str | Path | None]) -> dict[str, Any]:
    """The commit of the user's own repository: that of the first of `places` that exists.

    Each is a name (`config`) and a path; the working directory comes last. Outside of git the values are null.
    """
    named = [(name, Path(place)) for name, place in places if place is not None and Path(place).exists()]
    name, place = [*named, ("working directory", Path.cwd())][0]
    return {**_commit(place if place.is_dir() else place.resolve().parent), "of": name}


def check_code_is_named(code: dict[str, Any]) -> None:
    """Refuse a benchmark whose code nobody could identify later (R7.1).

    Raises: UsageError.
    """
    release = code["benchbook"]
    if code["git_sha"] is None and (release is None or _UNRELEASED.search(release)):
        raise UsageError(
            f"benchmark: Benchbook runs from no git checkout, and its version ({release or 'not known'}) is no "
            "release; install a release, or run it from a checkout"
        )


def _commit(folder: Path | None) -> dict[str, Any]:
    sha = None if folder is None else _git(folder, "rev-parse", "HEAD")
    if folder is None or not sha:
        return {"git_sha": None, "dirty": None}
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"git_sha": sha, "dirty": None if changed is None else bool(changed)}


def _git(folder: Path, *words: str) -> str | None:
    """Git's answer about a folder; None if it has none. Variables that name another repository are not passed on."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(folder), *words],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
            timeout=10,
            env=own,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def environment() -> dict[str, Any]:
    """Python, platform and package versions; the region, if `BENCHBOOK_REGION` names it. No machine name."""
    return {
        "python": sys.version.split()[0],
        "implementation": platform.python_implementation(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "region": os.environ.get("BENCHBOOK_REGION"),
        "packages": {name: found for name in _PACKAGES if (found := _version_of(name))},
    }


@cache
def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# ── a record's first fact ────────────────────────────────────────────────────────────────────────────────────


def first_fact(
    run_id: str,
    plan: Any,
    config: Mapping[str, Any],
    inputs: dict[str, str],
    identity: Mapping[str, Any],
    *,
    n_items: int,
    repeats: int,
) -> RunStarted:
    """The first fact of a run by its plan, which names the spec, and its settings, as they are recorded.

    Raises: UsageError for an input that was changed between its reading and its copying.
    """
    for name, planned in inputs_of_plan(plan, inputs):
        if planned != inputs[name]:
            what = f"was changed while it was read (its sha256 was {planned}, and is {inputs[name]})"
            raise UsageError(f"{name}: {what}; begin again, and leave the file alone meanwhile")
    return RunStarted(
        run_id=run_id,
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        plan_sha256=plan_sha256(plan),
        n_items=n_items,
        repeats=repeats,
        config=dict(config),
        inputs=inputs,
        identity={**identity, "plan": msgspec.to_builtins(plan)},
        code_version=code_version(),
        environment=environment(),
    )


_OF_PLAN = {
    "evalset": "evalset_sha256",
    "evaluation_set": "set_sha256",
    "judgements": "judgements_sha256",
    "prompts": "prompts_sha256",
}


def inputs_of_plan(plan: Any, inputs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`(name, hash)` of each of the inputs that the plan has the hash of, too."""
    return ((name, getattr(plan, field)) for name, field in _OF_PLAN.items() if name in inputs)


def project_identity(source: str | Path | None, name: str, data: str) -> dict[str, Any]:
    """The commit of the user's own work, by the config or else the data, which texts call `name`.

    A set that Benchbook ships (`@NAME`) is not the user's work, and one in memory has no path.
    """
    file = None if data.startswith(("@", "memory:")) else data
    return {"project_version": project_version(("config", source), (name, file))}


def storable_config(config: SittingSettings) -> dict[str, Any]:
    """The settings as they are recorded: exact decimals as strings, unset ones left out."""
    values = msgspec.to_builtins(config)
    return {name: value for name, value in values.items() if value not in (None, {}, [], ())}


def new_run_id() -> str:
    """A new run id, which sorts by time and does not collide."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
