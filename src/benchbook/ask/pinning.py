"""Stops a run early where its models can't be pinned (SPEC R7.1, R7.2): better after one answer than after all, and
best before."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.ask.limits import Stop
from benchbook.ask.model_id import ModelId, names_snapshot
from benchbook.errors import ConfigError
from benchbook.record.facts import Reply

__all__ = ["PinCheck", "check_pinned"]


_TELL_NOTHING = frozenset({"recorded", "scripted", "local"})  # no reply of theirs names a snapshot


def check_pinned(setting: str, model_id: ModelId) -> None:
    """Refuse, for a benchmark, a model that floats and of which no reply could tell more.

    Raises: ConfigError.
    """
    if model_id.provider in _TELL_NOTHING and (why := model_id.floats_because) is not None:
        expected = f"a pinned version, such as {model_id.provider}/{model_id.name}@2026-11-01 ({why})"
        raise ConfigError(setting, f"{model_id}, a floating alias, in a benchmark", expected)


class PinCheck:
    """Looks at the first answer of each endpoint, of which `models` holds the id."""

    def __init__(self, models: Mapping[str, ModelId], *, benchmark: bool) -> None:
        self._benchmark = benchmark
        self._unseen = dict(models)

    @property
    def unsure(self) -> bool:
        """Whether the first answers may stop the run."""
        return any(
            model_id.declared_version is None or (self._benchmark and model_id.floating)
            for model_id in self._unseen.values()
        )

    def look_at(self, endpoint: str, reply: Reply, stop: Stop) -> None:
        model_id = self._unseen.pop(endpoint, None)
        if model_id is None:
            return
        reported = reply.model_reported
        dated = reported is not None and names_snapshot(reported)
        why = model_id.floats_because
        if self._benchmark and why is not None and not dated:
            stop.because(
                f"{model_id} is a floating alias ({why}), and the provider names no dated snapshot (it says "
                f"{reported!r}): a benchmark needs a pinned model, such as provider/model-name@2026-11-01",
                failed=True,
                usage=True,
            )
        elif model_id.declared_version is None and not dated and not reply.fingerprint:
            stop.because(
                f"{model_id}: neither the id nor the provider tells a version; write {model_id}@version",
                failed=True,
                usage=True,
            )
