"""The plan: all that decides which requests are sent. It is in the record's first fact, and its hash names it."""

from __future__ import annotations

import hashlib

import msgspec

from benchbook.ask.requests import RolePlan, body_of, generation_of
from benchbook.canonical import ready
from benchbook.evalsets import Item
from benchbook.evalsets.set_parts import PartSaid, SetPart
from benchbook.evaluators.derivation import derivation_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs import Template, load_spec

__all__ = ["PROMPT_NAMES", "CandidatePlan", "CandidateRequests", "PromptTemplate", "candidate_plan_of", "template_of"]


class CandidatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one model is asked, and nobody else: all of an `answer_correctness@v1` plan.

    Samples are numbered `repeat * n_items + item`; that is the order in which they are asked.
    """

    spec: str
    spec_sha256: str
    evalset_sha256: str
    n_items: int
    repeats: int
    prompt_template_id: str  # empty, with its hash, where the outputs were made elsewhere
    prompt_template_sha256: str
    candidate: RolePlan
    benchmark: bool = False
    part: SetPart | msgspec.UnsetType = msgspec.UNSET  # left out, and of no weight in the hash, where all were asked

    @property
    def set_sha256(self) -> str:
        """The hash of what was asked: of the eval set's file, or of the part of it."""
        return self.part.sha256(self.evalset_sha256) if isinstance(self.part, SetPart) else self.evalset_sha256

    @property
    def part_said(self) -> PartSaid | msgspec.UnsetType:
        """The part in words, as manifests have it."""
        return self.part.said if isinstance(self.part, SetPart) else msgspec.UNSET

    @property
    def n_samples(self) -> int:
        return self.n_items * self.repeats


def candidate_plan_of(started: RunStarted) -> CandidatePlan:
    """The plan in a record's first fact, as far as the candidate goes."""
    return msgspec.convert(started.identity["plan"], ready(CandidatePlan))


CANDIDATE_PROMPT = "candidate_prompt@v1"
PROMPT_NAMES = ("prompt", "context", "id", "category")  # what an item's `{{name}}` may be


class PromptTemplate:
    """How an item is put to the candidate: the user's own template, or the frozen `candidate_prompt@v1`.

    Its placeholders are PROMPT_NAMES.
    """

    def __init__(self, template_id: str, text: str | None) -> None:
        self.id = template_id
        if text is None:
            spec = load_spec(CANDIDATE_PROMPT)
            settings = spec.settings
            self.sha256 = spec.sha256
            self._with_context = Template(spec.text(settings["with_context"]))
            self._without_context = Template(spec.text(settings["without_context"]))
        else:
            self.sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
            self._with_context = self._without_context = Template(text)

    def render(self, item: Item) -> str:
        template = self._without_context if item.context is None else self._with_context
        values = {"prompt": item.prompt, "id": item.id, "category": item.category or ""}
        if item.context is not None:
            values["context"] = item.context
        return template.render(values)


def template_of(record: Record, started: RunStarted) -> PromptTemplate:
    """The candidate's prompt template: the user's own, kept among the inputs, or the frozen one."""
    sha256 = started.inputs.get("prompt_template")
    encoding = "utf-8-sig" if derivation_of(started) >= 3 else "utf-8"  # a byte-order mark was once sent with the rest
    text = None if sha256 is None else record.input(sha256).read_text(encoding=encoding)
    return PromptTemplate(candidate_plan_of(started).prompt_template_id, text)


class CandidateRequests:
    """The bytes of each request that a plan leads to, where only the candidate is asked."""

    def __init__(self, plan: CandidatePlan, template: PromptTemplate) -> None:
        self._candidate = plan.candidate
        self._template = template
        self._candidate_generation = generation_of(plan.candidate, {})

    def candidate(self, item: Item) -> bytes:
        return body_of(self._candidate, self._template.render(item), self._candidate_generation)
