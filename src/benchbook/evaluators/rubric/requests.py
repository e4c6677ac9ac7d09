"""Renders every request of a plan again, from inputs and templates: while running, and to verify."""

from __future__ import annotations

import re
from collections.abc import Callable

from benchbook.ask.requests import body_of, generation_of
from benchbook.evalsets import Item
from benchbook.evaluators.candidate import CandidateRequests
from benchbook.evaluators.prompt_templates import PromptTemplate
from benchbook.evaluators.rubric.plan import Plan
from benchbook.evaluators.rubric.spec import RubricSpec, reply_schema
from benchbook.specs import as_text

__all__ = ["PLACEHOLDER", "JudgePrompt", "Requests", "item_fields"]


PLACEHOLDER = re.compile(r"\{\{(answer|item\.(?:" + "|".join(Item.__struct_fields__) + r"))\}\}")


class JudgePrompt:
    """What a judge is asked: a rubric's message, split once, so that a value's own braces are never read (R2.2)."""

    def __init__(self, spec: RubricSpec) -> None:
        (message,) = spec.messages
        pieces = PLACEHOLDER.split(message.text)
        self._literals = pieces[0::2]
        self._values: list[Callable[[Item, str], str]] = [_value(name) for name in pieces[1::2]]

    def render(self, item: Item, answer: str) -> str:
        """The text with each placeholder replaced; what an item lacks becomes the empty string."""
        pieces = [self._literals[0]]
        for value, literal in zip(self._values, self._literals[1:], strict=True):
            pieces.append(value(item, answer))
            pieces.append(literal)
        return "".join(pieces)


def item_fields() -> tuple[str, ...]:
    """What `{{item.NAME}}` may name."""
    return Item.__struct_fields__


def _value(name: str) -> Callable[[Item, str], str]:
    if name == "answer":
        return lambda _, answer: answer
    field = name.removeprefix("item.")

    def of_item(item: Item, _: str) -> str:
        value = getattr(item, field)
        return "" if value is None else as_text(value)

    return of_item


class Requests(CandidateRequests):
    """The bytes of each request that a plan leads to, the judge's too."""

    def __init__(self, plan: Plan, spec: RubricSpec, template: PromptTemplate) -> None:
        super().__init__(plan, template)
        schema = reply_schema(spec)
        self._judges = [(judge, generation_of(judge, schema)) for judge in plan.judges]
        self._judge_prompt = JudgePrompt(spec)

    def judge_prompt(self, item: Item, answer: str) -> str:
        """The evaluator prompt of R2, rendered."""
        return self._judge_prompt.render(item, answer)

    def judge(self, item: Item, answer: str, judge: int = 0) -> bytes:
        """What the plan's judge of this number is asked."""
        role, generation = self._judges[judge]
        return body_of(role, self.judge_prompt(item, answer), generation)
