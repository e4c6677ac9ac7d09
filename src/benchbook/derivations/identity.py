"""Who was asked, and who answered: model versions out of what providers call themselves (SPEC R7.1, R7.2)."""

from __future__ import annotations

from collections import Counter

from benchbook.derivations.model_id import ModelId, is_dated

__all__ = ["Reported", "model_version"]

_MAX_KINDS = 50


class Reported:
    """The names and fingerprints that a model gave itself over a run, counted."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str | None, str | None]] = Counter()

    def add(self, model: str | None, fingerprint: str | None) -> None:
        key = (model, fingerprint)
        if key in self.counts or len(self.counts) < _MAX_KINDS:
            self.counts[key] += 1

    @property
    def changed(self) -> bool:
        """Whether the model changed under way: a snapshot or fingerprint that was told, and then another."""
        return len({model for model, _ in self.counts if model}) > 1 or len({one for _, one in self.counts if one}) > 1

    def most_common(self) -> tuple[str | None, str | None]:
        return min(self.counts, key=lambda key: (-self.counts[key], str(key))) if self.counts else (None, None)


def model_version(model_id: ModelId, reported: Reported) -> str | None:
    """The exact version: a dated snapshot that the provider names, else the declared one, else the fingerprint.

    None where nobody tells; such a run lacks required metadata.
    """
    name, fingerprint = reported.most_common()
    if name is not None and is_dated(name):
        return name
    return model_id.declared_version or fingerprint
