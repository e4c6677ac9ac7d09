"""The JSON of Inspect's logs, all its versions: of each thing the fields that are read here, and no others.

What differs from version to version is left open (`Any`) and looked at where it is read. Fields that are not named are
passed over, unread: messages, events and stores make most of a log.
"""

from __future__ import annotations

from typing import Any

import msgspec

NOTHING = msgspec.Raw(b"null")


# ── the header ───────────────────────────────────────────────────────────────────────────────────────────────


class InspectDataset(msgspec.Struct):
    """Of what samples came."""

    name: str | None = None
    location: str | None = None


class InspectConfig(msgspec.Struct):
    """How the eval was run."""

    epochs: int | None = None
    epochs_reducer: list[str] | None = None


class InspectSpec(msgspec.Struct):
    """The eval: task, model, settings."""

    task: str
    model: str
    created: str = ""
    run_id: str = ""
    eval_id: str = ""
    task_id: str = ""
    task_version: Any = None
    task_args: Any = None
    solver: Any = None
    tags: Any = None
    metadata: Any = None
    revision: Any = None
    dataset: InspectDataset | None = None
    config: InspectConfig | None = None
    packages: dict[str, Any] | None = None
    model_generate_config: Any = None
    model_roles: Any = None
    scorers: Any = None  # newer: names, options, and the metrics with their packages
    metrics: Any = None  # those of the task, which take the place of the scorers' own


class InspectPlan(msgspec.Struct):
    """The solvers, and what a model was asked with."""

    steps: list[Any] | None = None
    config: Any = None


class InspectMetric(msgspec.Struct):
    """A number of the results."""

    value: Any = None
    name: str = ""
    group: str | None = None  # the metric that gave several numbers, of which this is one
    params: Any = None
    options: Any = None  # its name of before


class InspectScores(msgspec.Struct):
    """The numbers of one scorer, or of one part of its values."""

    name: str = ""
    scorer: str = ""
    reducer: str | None = None
    scored_samples: int | None = None
    unscored_samples: int | None = None
    params: Any = None
    metrics: dict[str, InspectMetric] | None = None
    metadata: Any = None


class InspectResults(msgspec.Struct):
    """All numbers. `scorer` and `metrics` are the form of version 1."""

    total_samples: int | None = None
    completed_samples: int | None = None
    scores: list[InspectScores] | None = None
    scorer: InspectScores | None = None
    metrics: dict[str, InspectMetric] | None = None


class InspectFault(msgspec.Struct):
    """An error of the eval or of a sample."""

    message: str = ""


class InspectHeader(msgspec.Struct):
    """`header.json`, `_journal/start.json`, or a `.json` log but for its samples."""

    eval: InspectSpec
    version: int = 1
    status: str = "started"
    plan: InspectPlan | None = None
    results: InspectResults | None = None
    error: InspectFault | None = None
    invalidated: bool = False


# ── a sample ─────────────────────────────────────────────────────────────────────────────────────────────────


class InspectScore(msgspec.Struct):
    """One scorer's word on a sample: a value, a list of them, or several by name."""

    value: Any = None
    answer: Any = None
    explanation: Any = None
    reason: Any = None
    metadata: msgspec.Raw = NOTHING
    history: list[msgspec.Raw] | None = None


class InspectMessage(msgspec.Struct):
    """The answer's message."""

    content: msgspec.Raw = NOTHING


class InspectChoice(msgspec.Struct):
    """One answer of those that were asked for."""

    message: InspectMessage | None = None
    stop_reason: str | None = None


class InspectUsage(msgspec.Struct):
    """Tokens, as the provider counted them. What came from a cache, or went into it, is no part of the input's."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_cache_write: int | None = None
    input_tokens_cache_read: int | None = None


class InspectOutput(msgspec.Struct):
    """The last that the model said."""

    model: str = ""
    choices: list[InspectChoice] | None = None
    completion: str | None = None
    usage: InspectUsage | None = None
    time: float | str | None = None  # seconds


class InspectTurn(msgspec.Struct):
    """Whose turn a message of the conversation was. The model's own may be of the sample's input, too."""

    role: str = ""
    source: str | None = None


class InspectSample(msgspec.Struct):
    """A sample without its metadata, which are an audit's only where the results are grouped by them."""

    id: int | str
    epoch: int = 1
    input: Any = ""
    choices: list[Any] | None = None
    target: Any = ""
    output: InspectOutput | None = None
    scores: dict[str, InspectScore | None] | None = None
    score: InspectScore | None = None  # of version 1: of the one scorer
    error: InspectFault | None = None
    limit: Any = None
    invalidation: Any = None
    messages: list[InspectTurn] | None = None
    turn_count: int | None = None
    total_time: float | str | None = None  # seconds
    working_time: float | str | None = None
    model_usage: dict[str, InspectUsage] | None = None
    attachments: msgspec.Raw = NOTHING

    def attach(self, attachments: dict[str, Any]) -> None:
        """Put what stands apart from the sample into it."""
        self.attachments = msgspec.Raw(msgspec.json.encode(attachments))


class InspectSampleWhole(InspectSample):
    """A sample with its metadata."""

    metadata: Any = None
