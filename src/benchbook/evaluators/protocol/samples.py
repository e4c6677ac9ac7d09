"""Which sample of a plan is which judge's reply about which text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from benchbook.errors import InputError, RecordError
from benchbook.evalsets.output_sets import Output, OutputSet, read_outputs
from benchbook.evalsets.table_columns import id_at, is_missing, text_at
from benchbook.evalsets.tables import TableForm, read_table
from benchbook.evaluators.protocol.evaluation_rows import Asked, CellId, JudgedText, asked_about
from benchbook.evaluators.protocol.findings import SameModel
from benchbook.evaluators.protocol.folders import protocol_of
from benchbook.evaluators.protocol.identity import EvaluationSet
from benchbook.evaluators.protocol.imported import ImportedJudgement, read_judgements
from benchbook.evaluators.protocol.plan import ProtocolPlan
from benchbook.evaluators.protocol.probes import Probe, probes_for
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record

__all__ = [
    "PlacedProbe",
    "ProtocolSample",
    "ProtocolSamples",
    "TaskPrompts",
    "open_samples",
    "outputs_of",
    "place_probes",
    "read_task_prompts",
]


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
        """What the judge saw."""
        return self.text(sample.output) if sample.probe is None else JudgedText(sample.probe.text)

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
    output_set = read_outputs(record.input(started.inputs["evaluation_set"]), record.input)
    prompts = started.inputs.get("prompts")
    read = read_task_prompts(record.input(prompts), started.identity["prompts_form"]) if prompts else None
    judgements = started.inputs.get("judgements")
    made_elsewhere = tuple(read_judgements(record.input(judgements))) if judgements else ()
    return ProtocolSamples(plan, protocol_of(record, started), output_set, read, made_elsewhere)
