"""What a file's name and the caller say about judgements: the judge, the method, the output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import ConfigError, InputError
from benchbook.evalsets.output_set_sources import identifiers
from benchbook.specs import load_spec

__all__ = ["check_declared", "known_methods", "need", "reply_placeholders"]


def known_methods() -> tuple[str, ...]:
    return tuple(load_spec("judge_protocol@v1").settings["reply"]["methods"])


def reply_placeholders() -> tuple[str, ...]:
    """The placeholders of a pattern for replies and bundles."""
    return ("judge_model", "method", *identifiers())


def check_declared(values: Mapping[str, str]) -> None:
    """What a caller declares for all judgements. Raises: ConfigError."""
    for name, value in values.items():
        if name not in reply_placeholders():
            raise ConfigError(f"value {name}", name, ", ".join(reply_placeholders()))
        if not value.strip():
            raise ConfigError(f"value {name}", "an empty value", "a text")
    if values.get("method", "cross_judge") not in known_methods():
        raise ConfigError("value method", repr(values["method"]), " or ".join(known_methods()))


def need(known: Mapping[str, str | None], path: str | Path, line: int | None = None) -> tuple[str, str]:
    """`(judge_model, method)`. Raises: InputError where nothing says who judged, or how."""
    judge, method = known.get("judge_model"), known.get("method")
    if not judge:
        raise InputError(path, line=line, field="judge_model", found="nothing that says who judged", expected="a model")
    if method not in known_methods():
        found = repr(method) if method else "nothing"
        raise InputError(path, line=line, field="method", found=found, expected=" or ".join(known_methods()))
    return judge, method
