"""Renders every request of a plan again, from inputs and frozen templates: while running, and to verify."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.derivations.plan import Plan, RolePlan
from benchbook.evalsets import Item
from benchbook.providers.calls import Generation
from benchbook.providers.local import bounded
from benchbook.providers.openai_wire import chat_body
from benchbook.specs import Template, load_spec

__all__ = ["PromptTemplate", "Requests", "request_sha256"]

CANDIDATE_PROMPT = "candidate_prompt@v1"


class PromptTemplate:
    """How an item is put to the candidate: the user's own template, or the frozen `candidate_prompt@v1`.

    Placeholders: `{{prompt}}`, `{{context}}`, `{{id}}`, `{{category}}`.
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


class Requests:
    """The bytes of each request that a plan leads to."""

    def __init__(self, plan: Plan, template: PromptTemplate) -> None:
        spec = load_spec(plan.spec)
        self._plan = plan
        self._template = template
        self._judge_template = Template(spec.text("prompt.txt"))
        self._candidate_generation = _generation(plan.candidate, {})
        self._judge_generation = _generation(plan.judge, msgspec.json.decode(spec.files["reply.schema.json"]))

    def candidate(self, item: Item) -> bytes:
        return _body(self._plan.candidate, self._template.render(item), self._candidate_generation)

    def judge_prompt(self, item: Item, answer: str) -> str:
        """The evaluator prompt of R2, rendered."""
        values: dict[str, Any] = {"task": item.prompt, "candidate_answer": answer}
        if item.expected_answer is not None:
            values["reference_answer"] = item.expected_answer
        if item.context is not None:
            values["provided_context"] = item.context
        return self._judge_template.render(values)

    def judge(self, item: Item, answer: str) -> bytes:
        return _body(self._plan.judge, self.judge_prompt(item, answer), self._judge_generation)


def request_sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _generation(role: RolePlan, schema: Mapping[str, Any]) -> Generation:
    if not role.json_schema:
        return Generation(role.params)
    asked = {key: value for key, value in schema.items() if key not in ("$schema", "title")}
    return Generation(role.params, bounded(asked) if role.provider == "local" else asked)


def _body(role: RolePlan, prompt: str, generation: Generation) -> bytes:
    return chat_body(role.name, prompt, generation, stream=role.stream)
