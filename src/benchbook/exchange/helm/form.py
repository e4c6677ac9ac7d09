"""The form of a HELM run: what is read of its five files, and how its statistics are named.

`run_spec.json` says what was run, `scenario.json` on what. `scenario_state.json` has a request of each instance and
training trial, in one array; `per_instance_stats.json` has its statistics, once for each metric; `stats.json` what they
come to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from benchbook.canonical import canonical_json

RUN_SPEC, SCENARIO, STATE = "run_spec.json", "scenario.json", "scenario_state.json"
PER_INSTANCE, STATS = "per_instance_stats.json", "stats.json"
ORIGINAL, PERTURBED, WORST = "original", "perturbed", "worst"

# Names that say of whom a perturbation's number is, and not how a text was perturbed.
_OF_WHOM = {"name", "robustness", "fairness", "computed_on"}

Trial = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
HelmNumber = float | str | None  # NaN and Infinity are texts


class HelmSpec(msgspec.Struct):
    """The adapter: how instances became requests. Only what is read here has a type."""

    method: str = ""
    model: str | None = None
    model_deployment: str | None = None
    num_train_trials: Trial = 1
    max_train_instances: int | None = None
    num_outputs: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop_sequences: list[str] | None = None
    instructions: str | None = None
    global_prefix: str | None = None
    random: str | None = None


class ScenarioSpec(msgspec.Struct):
    """The scenario, by its class."""

    class_name: str = ""
    args: dict[str, Any] = {}


class HelmRunSpec(msgspec.Struct):
    """`run_spec.json`."""

    name: str
    adapter_spec: HelmSpec
    scenario_spec: ScenarioSpec = msgspec.field(default_factory=ScenarioSpec)
    groups: list[str] = []


class HelmScenario(msgspec.Struct):
    """`scenario.json`."""

    name: str | None = None
    description: str | None = None


class HelmText(msgspec.Struct, gc=False):
    """A text of an instance or a reference, and what stands beside it."""

    text: str = ""
    messages: list[dict[str, Any]] | None = None
    multimedia_content: dict[str, Any] | None = None


class HelmReference(msgspec.Struct, gc=False):
    """A possible output: right where it has the tag `correct`."""

    output: HelmText
    tags: list[str] = []


class HelmInstance(msgspec.Struct):
    """An item of the scenario, or one perturbed copy of it."""

    input: HelmText
    id: str | None = None
    references: list[HelmReference] = []
    split: str | None = None
    sub_split: str | None = None
    perturbation: dict[str, Any] | None = None
    extra_data: dict[str, Any] | None = None


class HelmRequest(msgspec.Struct):
    """The text, or the conversation, that was sent."""

    prompt: str = ""
    messages: list[dict[str, Any]] | None = None


class HelmCompletion(msgspec.Struct):
    """One output."""

    text: str = ""
    logprob: HelmNumber = None
    finish_reason: dict[str, Any] | None = None
    thinking: dict[str, Any] | None = None


class HelmResult(msgspec.Struct):
    """The answer. HELM goes on after some errors, as if the output had been empty."""

    success: bool = True
    completions: list[HelmCompletion] = []
    error: str | None = None
    request_time: float | None = None
    request_datetime: int | None = None
    cached: bool = False


class HelmState(msgspec.Struct):
    """One request: of an instance, or of one of its references."""

    instance: HelmInstance
    train_trial_index: Trial = 0
    reference_index: int | None = None
    request_mode: str | None = None
    output_mapping: dict[str, str] | None = None
    request: HelmRequest = msgspec.field(default_factory=HelmRequest)
    result: HelmResult | None = None
    annotations: dict[str, Any] | None = None


class StatName(msgspec.Struct, gc=False):
    """A statistic's name: the metric's, and of which samples it is."""

    name: str
    split: str | None = None
    sub_split: str | None = None
    perturbation: dict[str, Any] | None = None


class HelmStat(msgspec.Struct, gc=False):
    """A statistic. HELM's variance is that of a whole population: sum_squared / count - mean²."""

    name: StatName
    count: int = 0
    sum: HelmNumber = None
    min: HelmNumber = None
    max: HelmNumber = None
    mean: HelmNumber = None
    variance: HelmNumber = None
    stddev: HelmNumber = None


class InstanceStats(msgspec.Struct, gc=False):
    """An element of `per_instance_stats.json`: one metric's statistics of one instance in one trial."""

    instance_id: str
    stats: list[HelmStat]
    train_trial_index: Trial = 0
    perturbation: dict[str, Any] | None = None


def number_in(value: HelmNumber) -> float | None:
    """A number; None where there is none."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def key_of(instance_id: str, perturbation: dict[str, Any] | None, trial: int) -> bytes:
    """The same for a request and for its statistics."""
    return canonical_json([instance_id, perturbation, trial])


def label_of(perturbation: Mapping[str, Any] | None) -> str:
    """A perturbation in words, with its settings: `typos prob=0.1`; empty for an original."""
    if perturbation is None:
        return ""
    settings = sorted(
        (name, value) for name, value in perturbation.items() if name not in _OF_WHOM and value is not None
    )
    return " ".join([str(perturbation.get("name", "")), *(f"{name}={value}" for name, value in settings)])


def context_of(split: str | None, sub_split: str | None, label: str) -> str:
    """Which samples a statistic is of, in words: `test`, `test/toxic`, `test, typos prob=0.1`."""
    part = "/".join(one for one in (split, sub_split) if one) or "all"
    return f"{part}, {label}" if label else part
