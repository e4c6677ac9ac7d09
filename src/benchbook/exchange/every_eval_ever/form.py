"""The form of Every Eval Ever, schemas 0.1 to 0.3: an aggregate of results, and beside it a row a sample and result.

Only what is read here has a type. 0.1 and 0.2 have single texts where 0.3 has lists of them, and `interactions` where
it has `messages`. What the form has no place for stands in a row's metadata, under one key of our own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.exchange.ours import OURS
from benchbook.text import quoted

SCHEMA = "0.3.0"
N_CLAIMED = "claimed_samples"  # among our own aggregate's details: how many samples the log says it has
STATUS = "status"  # and how it stands
_READ = {(0, 1), (0, 2), (0, 3)}
_VERSION = re.compile(r"(?:instance_level_eval_)?(\d{1,4})\.(\d{1,4})(?:\.\S*)?")

# `error` of a row whose `score` and `is_correct` say nothing: the form requires both.
UNSCORED = "Not scored, and no score of 0: "
NOT_ANSWERED = "No answer, and no fault of the model's that is known: "
SCORED_STILL = "It failed, and was scored all the same: "

Numeric = float | bool | str | None
Counted = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]


class RowInput(msgspec.Struct, gc=False):
    """The question."""

    raw: str
    reference: list[str] | str | None = None
    formatted: str | None = None
    choices: list[str] | None = None


class RowOutput(msgspec.Struct, gc=False):
    """The answers to a single question."""

    raw: list[str] | str | None = None
    reasoning_trace: list[str] | str | None = None


class RowAttribution(msgspec.Struct, gc=False):
    """The answer, as it was taken from the output."""

    extracted_value: str | None = None
    extraction_method: str | None = None
    is_terminal: bool = True


class RowEvaluation(msgspec.Struct, gc=False):
    """The score and the word on correctness: both are required, also where nothing was scored."""

    score: Numeric = None
    is_correct: bool | None = None
    num_turns: int | None = None
    tool_calls_count: int | None = None


class RowUsage(msgspec.Struct, gc=False):
    """Tokens."""

    input_tokens: Counted | None = None
    output_tokens: Counted | None = None


class RowTimes(msgspec.Struct, gc=False):
    """Times, in milliseconds."""

    latency_ms: float | None = None
    generation_time_ms: float | None = None


class OfOurs(msgspec.Struct, gc=False, omit_defaults=True):
    """All that a row of ours has no other place for."""

    repeat: Counted | None = None
    context: str | None = None
    group: str | None = None
    category: str | None = None
    finish_reason: str | None = None
    limit: str | None = None
    model_reported: str | None = None
    input_tokens: Counted | None = None  # where only one of the two is known: the form has both or none
    output_tokens: Counted | None = None
    failure: str | None = None  # its kind
    unscored: str | None = None  # the reason, where `error` has that of the failure
    said: str | None = None
    explanation: str | None = None
    guessed: str | None = None
    parts: tuple[float, ...] | None = None  # instead of a value
    passed: bool | None = None  # `is_correct` is a word of the scorer's; None: it said nothing
    silent: bool = False  # there was no answer at all
    nobody: bool = False  # nobody scored the sample: the row is there for its own sake
    json: list[str] = []  # names in the metadata whose values are the JSON of what they were


class EvalRow(msgspec.Struct, gc=False):
    """A line of the samples file."""

    schema_version: str
    evaluation_id: str
    model_id: str
    evaluation_name: str
    sample_id: str | int
    input: RowInput
    evaluation: RowEvaluation
    evaluation_result_id: str | None = None
    sample_hash: str | None = None
    interaction_type: str = "single_turn"
    output: RowOutput | None = None
    messages: list[dict[str, Any]] | None = None
    interactions: list[dict[str, Any]] | None = None  # before 0.2.2
    answer_attribution: list[RowAttribution] | None = None
    token_usage: RowUsage | None = None
    performance: RowTimes | None = None
    error: str | None = None
    metadata: dict[str, Any] | None = None

    @property
    def references(self) -> list[str]:
        found = self.input.reference
        return [found] if isinstance(found, str) else found or []

    @property
    def outputs(self) -> list[str]:
        found = None if self.output is None else self.output.raw
        return [found] if isinstance(found, str) else found or []

    @property
    def ours(self) -> OfOurs:
        """All that a row that we wrote says beside; of any other row, nothing."""
        found = (self.metadata or {}).get(OURS)
        if not isinstance(found, str):
            return OfOurs()
        try:
            return msgspec.json.decode(found, type=ready(OfOurs))
        except (msgspec.DecodeError, RecursionError):
            return OfOurs()


class SourceData(msgspec.Struct, gc=False):
    """The dataset of a result."""

    dataset_name: str | None = None
    hf_repo: str | None = None
    hf_split: str | None = None
    additional_details: dict[str, Any] = {}


class MetricConfig(msgspec.Struct):
    """The metric of a result."""

    lower_is_better: bool = False
    metric_id: str | None = None
    metric_name: str | None = None
    metric_kind: str | None = None
    metric_unit: str | None = None
    metric_parameters: dict[str, Any] | None = None
    score_type: str | None = None
    level_names: list[str] | None = None
    has_unknown_level: bool | None = None
    min_score: Numeric = None
    max_score: Numeric = None
    llm_scoring: dict[str, Any] | None = None
    additional_details: dict[str, Any] | None = None


class ScoreDetails(msgspec.Struct):
    """The number that is claimed, and how sure it is."""

    score: Numeric = None
    details: dict[str, Any] | None = None
    uncertainty: dict[str, Any] | None = None


class EvalResult(msgspec.Struct):
    """One result: of one metric over one set of samples."""

    evaluation_name: str
    metric_config: MetricConfig
    score_details: ScoreDetails
    evaluation_result_id: str | None = None
    source_data: SourceData | list[Any] | None = None
    evaluation_timestamp: str | None = None
    generation_config: dict[str, Any] | None = None


class SamplesFile(msgspec.Struct):
    """Where the rows are, as the aggregate has it."""

    file_path: str | None = None
    hash_algorithm: str | None = None
    checksum: str | None = None
    total_rows: int | None = None


class EvalAggregate(msgspec.Struct):
    """The aggregate: who was evaluated, by whom, and what came of it."""

    schema_version: str
    evaluation_id: str
    model_info: dict[str, Any]
    evaluation_results: list[EvalResult]
    evaluation_timestamp: str | None = None
    retrieved_timestamp: str | None = None
    source_metadata: dict[str, Any] = {}
    eval_library: dict[str, Any] = {}
    detailed_evaluation_results: SamplesFile | None = None

    @property
    def n_claimed_by_us(self) -> int | None:
        """The number of samples in an aggregate of ours, which is of one record; None in any other."""
        details = self.source_metadata.get("additional_details")
        said = text_or(details, N_CLAIMED) if isinstance(details, dict) else None
        return int(said) if said is not None and said.isascii() and said.isdecimal() and len(said) < 16 else None


def checked_version(version: str, path: str | Path, line: int | None = None) -> str:
    """A schema's version, without its prefix. Raises: InputError for one that is not read here."""
    match = _VERSION.fullmatch(version.strip())
    if match is None or (int(match[1]), int(match[2])) not in _READ:
        raise InputError(
            path,
            line=line,
            field="schema_version",
            found=f"schema {quoted(version, 40)}",
            expected=f"a schema of Every Eval Ever from 0.1 to {SCHEMA}",
        )
    return version.strip().removeprefix("instance_level_eval_")


