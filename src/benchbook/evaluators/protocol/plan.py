"""The plan of a record under a protocol: who judges what, by which rules, and which judge's reply about which output
each sample is (SPEC P1, P3, P4.1, P7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.ask.requests import RolePlan
from benchbook.canonical import ready
from benchbook.errors import InputError, RecordError
from benchbook.evalsets.output_sets import Output, OutputSet, read_outputs
from benchbook.evalsets.table_columns import id_at, is_missing, text_at
from benchbook.evalsets.tables import TableForm, read_table
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.experiments import SeenOutput
from benchbook.evaluators.protocol.evaluation_rows import Asked, CellId, JudgedText, asked_about
from benchbook.evaluators.protocol.findings import Edition, SameModel
from benchbook.evaluators.protocol.folders import protocol_of
from benchbook.evaluators.protocol.imported import ImportedJudgement, read_judgements
from benchbook.evaluators.protocol.probes import Probe, probes_for
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.protocol.validity import EvaluationSet, EvidenceRule, Options
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record, input_changed

JUDGE_PROMPT = (
    "judge_prompt/"  # before its hash: an input of a record, a prompt by which judgements were made elsewhere
)


class Declared(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody's word on what nobody here can know of a judge (P7). A null is what was not said."""

    version: str | None = None
    params: dict[str, Any] | None = None  # decoding parameters
    tools: tuple[str, ...] | None = None  # empty: it had none
    web_access: bool | None = None
    prompt_sha256: str | None = None  # of the judge prompt that was used


class JudgePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One judge. `name` is what it is called in replies, files and tables."""

    name: str
    role: RolePlan
    declared: Declared | msgspec.UnsetType = msgspec.UNSET

    @property
    def said(self) -> Declared:
        return self.declared if isinstance(self.declared, Declared) else Declared()


class ProtocolPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Frozen with the first call: another set, prompt, judge, threshold or evidence rule is another experiment (P3).

    Samples are numbered `(repeat * n_outputs + output) * n_judges + judge`, over the outputs that have a text; then
    come the probes, `probe * n_judges + judge`. Judgements made elsewhere are numbered as they stand in their file.
    """

    spec: str
    spec_sha256: str
    set_sha256: str
    n_outputs: int
    judges: tuple[JudgePlan, ...]
    repeats: int
    evidence: EvidenceRule
    same_model: dict[str, str]  # alias -> model (P1)
    date: str  # YYYY-MM-DD, UTC: it stands in every prompt
    prompts_sha256: str | None = None  # of the file with the targets' prompts
    probed_outputs: int = 0  # of how many outputs probes are made
    n_probes: int = 0
    probes_id: str | None = None
    judgements_sha256: str | None = None  # of the file with judgements that were made elsewhere
    n_judgements: int = 0
    task: Literal["unknown"] | msgspec.UnsetType = msgspec.UNSET  # what the targets were asked is not known (P4.3)

    @property
    def n_regular(self) -> int:
        """Samples that are not probes."""
        if self.judgements_sha256 is not None:
            return self.n_judgements
        return self.n_outputs * len(self.judges) * self.repeats

    @property
    def n_samples(self) -> int:
        return self.n_regular + self.n_probes * len(self.judges)

    def options_of(self, judge: int | None, edition: Edition, protocol: Protocol) -> Options:
        """How a judge's replies are read."""
        tags = () if judge is None else self.judges[judge].role.reasoning_tags
        return Options(self.evidence, tags, SameModel(self.same_model), edition, protocol)


def edition_of(started: RunStarted) -> Edition:
    """The edition of the rules by which a record's replies are read: old records keep theirs."""
    return 2 if derivation_of(started) >= 3 else 1


def protocol_plan_of(started: RunStarted) -> ProtocolPlan:
    """The plan in a record's first fact."""
    return msgspec.convert(started.identity["plan"], ready(ProtocolPlan))


# ── samples ──────────────────────────────────────────────────────────────────────────────────────────────────


class TaskPrompts:
    """Prompts by question and variant. One that was given without a variant holds for all variants of its question."""

    def __init__(self, prompts: Mapping[tuple[str, str | None], str]) -> None:
        self._prompts = prompts

    def of(self, question_id: str, prompt_variant: str) -> str | None:
        """The prompt, or None where there is none."""
        return self._prompts.get((question_id, prompt_variant), self._prompts.get((question_id, None)))


def read_task_prompts(path: str | Path, form: TableForm | None = None) -> TaskPrompts:
    """A table (JSONL, CSV, Parquet) with `question_id`, `prompt` and, where it differs, `prompt_variant`.

    Raises: InputError naming the line and the field; UsageError where the file can't be read.
    """
    prompts: dict[tuple[str, str | None], str] = {}
    for line, row in read_table(path, form):
        question_id = id_at(path, line, "question_id", row.get("question_id"))
        prompt = text_at(path, line, "prompt", row.get("prompt"))
        variant = row.get("prompt_variant")
        key = (question_id, None if is_missing(variant) else id_at(path, line, "prompt_variant", variant))
        if key in prompts:
            raise InputError(path, line=line, field="question_id", found="the prompt again", expected="one each")
        prompts[key] = prompt
    return TaskPrompts(prompts)


_KEPT_TEXTS = 16


@dataclass(frozen=True, slots=True)
class PlacedProbe:
    """A probe in the place of an output; `base` is that output's number."""

    base: int
    probe: Probe


