"""Which trackers there are, and what their clients have in common: extras, keys, failures. Light: nothing is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchbook.errors import BenchbookError, UsageError
from benchbook.text import shorten


class TrackerError(BenchbookError):
    """A tracker could not be reached, or refused what it was sent. The record is whole all the same."""


@dataclass(frozen=True, slots=True)
class TrackerKind:
    """A tracker by its name in commands, which is that of its extra. `library` is the package that its client is in."""

    name: str
    title: str
    module: str  # of ours
    library: str
    needed: tuple[str, ...] = ()  # environment variables without which nothing can be sent
    secret: tuple[str, ...] = ()  # those whose values must not show

    def opened(self, endpoint: str | None, *, texts: bool) -> Any:
        """A `sending.Tracker`. Raises: UsageError where its client is not installed, or an address or key is none."""
        self.check()
        try:
            return import_module(f"{__package__}.{self.module}").opened(endpoint, texts=texts)
        except ImportError as error:
            raise self._missing(f" ({shorten(str(error), 200)})") from None

    def check(self) -> None:
        """Raises: UsageError where its client is not installed, or a key is not set: before a run, and not after it."""
        if find_spec(self.library) is None:
            raise self._missing("")
        if missing := [name for name in self.needed if not os.environ.get(name, "").strip()]:
            raise UsageError(f"sending to {self.title} needs {' and '.join(missing)} in the environment")

    def _missing(self, why: str) -> UsageError:
        return UsageError(f"sending to {self.title} needs an extra: pip install 'benchbook[{self.name}]'{why}")


_LANGFUSE = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
_OTEL = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS")
_MLFLOW = ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD", "DATABRICKS_TOKEN")
TRACKERS: Mapping[str, TrackerKind] = {
    one.name: one
    for one in (
        TrackerKind("otel", "OpenTelemetry", "opentelemetry", "opentelemetry", secret=_OTEL),
        TrackerKind("langfuse", "Langfuse", "langfuse", "langfuse", needed=_LANGFUSE, secret=_LANGFUSE),
        TrackerKind("mlflow", "MLflow", "mlflow", "mlflow", secret=_MLFLOW),
        TrackerKind("wandb", "W&B", "wandb", "wandb"),
    )
}


def tracker_named(name: str) -> TrackerKind:
    """Raises: UsageError for one that is not known."""
    if name not in TRACKERS:
        raise UsageError(f"to: found {shorten(name, 60)!r}; expected {', '.join(TRACKERS)}")
    return TRACKERS[name]


def refused(name: str, error: object) -> TrackerError:
    """The error for a tracker that can't be reached or refuses, without its keys in whatever form it echoes them."""
    from benchbook.ask.providers.keys import Keys, redact

    kind = TRACKERS[name]
    keys = Keys(*(key for variable in kind.secret for key in _keys_in(os.environ.get(variable, ""))))
    said = shorten(redact(keys.removed_from_text(str(error))), 300) or type(error).__name__
    return TrackerError(
        f"{kind.title}: could not be sent: {said}. The record is whole; `benchbook send` sends it again"
    )


def _keys_in(value: str) -> Iterator[str]:
    """The keys in an environment variable: itself, or those of headers as `authorization=Bearer KEY,…` has them."""
    yield value.strip()
    for header in value.split(","):
        yield header.partition("=")[2].replace("%20", " ").strip().rpartition(" ")[2]


@contextmanager
def environment(**defaults: str) -> Iterator[None]:
    """Variables that a client reads, as they are unless they are set, while the block runs."""
    added = [name for name in defaults if name not in os.environ]
    os.environ.update({name: defaults[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