def number_of(value: Numeric) -> float | None:
    """A number that may be written as a text (`Infinity`, `NaN`, `0.5`); None where it is none."""
    if value is None or isinstance(value, str):
        try:
            return None if value is None else float(value)
        except ValueError:
            return None
    return float(value)


# ── hashes of samples ────────────────────────────────────────────────────────────────────────────────────


def sample_hash(raw: str, references: list[str]) -> str:
    """The hash by which the same sample is known across models, as the schema's guide has it."""
    text = json.dumps({"raw": raw, "reference": references}, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def hashes_of(row: EvalRow) -> Iterator[str]:
    """Each hash that a sample may have: the guide's, and those of converters of the same tool, which made others."""
    raw, references = row.input.raw, row.references
    yield sample_hash(raw, references)
    for text in (raw + "".join(references), raw + "".join(references[:1])):
        yield sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    yield sha256(json.dumps({"raw": raw, "reference": "".join(references)}, sort_keys=True).encode()).hexdigest()


# ── metadata, whose values are texts ─────────────────────────────────────────────────────────────────────


def metadata_of(row: EvalRow) -> dict[str, Any]:
    """A row's metadata, with the values that we wrote as JSON as they were."""
    found = {name: value for name, value in (row.metadata or {}).items() if name != OURS}
    for name in row.ours.json:
        if isinstance(found.get(name), str):
            try:
                found[name] = msgspec.json.decode(found[name])
            except (msgspec.DecodeError, RecursionError):
                continue
    return found


def value_of_text(text: str) -> Any:
    """A value that we wrote as a text: JSON, or the text that it is."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def text_or(details: Mapping[str, Any], name: str) -> str | None:
    """A text among details; None where there is none, or something else."""
    found = details.get(name)
    return found if isinstance(found, str) and found.strip() else None
