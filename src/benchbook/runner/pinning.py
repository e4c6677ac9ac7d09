"""Stops a run early where its models can't be pinned (SPEC R7.1, R7.2): better after one answer than after all."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.derivations.model_id import ModelId, is_dated
from benchbook.records import Reply
from benchbook.runner.stopping import Stop

__all__ = ["PinCheck"]


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
        dated = reported is not None and is_dated(reported)
        if self._benchmark and model_id.floating and not dated:
            stop.because(
                f"{model_id} is a floating alias and the provider names no dated snapshot (it says {reported!r}): a "
                "benchmark run needs a pinned model, such as provider/model-name@version",
                failed=True,
                usage=True,
            )
        elif model_id.declared_version is None and not dated and not reply.fingerprint:
            stop.because(
                f"{model_id}: neither the id nor the provider tells a version; write {model_id}@version",
                failed=True,
                usage=True,
            )
