"""The differences between two runs' manifests, leaf by leaf, and in what was measured (SPEC A11, R7.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

import msgspec

Measured = Literal["evalset", "prompt_template", "generation_params", "spec", "judge"]
MEASURED: tuple[Measured, ...] = get_args(Measured)
MEASURED_WORDS: Mapping[Measured, str] = {
    "evalset": "the eval set",
    "prompt_template": "the prompt template",
    "generation_params": "the generation parameters",
    "spec": "the scorer",
    "judge": "the judge",
}

# What makes two scores answers to one question, by the manifest's names.
_FIELDS: Mapping[Measured, tuple[str, ...]] = {
    "evalset": ("dataset_version_or_hash",),
    "prompt_template": ("prompt_template_version_or_hash",),
    "generation_params": ("generation_params_effective",),
    "spec": ("spec", "spec_sha256", "unmeasured", "reasoning_tags"),
    "judge": (
        "evaluator_model_id",
        "evaluator_model_version",
        "evaluator_prompt_template_version_or_hash",
        "evaluator_generation_params_effective",
    ),
}
# Every record has its own of these; that they differ says nothing.
_OWN = frozenset({
    "run_id", "timestamp_utc", "ended_utc", "plan_sha256", "journal_segments", "journal_facts", "journal_sha256",
    "derived", "derived_by", "manifest_sha256",
})  # fmt: skip
_OWN_SETTINGS = frozenset({"config.run_id", "config.runs", "config.reports"})
_NOTHING = object()


class LeafDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One value that differs. `path` is written as in Python: `config.model.stop[0]`.

    `a` and `b` are JSON values; where a run has no such leaf, `in_a` or `in_b` is false, and its value None.
    """

    path: str
    a: Any
    b: Any
    in_a: bool = True
    in_b: bool = True


class MeasuredDifference(msgspec.Struct, frozen=True):
    """A part of what was measured that differs, and in which leaves."""

    name: Measured
    leaves: tuple[LeafDifference, ...]


def metadata_difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[LeafDifference, ...]:
    """Every leaf that differs between two manifests, in the order of paths; what is a record's own is passed over."""
    found = _difference({k: v for k, v in a.items() if k not in _OWN}, {k: v for k, v in b.items() if k not in _OWN})
    return tuple(leaf for leaf in found if leaf.path not in _OWN_SETTINGS)


def measured_differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[MeasuredDifference, ...]:
    """Which parts of what was measured differ. What one run knows and the other does not, differs."""
    found = {name: _difference(_known(a, name), _known(b, name)) for name in MEASURED}
    if found["evalset"]:  # where it is the same, by whatever words its part was asked for, nothing differs
        found["evalset"] += _difference(_part(a), _part(b))
    return tuple(MeasuredDifference(name, leaves) for name, leaves in found.items() if leaves)


def scorer_said(manifest: Mapping[str, Any]) -> str:
    """The name of a run's scorer where runs stand side by side: its spec's id; of an imported log the tool's scorer; of
    a function of a user's own with the beginning of its source's hash, for a version may have been used twice."""
    if (elsewhere := manifest.get("scored_by")) is not None:
        return str(elsewhere)
    spec, scorer = str(manifest.get("spec")), manifest.get("scorer")
    source = scorer.get("source_sha256") if isinstance(scorer, Mapping) else None
    return spec if source is None else f"{spec} (source {str(source)[:12]})"


def scorer_changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> str | None:
    """A sentence about two runs whose scorers call themselves the same, and are not; None of others."""
    spec = a.get("spec")
    if spec != b.get("spec") or a.get("spec_sha256") == b.get("spec_sha256"):
        return None
    pair = [scorer_said(one) for one in (a, b)]
    if "scored_by" in a and "scored_by" in b:
        return f"Other tools scored, or another scorer stands first: {pair[0]}, and {pair[1]}."
    said = "" if pair[0] == pair[1] else f": {pair[0]}, and {pair[1]}"
    return f"Both scorers call themselves {spec}, and are not the same{said}. A changed scorer is a new version."


def unknown_in_both(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Measured, ...]:
    """The parts that neither run knows: nobody can say if they were the same. A run without a judge needs none."""
    return tuple(name for name in MEASURED if name != "judge" and not _known(a, name) and not _known(b, name))


def _part(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Which items of its set a run asked, in words; nothing where it asked all."""
    part = manifest.get("part")
    return {"part": part.get("words")} if isinstance(part, Mapping) else {}


def _known(manifest: Mapping[str, Any], name: Measured) -> dict[str, Any]:
    return {field: manifest[field] for field in _FIELDS[name] if manifest.get(field) not in (None, "", [], {})}


def _difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[LeafDifference, ...]:
    left, right = dict(_leaves(a, "")), dict(_leaves(b, ""))
    changed = (
        path for path in sorted({*left, *right}) if not _same(left.get(path, _NOTHING), right.get(path, _NOTHING))
    )
    return tuple(
        LeafDifference(path=path, a=left.get(path), b=right.get(path), in_a=path in left, in_b=path in right)
        for path in changed
    )


def _same(a: Any, b: Any) -> bool:
    """True for equal values of one type: `1`, `1.0` and `true` are three in JSON's text, as they are in a request."""
    return type(a) is type(b) and bool(a == b)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each leaf with its path. Empty objects and lists are leaves, too: `{}` is not what is missing."""
    if isinstance(value, Mapping) and (value or not path):
        for key, inner in value.items():
            yield from _leaves(inner, _joined(path, str(key)))
    elif isinstance(value, list | tuple) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, list(value) if isinstance(value, tuple) else value


def _joined(path: str, key: str) -> str:
    if not key.isidentifier():
        return f"{path}[{key!r}]"
    return f"{path}.{key}" if path else key
