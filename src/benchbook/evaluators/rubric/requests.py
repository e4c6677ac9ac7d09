"""Renders every request of a plan again, from inputs and frozen templates: while running, and to verify."""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.ask.requests import body_of, generation_of
from benchbook.evalsets import Item
from benchbook.evaluators.candidate import CandidateRequests
from benchbook.evaluators.prompt_templates import PromptTemplate
from benchbook.evaluators.rubric.plan import Plan
from benchbook.specs import Template, load_spec

__all__ = ["Requests"]


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
