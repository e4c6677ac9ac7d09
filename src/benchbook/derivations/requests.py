"""Renders every request of a plan again, from inputs and frozen templates: while running, and to verify."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.derivations.derivation import derivation_of
from benchbook.derivations.plan import CandidatePlan, Plan, RolePlan, candidate_plan_of
from benchbook.evalsets import Item
from benchbook.providers.calls import Generation
from benchbook.providers.local import bounded
from benchbook.providers.openai_wire import chat_body
from benchbook.records.facts import RunStarted
from benchbook.records.folder import Record
from benchbook.specs import Template, load_spec

__all__ = [
    "PROMPT_NAMES",
    "CandidateRequests",
    "PromptTemplate",
    "Requests",
    "body_of",
    "generation_of",
    "request_sha256",
    "template_of",
]

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


class Requests(CandidateRequests):
    """The bytes of each request that a plan leads to, the judge's too."""

    def __init__(self, plan: Plan, template: PromptTemplate) -> None:
        super().__init__(plan, template)
        spec = load_spec(plan.spec)
        schema = msgspec.json.decode(spec.files["reply.schema.json"])
        self._judges = [(judge, generation_of(judge, schema)) for judge in plan.judges]
        self._judge_template = Template(spec.text("prompt.txt"))

    def judge_prompt(self, item: Item, answer: str) -> str:
        """The evaluator prompt of R2, rendered."""
        values: dict[str, Any] = {"task": item.prompt, "candidate_answer": answer}
        if item.expected_answer is not None:
            values["reference_answer"] = item.expected_answer
        if item.context is not None:
            values["provided_context"] = item.context
        return self._judge_template.render(values)

    def judge(self, item: Item, answer: str, judge: int = 0) -> bytes:
        """What the plan's judge of this number is asked."""
        role, generation = self._judges[judge]
        return body_of(role, self.judge_prompt(item, answer), generation)


def request_sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def generation_of(role: RolePlan, schema: Mapping[str, Any]) -> Generation:
    if not role.json_schema:
        return Generation(role.params)
    asked = {key: value for key, value in schema.items() if key not in ("$schema", "title")}
    return Generation(role.params, bounded(asked) if role.provider == "local" else asked)


def body_of(role: RolePlan, prompt: str, generation: Generation) -> bytes:
    return chat_body(role.name, prompt, generation, stream=role.stream)
