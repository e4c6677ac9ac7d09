"""What is said of who was asked and who answered (SPEC R7.2), from derivation 3 on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchbook.derivations.identity import Reported, floating_of, is_same_model, other_model
from benchbook.derivations.model_id import ModelId, names_snapshot

__all__ = ["Role", "identity_caps", "identity_warnings", "self_judging"]

# What texts call it, its id, and what it said that it is.
Role = tuple[str, ModelId, Reported]


def identity_warnings(identity: Mapping[str, Any], roles: Iterable[Role]) -> list[str]:
    """`identity` is that of the record's first fact."""
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
    """What a benchmark's decision can't be READY with."""
    return [
        f"the {name}'s {other}"
        for name, model_id, reported in roles
        if (other := other_model(model_id, reported)) is not None
    ]


def self_judging(model: Role, judges: Iterable[Role]) -> list[str]:
    """Which judges are the model that they judge."""
    return [
        f"The {name} is the model itself: models tend to favour their own answers."
        for name, model_id, reported in judges
        if is_same_model(model[1:], (model_id, reported))
    ]