@dataclass(frozen=True, slots=True)
class ProtocolSample:
    """One sample. `output` is its number among those with a text; `judge` None: it judged elsewhere."""

    asked: Asked
    output: int
    judge: int | None
    probe: Probe | None = None
    judgement: ImportedJudgement | None = None


class ProtocolSamples:
    """The samples of a plan, over its evaluation set. Texts are read when they are asked for, and few are kept."""

    def __init__(
        self,
        plan: ProtocolPlan,
        protocol: Protocol,
        output_set: OutputSet,
        prompts: TaskPrompts | None,
        judgements: tuple[ImportedJudgement, ...] = (),
    ) -> None:
        self.plan = plan
        self.protocol = protocol
        self.output_set = output_set
        self.outputs = outputs_of(output_set)
        self._prompts = prompts
        self._judgements = judgements
        self._same_model = SameModel(plan.same_model)
        self._number_of = {output.key: number for number, output in enumerate(self.outputs)}
        self.text = lru_cache(_KEPT_TEXTS)(self._read_text)

    @property
    def n_outputs(self) -> int:
        return len(self.outputs)

    @cached_property
    def cells(self) -> tuple[CellId, ...]:
        """Every cell of the set, those without a text too."""
        return tuple(CellId(*output.key) for output in self.output_set.outputs)

    @cached_property
    def evaluation_set(self) -> EvaluationSet:
        return EvaluationSet((output.cell for output in self.output_set.outputs), self._same_model)

    @cached_property
    def probes(self) -> tuple[PlacedProbe, ...]:
        return place_probes(self.outputs, self.output_set, self.plan.probed_outputs, self.protocol)

    def __getitem__(self, sample: int) -> ProtocolSample:
        plan = self.plan
        if plan.judgements_sha256 is not None:
            return self._judged_elsewhere(sample)
        if sample < plan.n_regular:
            place, judge = divmod(sample, len(plan.judges))
            repeat, output = divmod(place, plan.n_outputs)
            return ProtocolSample(self._asked(output, judge, repeat), output, judge)
        number, judge = divmod(sample - plan.n_regular, len(plan.judges))
        placed = self.probes[number]
        return ProtocolSample(self._asked(placed.base, judge, 0), placed.base, judge, placed.probe)

    def _asked(self, output: int, judge: int, repeat: int) -> Asked:
        cell = CellId(*self.outputs[output].key)
        return asked_about(cell, self.plan.judges[judge].name, self._same_model, repeat)

    def _judged_elsewhere(self, sample: int) -> ProtocolSample:
        judgement = self._judgements[sample]
        if judgement.key is None or judgement.key not in self._number_of:
            raise RecordError(f"judgement {sample + 1} names no output that has a text")
        asked = Asked(CellId(*judgement.key), judgement.judge_model, judgement.method)
        return ProtocolSample(asked, self._number_of[judgement.key], None, judgement=judgement)

    def base_of(self, sample: ProtocolSample) -> int:
        """The number of the sample in which the same judge saw the probed output as it is."""
        return sample.output * len(self.plan.judges) + (sample.judge or 0)

    def task_of(self, sample: ProtocolSample) -> str:
        """The prompt that the target was given; empty where nobody said."""
        cell = sample.asked.cell
        found = self._prompts.of(cell.question_id, cell.prompt_variant) if self._prompts else None
        return found or ""

    def text_of(self, sample: ProtocolSample) -> JudgedText:
        """The text that the judge saw."""
        return self.text(sample.output) if sample.probe is None else JudgedText(sample.probe.text)

    def seen(self, sample: int) -> SeenOutput:
        """The text and the task of a sample."""
        found = self[sample]
        return SeenOutput(self.text_of(found).text, self.task_of(found))

    def _read_text(self, output: int) -> JudgedText:
        return JudgedText(self.output_set.text(self.outputs[output]))


def outputs_of(output_set: OutputSet) -> tuple[Output, ...]:
    """The outputs that can be judged: those with a text."""
    return tuple(output for output in output_set.outputs if output.error is None)


def place_probes(
    outputs: tuple[Output, ...], output_set: OutputSet, n_outputs: int, protocol: Protocol
) -> tuple[PlacedProbe, ...]:
    """The probes of the first `n_outputs` outputs. The text about another question is the next one that has another."""
    return tuple(_placed(outputs, output_set, min(n_outputs, len(outputs)), protocol))


def _placed(
    outputs: tuple[Output, ...], output_set: OutputSet, n_outputs: int, protocol: Protocol
) -> Iterator[PlacedProbe]:
    for number, output in enumerate(outputs[:n_outputs]):
        following = (*outputs[number + 1 :], *outputs[:number])
        other = next((one for one in following if one.question_id != output.question_id), None)
        other_text = output_set.text(other) if other is not None else None
        for probe in probes_for(output_set.text(output), other_text, protocol):
            yield PlacedProbe(number, probe)


def open_samples(record: Record, started: RunStarted, plan: ProtocolPlan) -> ProtocolSamples:
    """The samples of a record, from its inputs. Raises: InputError, RecordError; SpecError."""
    path = record.input(started.inputs["evaluation_set"])
    output_set = read_outputs(path, record.input)
    if output_set.sha256 != path.name:
        raise input_changed(path, output_set.sha256)
    prompts = started.inputs.get("prompts")
    read = read_task_prompts(record.input(prompts), started.identity["prompts_form"]) if prompts else None
    judgements = started.inputs.get("judgements")
    made_elsewhere = tuple(read_judgements(record.input(judgements))) if judgements else ()
    return ProtocolSamples(plan, protocol_of(record, started), output_set, read, made_elsewhere)
